//! Reads files within a size limit and writes them atomically.
//!
//! There is one reader, which is bounded and handles FIFOs, directories and bytes that are not UTF-8, and one
//! writer, which locks, writes a temporary file, syncs and renames. No other code of the product opens a file
//! to write: two well-known command lines lose a third of the entries when twelve of them add at once, and
//! truncating writers leave a torn file in every second crash.

mod access;
mod append;
mod cache;
mod creation;
mod folder;
mod journal;
mod listing;
mod lock;
mod locked_entry;
mod permissions;
mod private;
mod read;
mod remove;
mod replace;
mod update;
mod write_error;

pub use access::is_writable_folder;
pub use append::{append_log_lines, rotated_log_path};
pub use cache::{CachedText, prune_cache_folder, read_cache_file, remove_cache_file, store_cache_file};
pub use creation::Creation;
pub use folder::{PrivateFolder, PrivateFolderError, SweepLimits, sweep_leftover_folders};
pub use journal::JournalFile;
pub use listing::list_dir;
pub use lock::{FileLock, LockFile, acquire_lock};
pub use locked_entry::LOCK_LIMIT;
pub use private::{
    PrivateChange, PrivateText, SymlinkPolicy, check_private_folder, read_private, read_private_bytes,
    update_private,
};
pub use read::{FileReadError, FileText, Ownership, read_bytes, read_text};
pub use remove::{remove_empty_folders, remove_file_if};
pub use update::{FileUpdateError, UpdateOutcome, update_file};
pub use write_error::{FileWriteError, WriteStep};
