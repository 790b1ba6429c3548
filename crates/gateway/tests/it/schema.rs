//! The protocol's JSON schema, to check messages against.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// By revision and name.
type Known = HashMap<(String, String), Arc<Validator>>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Fails unless `value` is a valid `name` of `version`.
pub(crate) fn assert_is(version: &str, name: &str, value: &Value) {
    let validator = validator(version, name);
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{} at `{}`", error, error.instance_path().as_str()))
        .collect();
    assert!(errors.is_empty(), "no {name} of {version}: {}\n{value}", errors.join("; "));
}

fn validator(version: &str, name: &str) -> Arc<Validator> {
    let mut known = KNOWN.lock().unwrap();
    let key = (version.to_owned(), name.to_owned());
    Arc::clone(known.entry(key).or_insert_with(|| Arc::new(compiled(version, name))))
}

fn compiled(version: &str, name: &str) -> Validator {
    let text = match version {
        "2024-11-05" => include_str!("../protocol/2024-11-05.json"),
        "2025-03-26" => include_str!("../protocol/2025-03-26.json"),
        "2025-06-18" => include_str!("../protocol/2025-06-18.json"),
        "2025-11-25" => include_str!("../protocol/2025-11-25.json"),
        "2026-07-28" => include_str!("../protocol/2026-07-28.json"),
        other => panic!("no revision is called {other}"),
    };
    let mut schema: Value = serde_json::from_str(text).unwrap();
    let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    assert!(schema[place].get(name).is_some(), "{version} has no {name}");
    schema["$ref"] = json!(format!("#/{place}/{name}"));
    jsonschema::validator_for(&schema).unwrap()
}
