//! Says in words what a plain form cannot say.

use mcparley_model::limits::REMARK_CHARS;
use mcparley_model::text::cut;
use serde_json::{Map, Value};

use super::super::part::About;
use super::case::Case;
use super::form::{named, required};

/// Keywords that no form has; what they demand is told as it is written.
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

/// What is said about a value. `cases` are alternatives that its form does not tell apart.
pub(super) fn about(case: &Case<'_>, cases: &[Case<'_>]) -> About {
    let text = |name: &str| {
        let texts = case.maps.iter().filter_map(|map| map.get(name)?.as_str());
        texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    };
    let default = case.maps.iter().find_map(|map| map.get("default")).cloned();
    let mut remarks: Vec<String> = case.maps.iter().filter_map(|map| odd(map)).collect();
    remarks.extend(case.again.map(|(reference, _)| again(reference)));
    remarks.extend(case.outside.map(|reference| format!("Of the form `{}`.", short(reference, 100))));
    remarks.extend(alternatives(case, cases));
    About { title: text("title"), description: text("description"), default, remarks }
}

fn odd(map: &Map<String, Value>) -> Option<String> {
    let odd: Map<String, Value> =
        ODD.iter().filter_map(|name| Some(((*name).to_owned(), map.get(*name)?.clone()))).collect();
    (!odd.is_empty()).then(|| {
        let schema = Value::Object(odd).to_string();
        format!("Must also satisfy the JSON Schema {}", short(&schema, REMARK_CHARS))
    })
}

fn again(reference: &str) -> String {
    match reference.rsplit('/').next().filter(|name| !name.is_empty() && *name != "#") {
        Some(name) => format!("Has the form of `{}` again.", short(name, 100)),
        None => "Has the form of all arguments again.".into(),
    }
}

/// Which properties belong together.
fn alternatives(common: &Case<'_>, cases: &[Case<'_>]) -> Option<String> {
    let is_exclusive = common.maps.iter().any(|map| map.contains_key("oneOf"));
    let count = if is_exclusive { "exactly one" } else { "at least one" };
    let mut told: Vec<String> = cases.iter().map(|case| told(&case.own(common))).collect();
    told.dedup();
    told.retain(|one| !one.is_empty());
    if told.is_empty() {
        return None;
    }
    let all = told.join("; ");
    Some(short(&format!("Give {count} of: {all}."), REMARK_CHARS))
}

/// One alternative: the values that tell it apart, and what it demands.
fn told(case: &Case<'_>) -> String {
    let constant = |schema: &Value| match (schema.get("const"), schema.get("enum").and_then(Value::as_array))
    {
        (Some(value), _) => Some(value.to_string()),
        (None, Some(values)) => values.first().filter(|_| values.len() == 1).map(Value::to_string),
        (None, None) => None,
    };
    let constants: Vec<(&str, String)> = named(&case.maps)
        .into_iter()
        .filter_map(|(name, schemas)| Some((name, schemas.into_iter().find_map(constant)?)))
        .collect();
    let mut told: Vec<String> = constants.iter().map(|(name, value)| format!("`{name}` {value}")).collect();
    let demanded = required(&case.maps);
    let is_new = |name: &&String| !constants.iter().any(|(known, _)| known == name);
    told.extend(demanded.iter().filter(is_new).map(|name| format!("`{name}`")));
    told.join(" with ")
}

fn short(text: &str, limit: usize) -> String {
    cut(text, limit).into_owned()
}
