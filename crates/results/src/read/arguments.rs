//! Arguments of a call of `ReadResult`, which have been validated against its schema.

use mcparley_model::limits::{READ_CONTEXT, READ_MATCHES};
use serde_json::Value;

/// The parsed arguments of `ReadResult`.
#[derive(Clone, Debug)]
pub(super) struct ReadResultArgs {
    pub(super) handle: String,
    pub(super) unit: ReadUnit,
    /// The start: the first line is 1, the first byte 0.
    pub(super) offset: u64,
    /// The maximum number of lines, bytes or matches.
    pub(super) limit: Option<u64>,
    pub(super) grep: Option<String>,
    /// The number of context lines around a match.
    pub(super) context: usize,
    pub(super) pointer: Option<String>,
    /// The maximum length of the answer in bytes.
    pub(super) most: usize,
}

/// The unit of `offset` and `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadUnit {
    Lines,
    Bytes,
}

impl ReadResultArgs {
    pub(super) fn from_arguments(arguments: &Value, most: usize) -> Self {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let unit = if text("unit").as_deref() == Some("bytes") { ReadUnit::Bytes } else { ReadUnit::Lines };
        Self {
            handle: text("handle").unwrap_or_default(),
            unit,
            offset: number("offset").unwrap_or(0).max(u64::from(unit == ReadUnit::Lines)),
            limit: number("limit"),
            grep: text("grep"),
            context: number("context").map_or(0, |lines| lines.min(READ_CONTEXT as u64) as usize),
            pointer: text("pointer"),
            most,
        }
    }

    /// Whether the call requests a part of the text and not all of it.
    pub(super) fn wants_part(&self) -> bool {
        let first = u64::from(self.unit == ReadUnit::Lines);
        self.grep.is_some() || self.limit.is_some() || self.offset > first
    }

    /// The maximum number of matches to return.
    pub(super) fn max_matches(&self) -> usize {
        self.limit.map_or(READ_MATCHES, |limit| limit.clamp(1, READ_MATCHES as u64) as usize)
    }
}
