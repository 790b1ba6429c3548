//! The daemon in this process, with real server processes and hosts that attach to it over its socket.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests prepare sockets and fail loudly")]

mod attaching;
mod ending;
mod faults;
mod known_lists;
mod questions;
mod sharing;
mod world;
