//! Signing in at the command line: `login`, `logout`, `auth`, and what other commands say meanwhile.

mod client;
mod fleet;
mod given_tokens;
mod hands;
mod idp;
mod life;
pub(crate) mod person;
mod scripts;
mod token_origins;
mod trouble;
mod unseen;
