//! The messages between gateways. They are sealed, and the JSON in them stays as it was written.

use mcparley_cluster::InstanceId;
use mcparley_wire::{RawJson, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message to one gateway.
#[derive(Debug, Serialize, Deserialize)]
pub enum ClusterMessage {
    /// A request that the receiver owns.
    Request(ForwardedRequest),
    /// A client wants to read on a stream of the receiver.
    Resume(ForwardedResume),
    /// The client of a forwarded request or a resumed stream is gone.
    Cancel { from: InstanceId, number: u64 },
    /// The answer of a client to a question of the receiver.
    Answer(ForwardedAnswer),
    /// A reply of the owner of a request.
    Reply { number: u64, reply: OwnerReply },
}

/// A request of a client, handed to its owner.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedRequest {
    pub from: InstanceId,
    pub number: u64,
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    /// The id of the session; `None` in the new era.
    pub session: Option<String>,
    pub id: Box<RawValue>,
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

/// A stream that is resumed at another gateway.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedResume {
    pub from: InstanceId,
    pub number: u64,
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    pub session: String,
    pub stream: u64,
    /// The last event that the client has.
    pub after: u64,
}

/// The answer of a client to a question, sent to another gateway than the one that asks.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedAnswer {
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    pub session: String,
    pub question: u64,
    pub outcome: RequestOutcome,
}

/// A reply of the owner of a request.
#[derive(Debug, Serialize, Deserialize)]
pub enum OwnerReply {
    /// The owner has received the request.
    Accepted,
    /// The owner does not know the stream any more.
    Unknown,
    /// A message of the request's stream.
    Message(Box<RawValue>),
    /// An event of a resumed stream.
    Event(StreamEntry),
    /// The answer to the request.
    Answer(RequestOutcome),
    /// The resumed stream has ended.
    End,
}

/// An event of a stream, with its number.
#[derive(Debug, Serialize, Deserialize)]
pub struct StreamEntry {
    pub event: u64,
    /// The message; `None` for the empty first event.
    pub message: Option<Box<RawValue>>,
}

/// An entry of the log of a broken connection.
#[derive(Debug, Serialize, Deserialize)]
pub enum LoggedEntry {
    /// An event.
    Event(StreamEntry),
    /// The stream has ended after the events before.
    End,
}

/// The outcome of a request: its result, or its error.
#[derive(Debug, Serialize, Deserialize)]
pub enum RequestOutcome {
    Result(Box<RawValue>),
    Error { code: i64, message: String, data: Option<Box<RawValue>> },
}

/// A message to all gateways.
#[derive(Debug, Serialize, Deserialize)]
pub enum ClusterNews {
    /// A session was deleted.
    Deleted { session: String },
    /// Values of a session have changed.
    Changed { from: InstanceId, session: String },
    /// A notification of a client that concerns the session at every gateway.
    Notice { from: InstanceId, session: String, method: String, params: Option<Box<RawValue>> },
}

impl RequestOutcome {
    pub fn from_result(outcome: &Result<RawJson, RpcError>) -> Self {
        match outcome {
            Ok(result) => match to_raw_value(result) {
                Some(raw) => Self::Result(raw),
                None => Self::Error {
                    code: mcparley_wire::INTERNAL,
                    message: "the result is not JSON".to_owned(),
                    data: None,
                },
            },
            Err(error) => Self::Error {
                code: error.code,
                message: error.message.clean_text().to_string(),
                data: error.data.as_ref().and_then(to_raw_value),
            },
        }
    }

    pub fn into_result(self) -> Result<RawJson, RpcError> {
        match self {
            Self::Result(raw) => Ok(to_raw_json(&raw)),
            Self::Error { code, message, data } => {
                let error = RpcError::new(code, &message);
                Err(match data {
                    Some(data) => error.with_data(to_raw_json(&data)),
                    None => error,
                })
            }
        }
    }
}

/// JSON for a message.
pub fn to_raw_value(raw: &RawJson) -> Option<Box<RawValue>> {
    RawValue::from_string(raw.as_str().to_owned()).ok()
}

/// JSON of a message.
pub fn to_raw_json(raw: &RawValue) -> RawJson {
    RawJson::from_text(raw.get())
}
