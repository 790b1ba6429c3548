//! The client without a library of the benchmark, in a package that contains nothing of mcparley.

#[path = "../../src/raw.rs"]
pub mod raw;
