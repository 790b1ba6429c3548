//! Reads and writes the files people care about.
//!
//! There is one reader, bounded and unafraid of pipes, directories and foreign bytes, and one writer,
//! which locks, writes beside, syncs and renames. Nothing else in the product opens a file to write:
//! two well-known command lines lose a third of the entries when twelve of them add at once, and
//! truncating writers leave a torn file in every second crash.

mod access;
mod append;
mod cache;
mod creation;
mod folder;
mod journal;
mod listing;
mod lock;
mod marks;
mod place;
mod private;
mod read;
mod replace;
mod update;
mod write_error;

pub use access::is_writable_folder;
pub use append::{append, aside};
pub use cache::{Stored, discard, prune, recall, store};
pub use creation::Creation;
pub use folder::{Allowance, Folder, FolderError, sweep};
pub use journal::Journal;
pub use listing::list_dir;
pub use lock::{Lock, LockFile, lock};
pub use place::LOCK_LIMIT;
pub use private::{
    Change, Links, Private, check_private_folder, read_private, read_private_bytes, update_private,
};
pub use read::{Ownership, ReadError, Text, read, read_bytes};
pub use update::{UpdateError, Updated, update};
pub use write_error::{Step, WriteError};
