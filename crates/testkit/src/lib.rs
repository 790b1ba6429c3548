//! Liars and mocks for tests: hostile processes today, scripted servers with the first connection.
//!
//! It depends on no other crate of ours and speaks raw bytes, so that it can lie and cannot share our bugs.
//!
//! Start reading at [`Kind`] (what a hostile process does) and [`processes_tagged`] (what is left of it).

mod binary;
mod kind;
mod processes;

pub use binary::{binary, example};
pub use kind::Kind;
pub use processes::processes_tagged;
