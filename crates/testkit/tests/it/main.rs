//! Tests of the test doubles themselves; without them, tests that use them would prove nothing.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests start programs directly and fail loudly"
)]

mod auth_faults;
mod auth_flow;
mod auth_server;
mod fault;
mod foreign;
mod hostile;
mod http_client;
mod http_doors;
mod http_scripts;
mod http_truth;
mod provider;
mod provider_flow;
mod socket;
mod stdio_beside;
mod stdio_client;
mod stdio_damage;
mod stdio_greeting;
mod stdio_life;
mod stdio_offers;
mod stdio_scripts;
mod stdio_truth;
mod stdio_wants;
mod terminal;
mod upstream;
