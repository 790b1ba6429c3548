//! One call from end to end; each step has its file.

#[cfg_attr(not(test), expect(dead_code, reason = "the pipeline checks arguments with it"))]
mod check;
mod outcome;
mod shape;

pub use check::Misfit;
pub use outcome::{Block, Body, Outcome};
