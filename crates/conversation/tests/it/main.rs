//! Conversations with a scripted model, over real HTTP, and servers inside of the test.
#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod canceling;
mod failing;
mod rounds;
mod sampling;
mod stage;
