//! Tests of the oracles: every committed seed keeps every rule.

#![expect(
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and name the seed that broke a rule"
)]

mod seeds;
