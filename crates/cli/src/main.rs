//! The `mcparley` program.
fn main() {}
