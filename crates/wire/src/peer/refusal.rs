//! What a server tells of messages it cannot answer.
//!
//! A client that is told nothing waits for ever. What was read of an id is given back; where none could be read there is
//! none in the answer, as the protocol's schema has it.

use bytes::Bytes;
use mcparley_model::limits::MESSAGE_BYTES;

use crate::failure::{Damage, INVALID_REQUEST, PARSE_ERROR, RpcError};
use crate::json::RawJson;
use crate::message::{self, Id, Message};

/// An answer to what is no request.
#[derive(Debug)]
pub(super) struct Refusal {
    id: Option<Id>,
    error: RpcError,
}

impl Refusal {
    /// For a message that is larger than we take.
    pub(super) fn too_large(id: Option<Id>) -> Self {
        let reason = format!("a message is larger than {MESSAGE_BYTES} bytes");
        Self { id, error: RpcError::new(INVALID_REQUEST, &reason) }
    }

    fn invalid(reason: &str) -> Self {
        Self { id: None, error: RpcError::new(INVALID_REQUEST, reason) }
    }

    /// As it is written.
    pub(super) fn message(&self) -> Vec<u8> {
        let id = self.id.as_ref().and_then(|id| match id {
            Id::Number(number) => RawJson::of(number).ok(),
            Id::Text(text) => RawJson::of(text).ok(),
        });
        message::refusal(id.as_ref(), &self.error)
    }
}

/// What has to be told about the messages of one line.
pub(super) fn all<'m>(line: &'m Bytes, messages: &'m [Message]) -> impl Iterator<Item = Refusal> + 'm {
    let empty = messages.is_empty().then(|| Refusal::invalid("a batch without a message"));
    empty.into_iter().chain(messages.iter().filter_map(|message| of(line, message)))
}

/// Whether the protocol takes it for the id of a request.
pub(super) fn is_id(id: &RawJson) -> bool {
    matches!(id.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

fn of(line: &Bytes, message: &Message) -> Option<Refusal> {
    match message {
        Message::Noise => Some(Refusal { id: None, error: RpcError::new(PARSE_ERROR, "it is not JSON") }),
        Message::Damaged { id, damage, form: _ } => {
            let code = match damage {
                Damage::NotJson => PARSE_ERROR,
                Damage::Twice(_) | Damage::Version | Damage::Foreign | Damage::Neither | Damage::Shape => {
                    INVALID_REQUEST
                }
                // Answers to requests of ours: nobody waits for an answer to them.
                Damage::Both | Damage::Error => return None,
            };
            // What may be an answer has an id of ours, and the other side may have one that looks the same.
            let is_request = memchr::memmem::find(line, br#""method""#).is_some();
            let id = id.clone().filter(|_| is_request);
            Some(Refusal { id, error: RpcError::new(code, &damage.to_string()) })
        }
        Message::Request { id, .. } if !is_id(id) => {
            Some(Refusal::invalid("its id is neither text nor a number"))
        }
        Message::Request { .. } | Message::Notification { .. } | Message::Response { .. } => None,
    }
}
