//! The ways a message can travel.

mod line;
pub mod memory;
pub mod stdio;
