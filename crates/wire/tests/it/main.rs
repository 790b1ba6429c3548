//! The room against real processes and linked peers: one binary, a file per behaviour family.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

mod conversation;
