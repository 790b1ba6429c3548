//! One tool in the form of `tools/list`.
//!
//! Clients parse a list as a whole: one invalid entry costs them all others. So a schema that the protocol
//! does not allow is normalized here. The output schema of a tool is left out, because results may be stored
//! or sanitized on the way, and clients reject a result that does not match.

use mcparley::catalog::CatalogEntry;
use mcparley::model::tool::{Audience, ToolHints};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A tool as it is serialized.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool<'e> {
    name: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'e str>,
    description: &'e str,
    input_schema: &'e RawValue,
    annotations: ListedAnnotations,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

/// The annotations of a tool, as they are serialized.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedAnnotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// The entry as JSON; `None` if it cannot be serialized.
pub(crate) fn to_json(entry: &CatalogEntry) -> Option<Box<RawValue>> {
    let fitted = fit_schema(&entry.tool.input_schema);
    let ToolHints { read_only, destructive, idempotent, open_world } = entry.tool.hints;
    let listed = ListedTool {
        name: entry.name.as_str(),
        title: entry.tool.title.as_deref(),
        description: &entry.tool.description,
        input_schema: fitted.as_deref().unwrap_or(&entry.tool.input_schema),
        annotations: ListedAnnotations {
            read_only_hint: read_only,
            destructive_hint: destructive,
            idempotent_hint: idempotent,
            open_world_hint: open_world,
        },
        // Without this the client would show the tool to its model. The page of the tool (`resourceUri`) is
        // left out: it is a resource, and the gateway forwards none; a client without it shows the text of
        // the result instead.
        meta: (entry.tool.audience == Audience::Apps).then(|| json!({ "ui": { "visibility": ["app"] } })),
    };
    serde_json::value::to_raw_value(&listed).ok()
}

/// Normalizes a schema for the protocol; `None` if it is valid already.
fn fit_schema(schema: &RawValue) -> Option<Box<RawValue>> {
    let mut members: Map<String, Value> = serde_json::from_str(schema.get()).ok()?;
    let is_object = members.get("type").is_some_and(|kind| kind == "object");
    let properties = members.get("properties");
    let is_flat =
        properties.is_none_or(|it| it.as_object().is_some_and(|it| it.values().all(Value::is_object)));
    if is_object && is_flat {
        return None;
    }
    members.insert("type".to_owned(), json!("object"));
    match members.get_mut("properties").map(Value::as_object_mut) {
        Some(Some(properties)) => properties.values_mut().for_each(fit_property),
        Some(None) => drop(members.shift_remove("properties")),
        None => {}
    }
    serde_json::value::to_raw_value(&members).ok()
}

/// Normalizes a property schema: `true` and `false` are schemas too, but the protocol allows only objects.
fn fit_property(schema: &mut Value) {
    match schema {
        Value::Object(_) => {}
        Value::Bool(false) => *schema = json!({ "not": {} }),
        Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            *schema = json!({});
        }
    }
}

#[cfg(test)]
mod tests {
    //! The schemas that are normalized.
    use super::*;

    // G1
    #[test]
    fn schema_is_normalized_only_where_the_protocol_forbids_it() {
        let cases = [
            (r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, None),
            (r#"{"type":"object"}"#, None),
            (r#"{}"#, Some(r#"{"type":"object"}"#)),
            (r#"{"type":["object","null"],"x":1.0}"#, Some(r#"{"type":"object","x":1.0}"#)),
            (
                r#"{"type":"object","properties":{"a":true,"b":false,"c":{}}}"#,
                Some(r#"{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{}}}"#),
            ),
            (r#"{"type":"object","properties":[]}"#, Some(r#"{"type":"object"}"#)),
        ];
        for (schema, expected) in cases {
            let raw = RawValue::from_string(schema.to_owned()).ok();
            let fitted = raw.and_then(|raw| fit_schema(&raw));
            assert_eq!(fitted.as_deref().map(RawValue::get), expected, "{schema}");
        }
    }
}
