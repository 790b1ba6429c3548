//! Conversations with a scripted model, over real HTTP, and servers inside of the test.

mod canceling;
mod failing;
mod rounds;
mod sampling;
mod stage;
