//! A finished span, as it is exported.

use crate::trace_context::{SpanId, TraceContext};

/// A finished span.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedSpan {
    /// Its place in the trace.
    pub context: TraceContext,
    /// The span that it belongs to, perhaps of another program.
    pub parent: Option<SpanId>,
    /// The name that the code gave it.
    pub name: &'static str,
    /// The attributes by the name of their field.
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// The begin, in nanoseconds since 1970.
    pub started: u64,
    /// The end, in nanoseconds since 1970.
    pub ended: u64,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// Text, bounded.
    Text(String),
    /// A number.
    Number(i64),
}

impl FinishedSpan {
    /// The text of an attribute.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find_map(|(field, value)| match value {
            AttributeValue::Text(text) if *field == name => Some(text.as_str()),
            AttributeValue::Text(_) | AttributeValue::Number(_) => None,
        })
    }
}
