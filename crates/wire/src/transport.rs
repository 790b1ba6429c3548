//! The ways a message can travel.

pub mod http;
mod line;
pub mod memory;
pub mod sse;
pub mod stdio;
