//! The fields of spans that may leave the program, and their names in OpenTelemetry.
//!
//! A field that is not in the table is not exported, so a field that is added elsewhere cannot carry an argument
//! or a secret to a collector before it was looked at here.

use std::fmt::Debug;

use mcparley_model::limits::{TRACE_ATTRIBUTE_CHARS, TRACE_STATE_BYTES};
use tracing::field::{Field, Visit};

use crate::finished_span::AttributeValue;
use crate::trace_context::TraceContext;

/// Fields and their names as attributes. Names without `mcparley` are of the semantic conventions.
const ATTRIBUTES: [(&str, &str); 15] = [
    ("attempt", "mcparley.attempt"),
    ("added", "mcparley.reload.added"),
    ("changed", "mcparley.reload.changed"),
    ("code", "rpc.response.status_code"),
    ("era", "mcparley.client.era"),
    ("held_back", "mcparley.reload.held_back"),
    ("issuer", "server.address"),
    ("method", "mcp.method.name"),
    ("outcome", "mcparley.outcome"),
    ("principal", "enduser.id"),
    ("removed", "mcparley.reload.removed"),
    ("server", "mcparley.server"),
    ("tool", "gen_ai.tool.name"),
    ("transport", "mcparley.transport"),
    ("version", "mcp.protocol.version"),
];

/// The fields by which a span is given the context of another program.
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// The name of a field as an attribute.
pub(crate) fn attribute_name(field: &str) -> Option<&'static str> {
    ATTRIBUTES.iter().find(|(name, _)| *name == field).map(|(_, attribute)| *attribute)
}

/// Collects the fields of a span.
#[derive(Debug, Default)]
pub(crate) struct FieldCollector {
    pub(crate) attributes: Vec<(&'static str, AttributeValue)>,
    traceparent: Option<String>,
    tracestate: Option<String>,
}

impl FieldCollector {
    /// The context of the span in another program that this one belongs to.
    pub(crate) fn remote_parent(&self) -> Option<TraceContext> {
        TraceContext::parse(self.traceparent.as_deref()?, self.tracestate.as_deref())
    }

    fn add_attribute(&mut self, field: &Field, value: AttributeValue) {
        if attribute_name(field.name()).is_some() {
            self.attributes.push((field.name(), value));
        }
    }
}

impl Visit for FieldCollector {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add_attribute(field, AttributeValue::Number(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add_attribute(field, AttributeValue::Number(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            TRACEPARENT => self.traceparent = Some(value.chars().take(TRACE_STATE_BYTES).collect()),
            // One that is too long is left out by the parser: half of it would be wrong.
            TRACESTATE => self.tracestate = Some(value.chars().take(TRACE_STATE_BYTES + 1).collect()),
            _ => self.add_attribute(
                field,
                AttributeValue::Text(value.chars().take(TRACE_ATTRIBUTE_CHARS).collect()),
            ),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if attribute_name(field.name()).is_some() {
            self.record_str(field, &format!("{value:?}"));
        }
    }
}
