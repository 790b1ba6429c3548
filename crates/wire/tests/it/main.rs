//! The room against real processes and linked peers: one binary, a file per behaviour family.
#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod conversation;
mod damage;
mod eras;
mod flood;
mod process;
mod world;
