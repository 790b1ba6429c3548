//! How messages travel: framing, the JSON-RPC peer, transports, and the handshake of both eras.
//!
//! It knows nothing of scopes, permissions or people; [`Failure`] is the only error of a server that leaves it.
//!
//! | what | where |
//! |---|---|
//! | lines out of bytes, bounded | `frame` |
//! | messages out of lines, their payload untouched | `message`, [`RawJson`] |
//! | which call a broken message meant | `salvage` |
//! | requests, answers, the other side's wishes | [`peer`] |
//! | child processes, URLs, linked peers | [`transport`] |
//! | commands that read, answer and end | [`command`] |
//! | who we are to a server | [`authorizer`] |
//! | which era is spoken | [`handshake`], then [`Session`] |

pub mod authorizer;
mod child;
pub mod command;
mod failure;
mod frame;
pub mod handshake;
mod json;
mod message;
mod params;
pub mod peer;
mod salvage;
mod session;
mod task;
pub mod transport;

pub use failure::{
    Damage, Exit, Failure, HEADER_MISMATCH, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Loss,
    METHOD_NOT_FOUND, Obstacle, PARSE_ERROR, Phase, RpcError, URL_REQUIRED,
};
pub use json::RawJson;
pub use message::Id;
pub use params::Params;
pub use session::{About, Answered, Listen, Listening, Session, Spoken, Version, Want, Wanted};
pub use task::run_blocking;
