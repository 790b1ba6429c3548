//! Files and processes under faults, against the real system.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests prepare files, start programs, report their figures, and fail loudly"
)]

mod append;
mod detached;
mod directory;
mod folder;
mod full_disk;
mod guardian;
mod house;
mod journal;
mod kept;
mod killed_host;
mod lock;
mod private;
mod private_update;
mod read;
mod refused;
mod running;
mod shut_down;
mod socket;
mod spawn;
mod support;
mod update;
mod writers;
