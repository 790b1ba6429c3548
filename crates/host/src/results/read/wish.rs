//! What a call of `ReadResult` asks for. Its arguments have been checked against the schema.

use mcparley_model::limits::{READ_CONTEXT, READ_MATCHES};
use serde_json::Value;

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) handle: String,
    pub(super) unit: Unit,
    /// Where to begin: the first line is 1, the first byte 0.
    pub(super) offset: u64,
    /// How many lines, bytes or matches.
    pub(super) limit: Option<u64>,
    pub(super) grep: Option<String>,
    /// How many lines around a match.
    pub(super) context: usize,
    pub(super) pointer: Option<String>,
    /// How many bytes of text may be given.
    pub(super) most: usize,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Bytes,
}

impl Wish {
    pub(super) fn of(arguments: &Value, most: usize) -> Self {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let unit = if text("unit").as_deref() == Some("bytes") { Unit::Bytes } else { Unit::Lines };
        Self {
            handle: text("handle").unwrap_or_default(),
            unit,
            offset: number("offset").unwrap_or(0).max(u64::from(unit == Unit::Lines)),
            limit: number("limit"),
            grep: text("grep"),
            context: number("context").map_or(0, |lines| lines.min(READ_CONTEXT as u64) as usize),
            pointer: text("pointer"),
            most,
        }
    }

    /// Whether some part is wanted, and not all of it.
    pub(super) fn is_about_parts(&self) -> bool {
        let first = u64::from(self.unit == Unit::Lines);
        self.grep.is_some() || self.limit.is_some() || self.offset > first
    }

    /// How many matches are given.
    pub(super) fn matches(&self) -> usize {
        self.limit.map_or(READ_MATCHES, |limit| limit.clamp(1, READ_MATCHES as u64) as usize)
    }
}
