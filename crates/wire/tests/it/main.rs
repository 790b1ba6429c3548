//! The crate against real processes and linked peers: one binary, a file per behavior family.
#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod authorizers;
mod cause;
mod commands;
mod conversation;
mod damage;
mod eras;
mod flood;
mod flood_limits;
mod http_again;
mod http_calls;
mod http_connect;
mod http_faults;
mod http_gone;
mod http_limits;
mod http_params;
mod http_proxy;
mod http_sessions;
mod http_silence;
mod http_streams;
mod http_tls;
mod http_world;
mod late;
mod listening;
mod names;
mod namespace;
mod process;
mod sse;
mod world;
mod ws;
mod ws_end;
mod ws_faults;
mod ws_network;
