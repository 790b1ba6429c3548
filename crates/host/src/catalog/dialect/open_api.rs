//! Prints plain parts as the subset of OpenAPI 3.0 that Gemini's API takes.
//!
//! It has no references, no free-form objects, no types in a list and only strings to choose from, and alternatives stand
//! alone. What has no form there is written as JSON text, and read from it on the way back.

use mcparley_model::limits::{GEMINI_SCHEMA_DEPTH, REMARK_CHARS};
use mcparley_model::text::cut;
use serde_json::{Map, Value, json};

use super::Dialect;
use super::back::{Back, Members, Text};
use super::json_schema::{JsonSchema, Printed};
use super::kinds::Kinds;
use super::names::property_names;
use super::part::{About, Form, Limits, List, Object, Part, Rest};

/// The keywords that limit values and that the API knows.
const LIMITS: [&str; 7] = ["minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"];

/// Prints the arguments of a tool.
pub(super) fn arguments(object: &Object, about: &About) -> Printed {
    let Printed { schema, back } = self::object(object, 0);
    let about = About { title: None, default: None, ..about.clone() };
    Printed { back, ..typed(Kinds::OBJECT, schema, &with_others(about, object), false) }
}

fn part(part: &Part, depth: usize) -> Printed {
    if depth >= GEMINI_SCHEMA_DEPTH {
        return json_text(part);
    }
    let Part { about, nullable, form } = part;
    match form {
        Form::Any => json_text(part),
        Form::Null => typed(Kinds::STRING, Map::new(), &about.clone().with("Only null."), true),
        Form::Choice(values) => choice(values, about, *nullable),
        Form::Plain { kind, limits } => {
            let (schema, remarks) = limited(limits, *kind);
            let about = remarks.into_iter().fold(about.clone(), About::with);
            typed(*kind, schema, &about, *nullable)
        }
        Form::List(list) => self::list(list, part, depth),
        Form::Object(object) if object.properties.is_empty() => json_text(part),
        Form::Object(object) => {
            let Printed { schema, back } = self::object(object, depth);
            let about = with_others(about.clone(), object);
            Printed { back: back.or_null(*nullable), ..typed(Kinds::OBJECT, schema, &about, *nullable) }
        }
        Form::Union(parts) => union(parts, part, depth),
    }
}

/// What properties there may be that have no place of their own.
fn with_others(about: About, object: &Object) -> About {
    match &object.rest {
        Rest::Open | Rest::Closed => about,
        Rest::Of(other) => about.with(format!("Other properties: {}", words(other))),
    }
}

/// A value that is written as JSON text, with its schema in the description.
fn json_text(part: &Part) -> Printed {
    let remark = match &part.form {
        Form::Any => "Any JSON value, written as JSON text.".to_owned(),
        Form::Null
        | Form::Choice(_)
        | Form::Plain { .. }
        | Form::List(_)
        | Form::Object(_)
        | Form::Union(_) => {
            format!("Written as JSON text of the schema {}", words(part))
        }
    };
    let printed = typed(Kinds::STRING, Map::new(), &part.about.clone().with(remark), part.nullable);
    Printed { back: Back::of_text(Text::Json).or_null(part.nullable), ..printed }
}

/// The schema of a part, for a description.
fn words(part: &Part) -> String {
    let bare = Part { about: About::default(), ..part.clone() };
    let schema = Value::Object(JsonSchema::IN_WORDS.part(&bare).schema).to_string();
    cut(&schema, REMARK_CHARS).into_owned()
}

fn typed(kind: Kinds, mut body: Map<String, Value>, about: &About, nullable: bool) -> Printed {
    let mut schema = Map::new();
    schema.extend(kind.names().first().map(|name| ("type".to_owned(), json!(name))));
    schema.extend(about.all_words().map(|words| ("description".to_owned(), Value::String(words))));
    if nullable {
        schema.insert("nullable".into(), json!(true));
    }
    schema.append(&mut body);
    Printed { schema, back: Back::of(kind).or_null(nullable) }
}

/// The limits that the API knows, and the others in words.
fn limited(limits: &Limits, kind: Kinds) -> (Map<String, Value>, Vec<String>) {
    let (mut schema, mut remarks) = (Map::new(), Vec::new());
    for (name, value) in limits {
        let formats: &[&str] = match kind {
            Kinds::STRING => &["date-time"],
            Kinds::NUMBER => &["float", "double"],
            Kinds::INTEGER => &["int32", "int64"],
            _ => &[],
        };
        let is_known_format =
            *name == "format" && value.as_str().is_some_and(|format| formats.contains(&format));
        if is_known_format || (LIMITS.contains(name) && is_small(value)) {
            schema.insert((*name).to_owned(), value.clone());
        } else {
            remarks.push(in_words(name, value));
        }
    }
    (schema, remarks)
}

/// Counts are 64 bits wide there.
fn is_small(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_f64()
}

fn in_words(name: &str, value: &Value) -> String {
    let value = cut(&value.to_string(), REMARK_CHARS).into_owned();
    match name {
        "format" => format!("Format: {}.", value.trim_matches('"')),
        "multipleOf" => format!("A multiple of {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "uniqueItems" => "No two elements the same.".into(),
        name => format!("{name}: {value}."),
    }
}

/// Strings to choose from, whatever the values are.
fn choice(values: &[Value], about: &About, nullable: bool) -> Printed {
    let mut shown: Vec<(String, Value)> = Vec::new();
    let plain = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let mut taken: std::collections::HashSet<String> = values.iter().filter_map(plain).collect();
    for value in values {
        let text = plain(value).unwrap_or_else(|| {
            let mut text = value.to_string();
            while !taken.insert(text.clone()) {
                text.push('_');
            }
            text
        });
        shown.push((text, value.clone()));
    }
    let names: Vec<&str> = shown.iter().map(|(text, _)| text.as_str()).collect();
    let schema = Map::from_iter([("enum".to_owned(), json!(names))]);
    let printed = typed(Kinds::STRING, schema, about, nullable);
    let is_same = shown.iter().all(|(text, value)| value.as_str() == Some(text));
    let text = if is_same { Text::Itself } else { Text::Choice(shown) };
    Printed { back: Back::of_text(text).or_null(nullable), ..printed }
}

fn list(list: &List, whole: &Part, depth: usize) -> Printed {
    let element = part(&list.element(), depth + 1);
    let (mut schema, remarks) = limited(&list.limits, Kinds::ARRAY);
    schema.extend(list.most().map(|most| ("maxItems".to_owned(), json!(most))));
    schema.insert("items".into(), Value::Object(element.schema));
    let mut about = remarks.into_iter().fold(whole.about.clone(), About::with);
    if !list.first.is_empty() {
        about = about.with(format!("Of the schema {}", words(whole)));
    }
    let printed = typed(Kinds::ARRAY, schema, &about, whole.nullable);
    Printed { back: Back::of_elements(element.back).or_null(whole.nullable), ..printed }
}

fn object(object: &Object, depth: usize) -> Printed {
    let shown = property_names(Dialect::Gemini, object.properties.iter().map(|(name, _)| name.as_str()));
    let (mut schema, mut members, mut properties) = (Map::new(), Members::default(), Map::new());
    for ((name, one), shown) in object.properties.iter().zip(&shown) {
        let printed = part(&one.renamed(name, shown), depth + 1);
        properties.insert(shown.clone(), Value::Object(printed.schema));
        members.named.insert(shown.clone(), (name.clone(), printed.back));
    }
    schema.insert("properties".into(), Value::Object(properties));
    let must = object.required_as(&shown);
    if !must.is_empty() {
        schema.insert("required".into(), json!(must));
    }
    Printed { schema, back: Back::of_members(members) }
}

/// Alternatives stand alone, so the first of them says what is to be said. Where a text could be either of two things,
/// all of it is written as JSON text.
fn union(parts: &[Part], whole: &Part, depth: usize) -> Printed {
    let (mut back, mut schemas) = (Back::default(), Vec::new());
    for (place, one) in parts.iter().enumerate() {
        let one = match place {
            0 => Part { nullable: whole.nullable, ..one.clone() }.told(whole.about.clone()),
            _ => one.clone(),
        };
        let printed = part(&one, depth + 1);
        let Some(joined) = back.join(printed.back) else { return json_text(whole) };
        back = joined;
        schemas.push(Value::Object(printed.schema));
    }
    Printed { schema: Map::from_iter([("anyOf".to_owned(), Value::Array(schemas))]), back }
}
