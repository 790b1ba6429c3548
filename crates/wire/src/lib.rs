//! MCP transports and the JSON-RPC peer: framing, requests and responses, and the handshake of both eras.
//!
//! This crate knows nothing of scopes, permissions or users; [`Failure`] is the only error of a server that
//! leaves it.
//!
//! | responsibility | module |
//! |---|---|
//! | splits a byte stream into lines, bounded | `frame` |
//! | parses messages, leaving their payload untouched | `message`, [`RawJson`] |
//! | finds the call that a malformed message was to answer | `salvage` |
//! | requests and their responses, in both directions | [`peer`] |
//! | messages of the other side, and replies to them | [`Incoming`], [`Notice`], [`Replies`] |
//! | transports: child processes, URLs, linked peers | [`transport`] |
//! | commands that run to their end | [`command`] |
//! | credentials for requests to a server | [`authorizer`] |
//! | negotiates the protocol era | [`handshake`], then [`ProtocolSession`] |

pub mod authorizer;
mod child;
pub mod command;
mod failure;
mod frame;
pub mod handshake;
mod message;
mod params;
pub mod peer;
mod salvage;
mod session;
mod task;
pub mod transport;

pub use failure::{
    ConnectionLoss, Damage, Failure, FailurePhase, HEADER_MISMATCH, INTERNAL, INVALID_PARAMS,
    INVALID_REQUEST, METHOD_NOT_FOUND, Obstacle, PARSE_ERROR, RpcError, ServerExit, URL_REQUIRED,
};
pub use mcparley_model::json::RawJson;
pub use message::Id;
pub use params::RequestParams;
pub use peer::incoming::{Cause, Incoming, Notice, RequestId};
pub use peer::replies::{AskError, Delivery, Replies};
pub use session::{
    AgreedProtocol, InputRequest, ListenSubscription, ProtocolSession, ProtocolVersion, RequiredInput,
    RoundOutcome, ServerDescription, SubscriptionFilter,
};
