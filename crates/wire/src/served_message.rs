//! Messages of a client, for servers whose transport lives outside of this crate.
//!
//! A body is parsed once; the payload of its messages shares the bytes of the body. A response is encoded as
//! three parts, so that a large result is never copied.

use bytes::Bytes;
use mcparley_json::RawJson;

use crate::failure::{INVALID_REQUEST, PARSE_ERROR, RpcError};
use crate::message::{self, Id, RpcMessage};
use crate::peer::refusal;

pub use crate::message::response_parts::ResponseParts;

/// One message of a client.
#[derive(Clone, Debug)]
pub enum ClientMessage {
    /// A request, which expects a response.
    Request {
        /// The JSON-RPC id, byte for byte.
        id: RawJson,
        /// The method.
        method: Box<str>,
        /// The parameters.
        params: Option<RawJson>,
    },
    /// A notification.
    Notification {
        /// The method.
        method: Box<str>,
        /// The parameters.
        params: Option<RawJson>,
    },
    /// The response to a request of ours.
    Response {
        /// The id of our request, if it could be read.
        id: Option<Id>,
        /// The result, or the error.
        outcome: Result<RawJson, RpcError>,
    },
    /// Input that is no valid message.
    Invalid {
        /// The id of the request, if it could be read.
        id: Option<RawJson>,
        /// The reason.
        error: RpcError,
    },
}

/// The body of a POST.
#[derive(Clone, Debug)]
pub enum ClientBody {
    /// One message.
    Single(ClientMessage),
    /// A batch, which only the revision 2025-03-26 has.
    Batch(Vec<ClientMessage>),
}

/// Parses the body of a POST. The payload of the messages shares its bytes.
#[must_use]
pub fn parse_client_body(body: &Bytes) -> ClientBody {
    let start = body.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(body.len());
    let body = body.slice(start..);
    let is_batch = body.first() == Some(&b'[');
    let mut messages = message::parse_messages(&body).into_iter().map(|message| classify(&body, message));
    if is_batch {
        return ClientBody::Batch(messages.collect());
    }
    ClientBody::Single(messages.next().unwrap_or_else(|| invalid(None, PARSE_ERROR, "it is not JSON")))
}

fn classify(body: &Bytes, message: RpcMessage) -> ClientMessage {
    match message {
        RpcMessage::Request { id, .. } if !refusal::is_id(&id) => {
            invalid(None, INVALID_REQUEST, "its id is neither text nor a number")
        }
        RpcMessage::Request { id, method, params } => ClientMessage::Request { id, method, params },
        RpcMessage::Notification { method, params } => ClientMessage::Notification { method, params },
        RpcMessage::Response { id, outcome } => ClientMessage::Response { id, outcome },
        damaged @ (RpcMessage::Damaged { .. } | RpcMessage::Noise) => {
            match refusal::refusal_for(body, &damaged) {
                Some(refused) => ClientMessage::Invalid { id: refused.raw_id(), error: refused.error },
                None => invalid(None, INVALID_REQUEST, "it is not a valid message"),
            }
        }
    }
}

fn invalid(id: Option<RawJson>, code: i64, reason: &str) -> ClientMessage {
    ClientMessage::Invalid { id, error: RpcError::new(code, reason) }
}

/// Encodes an error response; without an id if the request could not be identified.
#[must_use]
pub fn encode_error_message(id: Option<&RawJson>, error: &RpcError) -> Bytes {
    Bytes::from(message::encode_error(id, error))
}

/// Encodes a request of ours.
#[must_use]
pub fn encode_request_message(id: u64, method: &str, params: Option<&RawJson>) -> Bytes {
    Bytes::from(message::encode_request(id, method, params))
}

/// Encodes a notification of ours.
#[must_use]
pub fn encode_notification_message(method: &str, params: Option<&RawJson>) -> Bytes {
    Bytes::from(message::encode_notification(method, params))
}
