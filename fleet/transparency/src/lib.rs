//! Compares a server with the same server behind a gateway: every definition, result and error, token by token.
//!
//! A [`Recording`] holds the messages of a server to one script of requests. [`Comparison::new`] compares two
//! recordings of the server itself with one through the gateway: a token in which the first two differ, such
//! as a time of day, is different in every run and is not compared. `allowed` lists the differences that a
//! gateway may make. [`GatewayProcess`] is mcparley in transparent mode.
//!
//! `cargo xtask transparency` compares any server; the tests of `mcparley serve` compare those of the fleet.

#![expect(
    clippy::disallowed_methods,
    reason = "the comparison starts the programs that it compares, with a configuration of their own"
)]

mod allowed;
mod client;
mod comparison;
mod gateway;
mod plain_client;
mod recording;
mod sample;
mod server;
mod tree;
mod wire;

pub use client::ProtocolEra;
pub use comparison::{ComparedItem, Comparison};
pub use gateway::{GatewayDoor, GatewayProcess};
pub use plain_client::PlainClient;
pub use recording::{Recording, RecordingOptions};
pub use server::{ServerEndpoint, ServerProgram};
