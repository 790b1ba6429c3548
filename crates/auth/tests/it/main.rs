//! What several processes, and the system itself, do to us.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests prepare files, start programs, report their figures, and fail loudly"
)]

mod vault;
