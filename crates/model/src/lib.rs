//! What things are and what is allowed: pure, without I/O, clock, environment or logging.
//!
//! Start reading at [`scope`] (where a value comes from) and [`document`] (how files are read).

pub mod document;
pub mod explain;
pub mod name;
pub mod scope;
