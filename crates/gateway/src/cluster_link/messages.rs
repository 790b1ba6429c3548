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
    Cancel {
        /// The gateway that sends the message.
        from: InstanceId,
        /// The number of the request at its sender.
        number: u64,
    },
    /// The answer of a client to a question of the receiver.
    Answer(ForwardedAnswer),
    /// A browser has come back from a sign-in that the receiver began.
    Redirect(ForwardedRedirect),
    /// A reply of the owner of a request.
    Reply {
        /// The number of the request at its sender.
        number: u64,
        /// The reply.
        reply: OwnerReply,
    },
}

/// A request of a client, handed to its owner.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedRequest {
    /// The gateway that sends the message.
    pub from: InstanceId,
    /// The number of the request at its sender.
    pub number: u64,
    /// The principal of the client.
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    /// The id of the session; `None` in the new era.
    pub session: Option<String>,
    /// The id of the request.
    pub id: Box<RawValue>,
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<Box<RawValue>>,
}

/// A stream that is resumed at another gateway.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedResume {
    /// The gateway that sends the message.
    pub from: InstanceId,
    /// The number of the request at its sender.
    pub number: u64,
    /// The principal of the client.
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    /// The id of the session.
    pub session: String,
    /// The number of the stream.
    pub stream: u64,
    /// The last event that the client has.
    pub after: u64,
}

/// The answer of a client to a question, sent to another gateway than the one that asks.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedAnswer {
    /// The principal of the client.
    pub principal: String,
    /// The view that the client uses; `None` at the main endpoint.
    pub view: Option<String>,
    /// The id of the session.
    pub session: String,
    /// The number of the question.
    pub question: u64,
    /// The answer.
    pub outcome: RequestOutcome,
}

/// The redirect of a browser, handed to the gateway that began its sign-in.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForwardedRedirect {
    /// The gateway that asks.
    pub from: InstanceId,
    /// The number of the request at the gateway that asks.
    pub number: u64,
    /// The query of the address, with the authorization code.
    pub query: String,
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
    /// The page for a browser that has come back from a sign-in.
    Page {
        /// The status code of HTTP.
        status: u16,
        /// The content-security policy.
        policy: String,
        /// The document.
        page: String,
    },
}

/// An event of a stream, with its number.
#[derive(Debug, Serialize, Deserialize)]
pub struct StreamEntry {
    /// The number of the event.
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
    /// The result.
    Result(Box<RawValue>),
    /// The error.
    Error {
        /// The code of the error.
        code: i64,
        /// The text of the error.
        message: String,
        /// The data of the error.
        data: Option<Box<RawValue>>,
    },
}

/// A message to all gateways.
#[derive(Debug, Serialize, Deserialize)]
pub enum ClusterNews {
    /// A session was deleted.
    Deleted {
        /// The id of the session.
        session: String,
    },
    /// Values of a session have changed; one of its lists may have lost the item of a field.
    Changed {
        /// The gateway that sends the message.
        from: InstanceId,
        /// The id of the session.
        session: String,
        /// The field whose item was removed from a list.
        removed: Option<String>,
    },
    /// A notification of a client that concerns the session at every gateway.
    Notice {
        /// The gateway that sends the message.
        from: InstanceId,
        /// The id of the session.
        session: String,
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Box<RawValue>>,
    },
}

impl RequestOutcome {
    /// The outcome for a message.
    #[must_use]
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

    /// The outcome of a message.
    ///
    /// # Errors
    /// The error of the request.
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
#[must_use]
pub fn to_raw_value(raw: &RawJson) -> Option<Box<RawValue>> {
    RawValue::from_string(raw.as_str().to_owned()).ok()
}

/// JSON of a message.
#[must_use]
pub fn to_raw_json(raw: &RawValue) -> RawJson {
    RawJson::from_text(raw.get())
}
