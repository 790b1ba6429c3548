//! One tool in the form of `tools/list`: the definition as its server sent it, with the client's name.
//!
//! Clients parse a list as a whole: one invalid entry costs them all others. So a schema that the protocol
//! does not allow is normalized here, except in transparent mode.

use std::borrow::Cow;

use mcparley::catalog::CatalogEntry;
use mcparley::model::text::clean_json;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json_edit::{JsonEdit, JsonMembers, json_string};
use crate::mode::GatewayMode;
use crate::view::address::AddressRewriter;

/// A tool as an item of a list; `None` if it cannot be serialized.
pub(super) fn render_tool(
    entry: &CatalogEntry,
    name: &str,
    tag: Option<&str>,
    mode: &GatewayMode,
    is_new: bool,
) -> Option<String> {
    let definition = entry.tool.definition_text();
    let definition = definition.as_str();
    let text = if mode.removes_hidden() { clean_json(definition) } else { Cow::Borrowed(definition) };
    let members = JsonMembers::parse(&text)?;
    let mut rewriter = AddressRewriter::new(&text, tag.unwrap_or_default());
    let mut left_out: Vec<&str> = Vec::new();
    for (member, value) in members.iter() {
        let is_null = value.get() == "null" && !mode.is_transparent();
        match member {
            "name" if members.text(member).as_deref() != Some(name) => {
                rewriter.edit.replace(value, json_string(name));
            }
            "title" | "description" | "annotations" | "icons" | "execution" | "outputSchema" | "_meta"
                if is_null =>
            {
                left_out.push(member);
            }
            // Only the description for models is cut.
            "description" if mode.for_model && is_cut(&members, &entry.tool.description) => {
                rewriter.edit.replace(value, json_string(&entry.tool.description));
            }
            "inputSchema" if !mode.is_transparent() => {
                if let Some(fitted) = fit_schema(value) {
                    rewriter.edit.replace(value, fitted.get().to_owned());
                }
            }
            // Before the new era, structured content is an object.
            "outputSchema" if !is_new && !is_object_schema(value) => left_out.push(member),
            "_meta" if tag.is_some() => rewriter.rewrite_meta(value),
            _ => {}
        }
    }
    if !left_out.is_empty() {
        rewriter.edit.remove_members(&text, &members, |member| left_out.contains(&member));
    }
    Some(rewriter.finish().into_owned())
}

/// A rendered tool with the mark that it can be called as a task (2025-11-25).
pub(super) fn offer_as_task(tool: String) -> String {
    const MARK: &str = r#"{"taskSupport":"optional"}"#;
    let Some(members) = JsonMembers::parse(&tool) else { return tool };
    let mut edit = JsonEdit::new(&tool);
    match members.get("execution") {
        Some(execution) => edit.replace(execution, MARK.to_owned()),
        None => {
            return match tool.strip_suffix('}') {
                Some(open) => format!(r#"{open},"execution":{MARK}}}"#),
                None => tool,
            };
        }
    }
    edit.finish().into_owned()
}

/// Whether the description of a definition differs from the one for models.
fn is_cut(members: &JsonMembers<'_>, description: &str) -> bool {
    members.text("description").is_some_and(|whole| whole != description)
}

fn is_object_schema(schema: &RawValue) -> bool {
    JsonMembers::parse(schema.get()).and_then(|members| members.text("type")).as_deref() == Some("object")
}

/// Whether a schema is valid for the protocol, as far as its own members show; nothing below them is parsed.
fn is_fitting_schema(schema: &RawValue) -> bool {
    let Some(members) = JsonMembers::parse(schema.get()) else { return false };
    let mut is_object = false;
    for (member, value) in members.iter() {
        match member {
            "type" if value.get() == r#""object""# => is_object = true,
            "type" => return false,
            "properties" if !has_object_members(value) => return false,
            _ => {}
        }
    }
    is_object
}

fn has_object_members(value: &RawValue) -> bool {
    JsonMembers::parse(value.get())
        .is_some_and(|members| members.iter().all(|(_, value)| value.get().starts_with('{')))
}

/// Normalizes a schema for the protocol; `None` if it is valid already.
fn fit_schema(schema: &RawValue) -> Option<Box<RawValue>> {
    if is_fitting_schema(schema) {
        return None;
    }
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

    // G10
    #[test]
    fn tool_that_becomes_durable_is_marked_and_keeps_every_other_byte() {
        let cases = [
            (
                r#"{"name":"a","inputSchema":{ }}"#,
                r#"{"name":"a","inputSchema":{ },"execution":{"taskSupport":"optional"}}"#,
            ),
            (
                r#"{"name":"a","execution":{"taskSupport":"forbidden"},"x":1.0}"#,
                r#"{"name":"a","execution":{"taskSupport":"optional"},"x":1.0}"#,
            ),
        ];
        for (tool, expected) in cases {
            assert_eq!(offer_as_task(tool.to_owned()), expected);
        }
    }

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
