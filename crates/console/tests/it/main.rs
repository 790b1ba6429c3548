//! The interactive side, driven on a terminal of its own.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests prepare files, start programs, and fail loudly"
)]

mod permission_dialog;
