//! Encodes spans as OTLP in JSON: the body of a POST to `/v1/traces`.

use serde_json::{Map, Value, json};

use crate::finished_span::{AttributeValue, FinishedSpan};
use crate::span_fields::attribute_name;

/// The outcomes of spans that did not fail.
const GOOD_OUTCOMES: [&str; 6] = ["ok", "connected", "renewed", "canceled", "unfinished", "input-required"];

/// `SpanKind` and `StatusCode` of OTLP.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// The attributes of the program that all its spans share.
pub(crate) fn describe_resource(service_name: &str, instance: &str) -> Value {
    let attributes = [
        ("service.name", service_name),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", instance),
        ("telemetry.sdk.name", "mcparley"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
    ];
    json!({ "attributes": attributes.map(|(name, value)| text_attribute(name, value)) })
}

/// The body of a request with these spans.
pub(crate) fn export_request(resource: &Value, spans: &[FinishedSpan]) -> Value {
    let scope = json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") });
    let spans: Vec<Value> = spans.iter().map(encode_span).collect();
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": scope, "spans": spans }] }] })
}

fn encode_span(span: &FinishedSpan) -> Value {
    let mut attributes: Vec<Value> = span.attributes.iter().filter_map(encode_attribute).collect();
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("traceId", json!(span.context.trace.to_string()));
    set("spanId", json!(span.context.span.to_string()));
    if let Some(parent) = span.parent {
        set("parentSpanId", json!(parent.to_string()));
    }
    if let Some(state) = span.context.tracestate() {
        set("traceState", json!(state));
    }
    set("name", json!(span_name(span)));
    set("kind", json!(span_kind(span.name)));
    // 64-bit numbers are text in the JSON form of Protocol Buffers.
    set("startTimeUnixNano", json!(span.started.to_string()));
    set("endTimeUnixNano", json!(span.ended.to_string()));
    if let Some(error) = span.text("outcome").filter(|outcome| !GOOD_OUTCOMES.contains(outcome)) {
        attributes.push(text_attribute("error.type", error));
        set("status", json!({ "code": ERROR, "message": error }));
    }
    set("attributes", Value::Array(attributes));
    Value::Object(fields)
}

/// The name of a span: of requests the method and the tool, as the semantic conventions of MCP have it.
fn span_name(span: &FinishedSpan) -> String {
    match (span.text("method"), span.text("tool")) {
        (Some(method), Some(tool)) => format!("{method} {tool}"),
        (Some(method), None) => method.to_owned(),
        (None, _) => span.name.to_owned(),
    }
}

fn span_kind(name: &str) -> u8 {
    match name {
        "request" => SERVER,
        "upstream_request" | "connect" | "token_refresh" => CLIENT,
        _ => INTERNAL,
    }
}

fn encode_attribute((field, value): &(&'static str, AttributeValue)) -> Option<Value> {
    let name = attribute_name(field)?;
    Some(match value {
        AttributeValue::Text(text) => text_attribute(name, text),
        AttributeValue::Number(number) => {
            json!({ "key": name, "value": { "intValue": number.to_string() } })
        }
    })
}

fn text_attribute(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

#[cfg(test)]
mod tests {
    //! The encoding, compared as a whole.
    use super::*;
    use crate::trace_context::TraceContext;

    // G6
    #[test]
    fn span_is_encoded_with_its_parent_its_state_and_its_error() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = TraceContext::parse(parent, Some("v=1")).unwrap();
        let context = parent.new_child();
        let span = FinishedSpan {
            parent: Some(parent.span),
            name: "request",
            attributes: vec![
                ("method", AttributeValue::Text("tools/call".to_owned())),
                ("tool", AttributeValue::Text("one__echo".to_owned())),
                ("code", AttributeValue::Number(-32603)),
                ("outcome", AttributeValue::Text("error".to_owned())),
            ],
            started: 1_700_000_000_000_000_001,
            ended: 1_700_000_000_000_000_002,
            context,
        };
        let expected = json!({
            "traceId": "0af7651916cd43dd8448eb211c80319c",
            "spanId": span.context.span.to_string(),
            "parentSpanId": "b7ad6b7169203331",
            "traceState": "v=1",
            "name": "tools/call one__echo",
            "kind": 2,
            "startTimeUnixNano": "1700000000000000001",
            "endTimeUnixNano": "1700000000000000002",
            "status": { "code": 2, "message": "error" },
            "attributes": [
                { "key": "mcp.method.name", "value": { "stringValue": "tools/call" } },
                { "key": "gen_ai.tool.name", "value": { "stringValue": "one__echo" } },
                { "key": "rpc.response.status_code", "value": { "intValue": "-32603" } },
                { "key": "mcparley.outcome", "value": { "stringValue": "error" } },
                { "key": "error.type", "value": { "stringValue": "error" } },
            ],
        });
        let resource = describe_resource("s", "i");
        let request = export_request(&resource, &[span]);
        assert_eq!(request["resourceSpans"][0]["scopeSpans"][0]["spans"], json!([expected]));
        let first = &request["resourceSpans"][0]["resource"]["attributes"][0];
        assert_eq!(first, &json!({ "key": "service.name", "value": { "stringValue": "s" } }));
    }
}
