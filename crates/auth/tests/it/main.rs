//! The crate against real processes and sockets: one binary, a file per behavior family.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests prepare files, start programs, report their figures, and fail loudly"
)]

mod canaries;
mod consents;
mod counter;
mod devices;
mod exchanges;
mod fleet_provider;
mod headers_helpers;
mod registrations;
mod renewal_orders;
mod renewal_race;
mod renewals;
mod revocations;
mod signing;
mod token_origins;
mod token_requests;
mod vault;
mod xaa;
