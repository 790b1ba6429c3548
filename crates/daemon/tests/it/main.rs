//! The daemon in this process, with real server processes and hosts that attach to it over its socket.

mod ending;
mod faults;
mod questions;
mod sharing;
mod world;
