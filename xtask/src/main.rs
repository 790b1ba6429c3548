//! The chores of the workspace: `cargo xtask <chore>`.
fn main() {}
