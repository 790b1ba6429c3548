//! Remarks: words the conditions that a simplified schema cannot express.

use mcparley_model::limits::REMARK_CHARS;
use mcparley_model::text::truncate_text;
use serde_json::{Map, Value};

use super::super::plain_schema::SchemaAnnotations;
use super::case::SchemaCase;
use super::form::{required_properties, schemas_by_property};

/// Keywords without a simplified form; their JSON is quoted in a remark.
const ODD: [&str; 10] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "propertyNames",
    "patternProperties",
];

/// Reads the annotations of a value. `cases` are alternatives that its form does not distinguish.
pub(super) fn read_annotations(case: &SchemaCase<'_>, cases: &[SchemaCase<'_>]) -> SchemaAnnotations {
    let text = |name: &str| {
        let texts = case.maps.iter().filter_map(|map| map.get(name)?.as_str());
        texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    };
    let default = case.maps.iter().find_map(|map| map.get("default")).cloned();
    let mut remarks: Vec<String> = case.maps.iter().filter_map(|map| unsupported_remark(map)).collect();
    remarks.extend(case.again.map(|(reference, _)| recursion_remark(reference)));
    remarks.extend(case.outside.map(|reference| format!("Of the form `{}`.", cut_text(reference, 100))));
    remarks.extend(alternatives_remark(case, cases));
    SchemaAnnotations { title: text("title"), description: text("description"), default, remarks }
}

fn unsupported_remark(map: &Map<String, Value>) -> Option<String> {
    let odd: Map<String, Value> =
        ODD.iter().filter_map(|name| Some(((*name).to_owned(), map.get(*name)?.clone()))).collect();
    (!odd.is_empty()).then(|| {
        let schema = Value::Object(odd).to_string();
        format!("Must also satisfy the JSON Schema {}", cut_text(&schema, REMARK_CHARS))
    })
}

fn recursion_remark(reference: &str) -> String {
    match reference.rsplit('/').next().filter(|name| !name.is_empty() && *name != "#") {
        Some(name) => format!("Has the form of `{}` again.", cut_text(name, 100)),
        None => "Has the form of all arguments again.".into(),
    }
}

/// A remark about the properties that belong together.
fn alternatives_remark(common: &SchemaCase<'_>, cases: &[SchemaCase<'_>]) -> Option<String> {
    let is_exclusive = common.maps.iter().any(|map| map.contains_key("oneOf"));
    let count = if is_exclusive { "exactly one" } else { "at least one" };
    let mut remarks: Vec<String> =
        cases.iter().map(|case| describe_alternative(&case.without_common(common))).collect();
    remarks.dedup();
    remarks.retain(|one| !one.is_empty());
    if remarks.is_empty() {
        return None;
    }
    let all = remarks.join("; ");
    Some(cut_text(&format!("Give {count} of: {all}."), REMARK_CHARS))
}

/// Describes one alternative: the constants that distinguish it, and the properties it requires.
fn describe_alternative(case: &SchemaCase<'_>) -> String {
    let constant = |schema: &Value| match (schema.get("const"), schema.get("enum").and_then(Value::as_array))
    {
        (Some(value), _) => Some(value.to_string()),
        (None, Some(values)) => values.first().filter(|_| values.len() == 1).map(Value::to_string),
        (None, None) => None,
    };
    let constants: Vec<(&str, String)> = schemas_by_property(&case.maps)
        .into_iter()
        .filter_map(|(name, schemas)| Some((name, schemas.into_iter().find_map(constant)?)))
        .collect();
    let mut remarks: Vec<String> =
        constants.iter().map(|(name, value)| format!("`{name}` {value}")).collect();
    let demanded = required_properties(&case.maps);
    let is_new = |name: &&String| !constants.iter().any(|(known, _)| known == name);
    remarks.extend(demanded.iter().filter(is_new).map(|name| format!("`{name}`")));
    remarks.join(" with ")
}

fn cut_text(text: &str, limit: usize) -> String {
    truncate_text(text, limit).into_owned()
}
