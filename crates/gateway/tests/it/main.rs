//! A host behind the gateway, spoken to in raw bytes by clients of every revision.
//!
//! Every message that comes is held against the schema of the client's revision ([`schema`]).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests prepare files, start the gateway beside them, and fail loudly"
)]

mod asking;
mod cancelling;
mod changing;
mod client;
mod crowd;
mod damaged;
mod deferring;
mod hiding;
mod listing;
mod new_era;
mod old_era;
mod roots;
mod schema;
mod world;
