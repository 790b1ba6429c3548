//! The ways a message can travel.

pub mod http;
mod line;
pub mod memory;
mod queue;
pub mod served;
pub mod sse;
pub mod stdio;
pub mod ws;
