//! MCP transports and the JSON-RPC peer: framing, requests and responses, and the handshake of both eras.
//!
//! This crate knows nothing of scopes, permissions or users; [`Failure`] is the only error of a server that
//! leaves it.
//!
//! | responsibility | module |
//! |---|---|
//! | splits a byte stream into lines, bounded | [`frame`] |
//! | parses messages, leaving their payload untouched | `message`, [`RawJson`] |
//! | a result in pieces, to forward it without a copy | [`JsonPieces`] |
//! | finds the call that a malformed message was to answer | [`salvage`] |
//! | requests and their responses, in both directions | [`peer`] |
//! | messages of the other side, and replies to them | [`Incoming`], [`Notice`], [`Replies`] |
//! | transports: child processes, URLs, linked peers | [`transport`] |
//! | messages of a client, for servers with their own transport | [`served_message`] |
//! | commands that run to their end | [`command`] |
//! | credentials for requests to a server | [`authorizer`] |
//! | loop detection between gateways | [`gateway_path`] |
//! | negotiates the protocol era | [`handshake`], then [`ProtocolSession`] |

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "some parts of a connection serve only URLs"))]

pub mod authorizer;
mod child;
pub mod command;
mod failure;
pub mod frame;
pub mod gateway_path;
pub mod handshake;
mod json_pieces;
mod message;
mod params;
pub mod peer;
pub mod salvage;
pub mod served_message;
mod session;
mod task;
pub mod transport;

pub use failure::{
    ConnectionLoss, Damage, Failure, FailurePhase, HEADER_MISMATCH, INTERNAL, INVALID_PARAMS,
    INVALID_REQUEST, METHOD_NOT_FOUND, Obstacle, PARSE_ERROR, RpcError, ServerExit, UNSUPPORTED_VERSION,
    URL_REQUIRED,
};
pub use json_pieces::JsonPieces;
pub use mcparley_json::RawJson;
pub use message::Id;
pub use params::RequestParams;
pub use peer::incoming::{Cause, Incoming, Notice, RequestId};
pub use peer::replies::{AskError, Delivery, Replies, ReplySink};
pub use session::{
    AgreedProtocol, InputRequest, ListenSubscription, ProtocolSession, ProtocolVersion, RequiredInput,
    RoundOutcome, ServerDescription, SubscriptionFilter,
};
