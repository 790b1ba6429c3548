//! A JSON value in pieces, so that a large value is forwarded without a copy although its ends change.

use bytes::Bytes;

use mcparley_json::RawJson;

/// A JSON value in three pieces. The body is a slice of the message that the value arrived in; head and tail
/// are new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPieces {
    /// The bytes before the body.
    pub head: Bytes,
    /// The largest part that stays as it came.
    pub body: Bytes,
    /// The bytes after the body.
    pub tail: Bytes,
}

impl JsonPieces {
    /// The length of the value.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.head.len() + self.body.len() + self.tail.len()
    }

    /// The value in one piece; copied only if there are several.
    #[must_use]
    pub fn into_json(self) -> RawJson {
        let Self { head, body, tail } = self;
        if head.is_empty() && tail.is_empty() {
            RawJson::from_bytes(body)
        } else {
            RawJson::from_bytes(Bytes::from([head, body, tail].concat()))
        }
    }
}

impl From<RawJson> for JsonPieces {
    fn from(value: RawJson) -> Self {
        Self { head: Bytes::new(), body: value.to_bytes(), tail: Bytes::new() }
    }
}
