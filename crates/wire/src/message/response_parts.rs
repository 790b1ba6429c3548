//! A message in parts, so that a large result is never copied.

use crate::json_pieces::JsonPieces;
use bytes::Bytes;
use mcparley_json::RawJson;

use super::{encode_error, encode_response_start};
use crate::failure::RpcError;

/// The parts of a response: the bytes before the result, the result as it came, and the bytes after it.
#[derive(Clone, Debug)]
pub struct ResponseParts {
    /// The bytes before the result; for an error the whole message.
    pub head: Bytes,
    /// The bytes of the result.
    pub result: Bytes,
    /// The bytes after the result.
    pub tail: Bytes,
}

impl ResponseParts {
    /// Encodes a response; the bytes of the result are shared.
    #[must_use]
    pub fn new(id: &RawJson, outcome: &Result<RawJson, RpcError>) -> Self {
        match outcome {
            Ok(result) => Self::from_pieces(id, result.clone().into()),
            Err(error) => Self::from_error(id, error),
        }
    }

    /// Encodes a response with a result in pieces; the body of the result is shared.
    #[must_use]
    pub fn from_pieces(id: &RawJson, result: JsonPieces) -> Self {
        let mut head = encode_response_start(id);
        head.extend_from_slice(&result.head);
        let tail = if result.tail.is_empty() {
            Bytes::from_static(b"}")
        } else {
            Bytes::from([&result.tail, &b"}"[..]].concat())
        };
        Self { head: Bytes::from(head), result: result.body, tail }
    }

    /// Encodes an error response.
    #[must_use]
    pub fn from_error(id: &RawJson, error: &RpcError) -> Self {
        Self::from(Bytes::from(encode_error(Some(id), error)))
    }

    /// The length of the message.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.head.len() + self.result.len() + self.tail.len()
    }

    /// The message in one part; copied only if there are several.
    pub(crate) fn into_message(self) -> Bytes {
        if self.result.is_empty() && self.tail.is_empty() {
            self.head
        } else {
            Bytes::from([self.head, self.result, self.tail].concat())
        }
    }
}

impl From<Bytes> for ResponseParts {
    /// A message in one part.
    fn from(message: Bytes) -> Self {
        Self { head: message, result: Bytes::new(), tail: Bytes::new() }
    }
}
