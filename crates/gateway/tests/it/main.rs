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
mod clustered;
mod clustered_misuse;
mod clustered_values;
mod crowd;
mod damaged;
mod deferring;
mod door;
mod door_faults;
mod door_input;
mod door_limits;
mod door_messages;
mod door_streams;
mod exchanging;
mod hiding;
mod http_link;
mod identity;
mod link;
mod listing;
mod matrix;
mod misrouting;
mod modes;
mod new_era;
mod old_era;
mod parking;
mod pending;
mod principals;
mod relaying;
mod roots;
mod routing;
mod tasks;
mod world;
