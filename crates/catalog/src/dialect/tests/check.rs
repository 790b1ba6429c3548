//! The documented rules of each API, written down independently of the code that rewrites tools.

use serde_json::{Map, Value, json};

/// The reasons why the API would reject the value of `tools`.
pub(crate) fn complaints(dialect: &str, tools: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let tools = tools.as_array().unwrap();
    match dialect {
        "anthropic" => tools.iter().for_each(|tool| anthropic(tool, &mut all)),
        "openai" => tools.iter().for_each(|tool| function(tool, &mut all)),
        "openai-chat" => tools.iter().for_each(|tool| function(&tool["function"], &mut all)),
        "gemini" => functions(tools).for_each(|tool| gemini(tool, &mut all)),
        other => panic!("no such dialect: {other}"),
    }
    let count = if dialect == "gemini" { functions(tools).count() } else { tools.len() };
    if dialect != "anthropic" && count > 128 {
        all.push(format!("{count} tools"));
    }
    all
}

/// The name and the schema of the arguments of each tool, as JSON Schema.
pub(crate) fn schemas(dialect: &str, tools: &Value) -> Vec<(String, Value)> {
    let tools = tools.as_array().unwrap();
    let of = |tool: &Value, field: &str| (tool["name"].as_str().unwrap().to_owned(), tool[field].clone());
    match dialect {
        "anthropic" => tools.iter().map(|tool| of(tool, "input_schema")).collect(),
        "openai" => tools.iter().map(|tool| of(tool, "parameters")).collect(),
        "openai-chat" => tools.iter().map(|tool| of(&tool["function"], "parameters")).collect(),
        _ => functions(tools)
            .map(|tool| {
                let (name, mut schema) = of(tool, "parameters");
                without_nullable(&mut schema);
                (name, if schema.is_null() { json!({ "type": "object" }) } else { schema })
            })
            .collect(),
    }
}

fn functions(tools: &[Value]) -> impl Iterator<Item = &Value> {
    tools.iter().flat_map(|tool| tool["functionDeclarations"].as_array().unwrap())
}

fn anthropic(tool: &Value, all: &mut Vec<String>) {
    let name = named(tool, 128, |c| c.is_ascii_alphanumeric() || "_-".contains(c), all);
    let mut say = |what: String| all.push(format!("{name}: {what}"));
    let schema = &tool["input_schema"];
    if schema["type"] != "object" {
        say("the schema is not of an object".into());
    }
    for word in ["oneOf", "anyOf", "allOf"].iter().filter(|word| schema.get(**word).is_some()) {
        say(format!("`{word}` at the top level"));
    }
    json_schema(schema, &mut say);
}

fn function(tool: &Value, all: &mut Vec<String>) {
    let name = named(tool, 64, |c| c.is_ascii_alphanumeric() || "_-".contains(c), all);
    let mut say = |what: String| all.push(format!("{name}: {what}"));
    let schema = &tool["parameters"];
    if tool["strict"] != false {
        say("it is strict, or may be taken for strict".into());
    }
    if tool["description"].as_str().is_some_and(|text| text.chars().count() > 1024) {
        say("the description is too long".into());
    }
    if schema["type"] != "object" {
        say("the schema is not of an object".into());
    }
    for word in ["oneOf", "anyOf", "allOf", "enum", "const", "not"] {
        if schema.get(word).is_some() {
            say(format!("`{word}` at the top level"));
        }
    }
    json_schema(schema, &mut say);
    each(schema, 0, &mut |map, _| {
        if is(map, "array") && !map.contains_key("items") {
            say("an array without items".into());
        }
        if is(map, "object") && !map.contains_key("properties") {
            say("an object without properties".into());
        }
        if map.contains_key("allOf") || map.contains_key("oneOf") {
            say("`allOf` or `oneOf` within".into());
        }
    });
}

/// The rules of both JSON Schema dialects.
fn json_schema(schema: &Value, say: &mut impl FnMut(String)) {
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        say(format!("no JSON Schema of 2020-12: {error} at {}", error.instance_path()));
    }
    each(schema, 0, &mut |map, depth| {
        if depth > 20 {
            say("too deep".into());
        }
        for word in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if map.get(word).is_some_and(Value::is_string) {
                say(format!("`{word}`"));
            }
        }
        for key in map.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            let fits = (1..=64).contains(&key.len())
                && key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            if !fits {
                say(format!("the property `{key}`"));
            }
        }
    });
}

/// Fields of Gemini's `Schema`, without those that are newer or that are said to be ignored.
const GEMINI: [&str; 14] = [
    "type",
    "format",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "anyOf",
    "items",
    "minimum",
    "maximum",
    "pattern",
];

fn gemini(tool: &Value, all: &mut Vec<String>) {
    let name = named(tool, 64, |c| c.is_ascii_alphanumeric() || "_.:-".contains(c), all);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        all.push(format!("{name}: begins with something else than a letter"));
    }
    if tool["description"].as_str().is_none_or(str::is_empty) {
        all.push(format!("{name}: has no description"));
    }
    if let Some(schema) = tool.get("parameters") {
        if schema["type"] != "object" {
            all.push(format!("{name}: the schema is not of an object"));
        }
        open_api(schema, &name, 0, all);
    }
}

fn open_api(schema: &Value, place: &str, depth: usize, all: &mut Vec<String>) {
    let Some(map) = schema.as_object() else { return all.push(format!("{place}: no schema")) };
    let mut say = |what: String| all.push(format!("{place}: {what}"));
    if depth > 12 {
        say("too deep".into());
    }
    let known = |key: &str| GEMINI.contains(&key) || ["minLength", "maxLength"].contains(&key);
    for key in map.keys().filter(|key| !known(key)) {
        say(format!("the unknown field `{key}`"));
    }
    if let Some(alternatives) = map.get("anyOf") {
        if map.len() > 1 {
            say("`anyOf` beside other fields".into());
        }
        let alternatives = alternatives.as_array().cloned().unwrap_or_default();
        for (n, one) in alternatives.iter().enumerate() {
            open_api(one, &format!("{place}|{n}"), depth + 1, all);
        }
        return;
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    if !["string", "number", "integer", "boolean", "array", "object"].contains(&kind) {
        say(format!("the type `{kind}`"));
    }
    let formats: &[&str] = match kind {
        "string" => &["enum", "date-time"],
        "number" => &["float", "double"],
        "integer" => &["int32", "int64"],
        _ => &[],
    };
    if map.get("format").is_some_and(|format| !formats.contains(&format.as_str().unwrap_or_default())) {
        say(format!("the format {} of a {kind}", map["format"]));
    }
    if let Some(values) = map.get("enum") {
        let are_texts = values.as_array().is_some_and(|values| {
            !values.is_empty()
                && values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        });
        if !are_texts || kind != "string" {
            say(format!("the enum {values} of a {kind}"));
        }
    }
    for (field, of) in
        [("items", "array"), ("minItems", "array"), ("properties", "object"), ("required", "object")]
    {
        if map.contains_key(field) && kind != of {
            say(format!("`{field}` of a {kind}"));
        }
    }
    match kind {
        "array" => {
            open_api(&map.get("items").cloned().unwrap_or_default(), &format!("{place}[]"), depth + 1, all)
        }
        "object" => properties(map, place, depth, all),
        _ => {}
    }
}

fn properties(map: &Map<String, Value>, place: &str, depth: usize, all: &mut Vec<String>) {
    let none = Map::new();
    let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if properties.is_empty() {
        all.push(format!("{place}: an object without properties"));
    }
    for (key, schema) in properties {
        let fits = (1..=64).contains(&key.len())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !key.starts_with(|c: char| c.is_ascii_digit());
        if !fits {
            all.push(format!("{place}: the property `{key}`"));
        }
        open_api(schema, &format!("{place}.{key}"), depth + 1, all);
    }
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !properties.contains_key(name.as_str().unwrap_or_default()) {
            all.push(format!("{place}: {name} is required and not there"));
        }
    }
}

fn named(tool: &Value, longest: usize, fits: impl Fn(char) -> bool, all: &mut Vec<String>) -> String {
    let name = tool["name"].as_str().unwrap_or_default();
    if name.is_empty() || name.len() > longest || !name.chars().all(fits) {
        all.push(format!("the name `{name}`"));
    }
    name.to_owned()
}

fn is(map: &Map<String, Value>, kind: &str) -> bool {
    let said = map.get("type");
    said.is_some_and(|said| said == kind || said.as_array().is_some_and(|kinds| kinds.contains(&json!(kind))))
}

/// Calls `see` for a schema and every schema within, with its depth.
fn each(schema: &Value, depth: usize, see: &mut impl FnMut(&Map<String, Value>, usize)) {
    let Some(map) = schema.as_object() else { return };
    see(map, depth);
    for (key, value) in map {
        let within: Vec<&Value> = match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named.values().collect(),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => list.iter().collect(),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                one,
            ) => {
                vec![one]
            }
            _ => Vec::new(),
        };
        within.into_iter().for_each(|one| each(one, depth + 1, see));
    }
}

/// `nullable`, expressed in JSON Schema.
fn without_nullable(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(without_nullable),
        Value::Object(map) => {
            map.values_mut().for_each(without_nullable);
            if map.get("nullable") == Some(&json!(true)) && map.get("type").is_some_and(Value::is_string) {
                map["type"] = json!([map["type"], "null"]);
                if let Some(values) = map.get_mut("enum").and_then(Value::as_array_mut) {
                    values.push(Value::Null);
                }
            }
        }
        _ => {}
    }
}
