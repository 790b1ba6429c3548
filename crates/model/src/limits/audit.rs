//! Limits of the audit log.

use std::time::Duration;

/// The size at which the audit log is rotated.
pub const AUDIT_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// The number of rotated audit logs that are kept.
pub const AUDIT_FILES: usize = 5;

/// The maximum number of records in the audit queue. When the disk is slower than that, records are dropped
/// and the next record reports the loss: no call waits for its record.
pub const AUDIT_QUEUE: usize = 4096;

/// The number of characters recorded of an unknown name.
pub const AUDIT_NAME_CHARS: usize = 128;

/// The pause before records are written, so that those of one moment are written together. A crash loses at
/// most the records of this time.
pub const AUDIT_PAUSE: Duration = Duration::from_millis(20);
