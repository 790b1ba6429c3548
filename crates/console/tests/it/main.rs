//! The interactive side, driven on a terminal of its own.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests prepare files, start programs, and fail loudly"
)]

mod permission_dialog;
