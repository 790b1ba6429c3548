//! Tests of the measurements, short enough for every commit.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start the program as a developer does, and fail loudly"
)]

mod faults;
mod figures;
mod misrouting;
mod retrieval;
mod soak;
