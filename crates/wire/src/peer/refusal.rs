//! Error responses of a server to messages that it cannot answer.
//!
//! A client without a response would wait forever. An id that could be parsed is returned; otherwise the
//! response has none, as the protocol's schema demands.

use bytes::Bytes;
use mcparley_model::limits::MESSAGE_BYTES;

use crate::failure::{Damage, INVALID_REQUEST, PARSE_ERROR, RpcError};
use crate::message::{self, Id, RpcMessage};
use mcparley_json::RawJson;

/// An error response to a message that is no valid request.
#[derive(Debug)]
pub(crate) struct MessageRefusal {
    id: Option<Id>,
    pub(crate) error: RpcError,
}

impl MessageRefusal {
    /// The refusal of an oversized message.
    pub(super) fn too_large(id: Option<Id>) -> Self {
        let reason = format!("a message is larger than {MESSAGE_BYTES} bytes");
        Self { id, error: RpcError::new(INVALID_REQUEST, &reason) }
    }

    fn invalid_request(reason: &str) -> Self {
        Self { id: None, error: RpcError::new(INVALID_REQUEST, reason) }
    }

    /// The id of the refused request as JSON, if it could be read.
    pub(crate) fn raw_id(&self) -> Option<RawJson> {
        self.id.as_ref().and_then(|id| match id {
            Id::Number(number) => RawJson::from_value(number).ok(),
            Id::Text(text) => RawJson::from_value(text).ok(),
        })
    }

    /// Encodes the refusal.
    pub(super) fn to_message(&self) -> Vec<u8> {
        message::encode_error(self.raw_id().as_ref(), &self.error)
    }
}

/// The refusals for the messages of one line.
pub(super) fn refusals_for_line<'m>(
    line: &'m Bytes,
    messages: &'m [RpcMessage],
) -> impl Iterator<Item = MessageRefusal> + 'm {
    let empty = messages.is_empty().then(|| MessageRefusal::invalid_request("the batch is empty"));
    empty.into_iter().chain(messages.iter().filter_map(|message| refusal_for(line, message)))
}

/// Whether the value is a valid request id of the protocol.
pub(crate) fn is_id(id: &RawJson) -> bool {
    matches!(id.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// The refusal of one message; `None` if the message is valid, or no response to it is expected.
pub(crate) fn refusal_for(line: &Bytes, message: &RpcMessage) -> Option<MessageRefusal> {
    match message {
        RpcMessage::Noise => {
            Some(MessageRefusal { id: None, error: RpcError::new(PARSE_ERROR, "it is not JSON") })
        }
        RpcMessage::Damaged { id, damage, form: _ } => {
            let code = match damage {
                Damage::NotJson => PARSE_ERROR,
                Damage::Twice(_) | Damage::Version | Damage::Foreign | Damage::Neither | Damage::Shape => {
                    INVALID_REQUEST
                }
                // Responses to requests of ours: the other side expects no answer to them.
                Damage::Both | Damage::Error => return None,
            };
            // A response carries an id of ours, and the other side may use the same id for a request of its
            // own.
            let is_request = memchr::memmem::find(line, br#""method""#).is_some();
            let id = id.clone().filter(|_| is_request);
            Some(MessageRefusal { id, error: RpcError::new(code, &damage.to_string()) })
        }
        RpcMessage::Request { id, .. } if !is_id(id) => {
            Some(MessageRefusal::invalid_request("its id is neither text nor a number"))
        }
        RpcMessage::Request { .. } | RpcMessage::Notification { .. } | RpcMessage::Response { .. } => None,
    }
}
