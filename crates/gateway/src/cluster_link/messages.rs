//! The messages between gateways. They are sealed, and the JSON in them stays as it was written.

use mcparley_cluster::InstanceId;
use mcparley_wire::{RawJson, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message to one gateway.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ClusterMessage {
    /// A request that the receiver owns.
    Request(ForwardedRequest),
    /// A client wants to read on a stream of the receiver.
    Resume(ForwardedResume),
    /// The client of a forwarded request or a resumed stream is gone.
    Cancel { from: InstanceId, number: u64 },
    /// The answer of a client to a question of the receiver.
    Answer(ForwardedAnswer),
    /// A browser has come back from a sign-in that the receiver began.
    Redirect(ForwardedRedirect),
    /// A reply of the owner of a request.
    Reply { number: u64, reply: OwnerReply },
}

/// A request of a client, handed to its owner.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForwardedRequest {
    pub(crate) from: InstanceId,
    pub(crate) number: u64,
    pub(crate) principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub(crate) view: Option<String>,
    /// The id of the session; `None` in the new era.
    pub(crate) session: Option<String>,
    pub(crate) id: Box<RawValue>,
    pub(crate) method: String,
    pub(crate) params: Option<Box<RawValue>>,
}

/// A stream that is resumed at another gateway.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForwardedResume {
    pub(crate) from: InstanceId,
    pub(crate) number: u64,
    pub(crate) principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub(crate) view: Option<String>,
    pub(crate) session: String,
    pub(crate) stream: u64,
    /// The last event that the client has.
    pub(crate) after: u64,
}

/// The answer of a client to a question, sent to another gateway than the one that asks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForwardedAnswer {
    pub(crate) principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub(crate) view: Option<String>,
    pub(crate) session: String,
    pub(crate) question: u64,
    pub(crate) outcome: RequestOutcome,
}

/// The redirect of a browser, handed to the gateway that began its sign-in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForwardedRedirect {
    pub(crate) from: InstanceId,
    pub(crate) number: u64,
    /// The query of the address, with the authorization code.
    pub(crate) query: String,
}

/// A reply of the owner of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum OwnerReply {
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
    /// The page for a browser that has come back from a sign-in.
    Page { status: u16, policy: String, page: String },
}

/// An event of a stream, with its number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StreamEntry {
    pub(crate) event: u64,
    /// The message; `None` for the empty first event.
    pub(crate) message: Option<Box<RawValue>>,
}

/// An entry of the log of a broken connection.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LoggedEntry {
    /// An event.
    Event(StreamEntry),
    /// The stream has ended after the events before.
    End,
}

/// The outcome of a request: its result, or its error.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RequestOutcome {
    Result(Box<RawValue>),
    Error { code: i64, message: String, data: Option<Box<RawValue>> },
}

/// A message to all gateways.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ClusterNews {
    /// A session was deleted.
    Deleted { session: String },
    /// Values of a session have changed; one of its lists may have lost the item of a field.
    Changed { from: InstanceId, session: String, removed: Option<String> },
    /// A notification of a client that concerns the session at every gateway.
    Notice { from: InstanceId, session: String, method: String, params: Option<Box<RawValue>> },
}

impl RequestOutcome {
    pub(crate) fn from_result(outcome: &Result<RawJson, RpcError>) -> Self {
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

    pub(crate) fn into_result(self) -> Result<RawJson, RpcError> {
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
pub(crate) fn to_raw_value(raw: &RawJson) -> Option<Box<RawValue>> {
    RawValue::from_string(raw.as_str().to_owned()).ok()
}

/// JSON of a message.
pub(crate) fn to_raw_json(raw: &RawValue) -> RawJson {
    RawJson::from_text(raw.get())
}
