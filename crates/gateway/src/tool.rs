//! One tool, as a client's list shows it.
//!
//! Clients read a list as a whole: one entry that is not of the protocol's form costs them all others. What a server may
//! write and the protocol's schema does not take is put into its form here. The schema of a tool's result is left out,
//! because results can be stored or cleaned on the way, and clients refuse one that does not fit.

use mcparley::Entry;
use mcparley::model::tool::{Audience, Hints};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A tool as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'e> {
    name: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'e str>,
    description: &'e str,
    input_schema: &'e RawValue,
    annotations: Annotations,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// The entry as JSON; nothing if it cannot be written.
pub(crate) fn written(entry: &Entry) -> Option<Box<RawValue>> {
    let fitted = fitted(&entry.tool.input_schema);
    let Hints { read_only, destructive, idempotent, open_world } = entry.tool.hints;
    let listed = Listed {
        name: entry.name.as_str(),
        title: entry.tool.title.as_deref(),
        description: &entry.tool.description,
        input_schema: fitted.as_deref().unwrap_or(&entry.tool.input_schema),
        annotations: Annotations {
            read_only_hint: read_only,
            destructive_hint: destructive,
            idempotent_hint: idempotent,
            open_world_hint: open_world,
        },
        // Without it the client would show the tool to its model. The page of the tool (`resourceUri`) is left out: it is a
        // resource, none of which is passed on, and a client that cannot read it shows the text of the result instead.
        meta: (entry.tool.audience == Audience::Apps).then(|| json!({ "ui": { "visibility": ["app"] } })),
    };
    serde_json::value::to_raw_value(&listed).ok()
}

/// The schema in the form that the protocol gives it; nothing if it has it already.
fn fitted(schema: &RawValue) -> Option<Box<RawValue>> {
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

/// `true` and `false` are schemas too, and the protocol's lists take objects alone.
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
    //! Which schemas are put into form.
    use super::*;

    // G1
    #[test]
    fn a_schema_is_changed_only_where_the_protocol_does_not_take_it() {
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
            let fitted = raw.and_then(|raw| fitted(&raw));
            assert_eq!(fitted.as_deref().map(RawValue::get), expected, "{schema}");
        }
    }
}
