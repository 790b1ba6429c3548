//! Rewrites elicitation forms for clients of revisions that have fewer kinds of fields.

use std::sync::atomic::{AtomicU64, Ordering};

use mcparley_wire::{INVALID_PARAMS, RpcError};
use serde_json::{Map, Value};

/// An id for a page to visit, which 2025-11-25 requires and servers of the new era do not give.
pub(crate) fn mint_page_id() -> Value {
    static PAGES: AtomicU64 = AtomicU64::new(1);
    format!("page-{}", PAGES.fetch_add(1, Ordering::Relaxed)).into()
}

/// Rewrites the form for a client before 2025-11-25: titled choices become `enum` and `enumNames`, and an
/// optional multi-select is left out.
///
/// # Errors
/// When the form requires a multi-select, which such a client cannot show.
pub(crate) fn fit_form(params: &mut Map<String, Value>) -> Result<(), RpcError> {
    let Some(Value::Object(schema)) = params.get_mut("requestedSchema") else { return Ok(()) };
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let Some(Value::Object(fields)) = schema.get_mut("properties") else { return Ok(()) };
    let is_list = |field: &Value| field.get("type").and_then(Value::as_str) == Some("array");
    if fields.iter().any(|(name, field)| is_list(field) && required.contains(name)) {
        let reason = "this client cannot show a field with several choices";
        return Err(RpcError::new(INVALID_PARAMS, reason));
    }
    fields.retain(|_, field| !is_list(field));
    for field in fields.values_mut().filter_map(Value::as_object_mut) {
        let Some(Value::Array(choices)) = field.shift_remove("oneOf") else { continue };
        let part = |name: &str| -> Vec<Value> {
            choices.iter().filter_map(|choice| choice.get(name).cloned()).collect()
        };
        field.insert("enum".to_owned(), part("const").into());
        field.insert("enumNames".to_owned(), part("title").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Forms for older clients.
    use super::*;
    use serde_json::json;

    fn fit(schema: Value) -> Option<Value> {
        let mut params = Map::from_iter([("requestedSchema".to_owned(), schema)]);
        fit_form(&mut params).ok().map(|()| params["requestedSchema"].clone())
    }

    // G3 X5
    #[test]
    fn titled_choices_become_enum_names_and_multi_selects_are_left_out() {
        let choices = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }]);
        let one = json!({ "type": "string", "oneOf": choices });
        let many = json!({ "type": "array", "items": { "anyOf": choices } });
        let fitted = fit(json!({ "type": "object", "properties": { "one": one, "many": many } })).unwrap();
        let expected = json!({ "one": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] } });
        assert_eq!(fitted["properties"], expected);
        let required = json!({ "type": "object", "properties": { "many": many }, "required": ["many"] });
        assert_eq!(fit(required), None);
    }
}
