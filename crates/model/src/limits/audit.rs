//! Limits of the record of calls (H36).

/// How large the record of calls may grow before it is put aside and begun anew.
pub const AUDIT_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// How many records that were put aside are kept besides.
pub const AUDIT_FILES: usize = 5;

/// How many records may wait to be written. When a disk is slower than that, the next are lost, which the record after
/// them tells: no call waits for its record.
pub const AUDIT_QUEUE: usize = 4096;

/// How many characters of a name that nobody has are recorded.
pub const AUDIT_NAME_CHARS: usize = 128;
