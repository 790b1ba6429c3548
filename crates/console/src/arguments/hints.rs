//! Facts about the arguments of a tool that help to complete them: names, and the values that are allowed.

use mcparley::model::limits::COMPLETION_VALUES;
use serde_json::Value;

use super::schema::ToolSchema;

/// One argument of a tool, as far as completion needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentHint {
    /// The name.
    pub(crate) name: String,
    /// The description in the schema; untrusted.
    pub(crate) description: String,
    /// Whether the tool requires the argument.
    pub(crate) is_required: bool,
    /// Whether the argument may be repeated.
    pub(crate) is_list: bool,
    /// The allowed values, if the schema lists them.
    pub(crate) values: Vec<String>,
}

/// The arguments of a tool, in the order of its schema.
pub(crate) fn argument_hints(schema: &Value) -> Vec<ArgumentHint> {
    let root = ToolSchema::from_root(schema);
    let hint = |(name, here): (&str, ToolSchema<'_>)| ArgumentHint {
        name: name.to_owned(),
        description: here.keyword_text("description").unwrap_or_default().to_owned(),
        is_required: root.requires_property(name),
        is_list: here.is_list(),
        values: allowed_values(here),
    };
    root.properties().into_iter().map(hint).collect()
}

/// The values of an enumeration or a boolean, of the argument itself or of the elements of a list.
fn allowed_values(schema: ToolSchema<'_>) -> Vec<String> {
    let element = if schema.is_list() { schema.items() } else { schema };
    let choices = element.choices();
    if choices.is_empty() && element.is_switch() {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    choices.into_iter().filter_map(text).take(COMPLETION_VALUES).collect()
}
