//! Prints simplified schemas as the subset of OpenAPI 3.0 that Gemini's API accepts.
//!
//! It has no references, no free-form objects, no lists of types and only string enums, and `anyOf` must
//! stand alone. A value that cannot be expressed is written as JSON text, and parsed when arguments are
//! restored.

use mcparley_model::limits::{GEMINI_SCHEMA_DEPTH, REMARK_CHARS};
use mcparley_model::text::truncate_text;
use serde_json::{Map, Value, json};

use super::Dialect;
use super::json_schema::{JsonSchemaPrinter, PrintedSchema};
use super::json_types::JsonTypes;
use super::names::property_names;
use super::plain_schema::{
    ArrayForm, ObjectForm, OtherProperties, PlainSchema, SchemaAnnotations, ValueForm, ValueLimits,
};
use super::restore::{ArgumentRestorer, MemberRestorer, TextRestorer};

/// The limit keywords that the API accepts.
const LIMITS: [&str; 7] = ["minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"];

/// Prints the arguments of a tool.
pub(super) fn print_arguments(object: &ObjectForm, about: &SchemaAnnotations) -> PrintedSchema {
    let PrintedSchema { schema, restorer: back } = self::print_object(object, 0);
    let about = SchemaAnnotations { title: None, default: None, ..about.clone() };
    PrintedSchema {
        restorer: back,
        ..print_typed(JsonTypes::OBJECT, schema, &with_others(about, object), false)
    }
}

fn print_schema(part: &PlainSchema, depth: usize) -> PrintedSchema {
    if depth >= GEMINI_SCHEMA_DEPTH {
        return json_text(part);
    }
    let PlainSchema { annotations: about, nullable, form } = part;
    match form {
        ValueForm::Any => json_text(part),
        ValueForm::Null => {
            print_typed(JsonTypes::STRING, Map::new(), &about.clone().with_remark("Only null."), true)
        }
        ValueForm::Choice(values) => print_choice(values, about, *nullable),
        ValueForm::Plain { kind, limits } => {
            let (schema, remarks) = split_limits(limits, *kind);
            let about = remarks.into_iter().fold(about.clone(), SchemaAnnotations::with_remark);
            print_typed(*kind, schema, &about, *nullable)
        }
        ValueForm::List(list) => self::print_array(list, part, depth),
        ValueForm::Object(object) if object.properties.is_empty() => json_text(part),
        ValueForm::Object(object) => {
            let PrintedSchema { schema, restorer: back } = self::print_object(object, depth);
            let about = with_others(about.clone(), object);
            PrintedSchema {
                restorer: back.or_null(*nullable),
                ..print_typed(JsonTypes::OBJECT, schema, &about, *nullable)
            }
        }
        ValueForm::Union(parts) => print_union(parts, part, depth),
    }
}

/// Adds a remark about further properties, which the format cannot express.
fn with_others(about: SchemaAnnotations, object: &ObjectForm) -> SchemaAnnotations {
    match &object.rest {
        OtherProperties::Open | OtherProperties::Closed => about,
        OtherProperties::Of(other) => about.with_remark(format!("Other properties: {}", schema_text(other))),
    }
}

/// Prints a value that is written as JSON text, with its schema in the description.
fn json_text(part: &PlainSchema) -> PrintedSchema {
    let remark = match &part.form {
        ValueForm::Any => "Any JSON value, written as JSON text.".to_owned(),
        ValueForm::Null
        | ValueForm::Choice(_)
        | ValueForm::Plain { .. }
        | ValueForm::List(_)
        | ValueForm::Object(_)
        | ValueForm::Union(_) => {
            format!("Written as JSON text of the schema {}", schema_text(part))
        }
    };
    let printed = print_typed(
        JsonTypes::STRING,
        Map::new(),
        &part.annotations.clone().with_remark(remark),
        part.nullable,
    );
    PrintedSchema {
        restorer: ArgumentRestorer::for_text(TextRestorer::Json).or_null(part.nullable),
        ..printed
    }
}

/// The schema of a value as text, for a description.
fn schema_text(part: &PlainSchema) -> String {
    let bare = PlainSchema { annotations: SchemaAnnotations::default(), ..part.clone() };
    let schema = Value::Object(JsonSchemaPrinter::IN_WORDS.print_schema(&bare).schema).to_string();
    truncate_text(&schema, REMARK_CHARS).into_owned()
}

fn print_typed(
    kind: JsonTypes,
    mut body: Map<String, Value>,
    about: &SchemaAnnotations,
    nullable: bool,
) -> PrintedSchema {
    let mut schema = Map::new();
    schema.extend(kind.type_names().first().map(|name| ("type".to_owned(), json!(name))));
    schema
        .extend(about.full_description_text().map(|words| ("description".to_owned(), Value::String(words))));
    if nullable {
        schema.insert("nullable".into(), json!(true));
    }
    schema.append(&mut body);
    PrintedSchema { schema, restorer: ArgumentRestorer::for_types(kind).or_null(nullable) }
}

/// The limits that the API accepts, and the others as remarks.
fn split_limits(limits: &ValueLimits, kind: JsonTypes) -> (Map<String, Value>, Vec<String>) {
    let (mut schema, mut remarks) = (Map::new(), Vec::new());
    for (name, value) in limits {
        let formats: &[&str] = match kind {
            JsonTypes::STRING => &["date-time"],
            JsonTypes::NUMBER => &["float", "double"],
            JsonTypes::INTEGER => &["int32", "int64"],
            _ => &[],
        };
        let is_known_format =
            *name == "format" && value.as_str().is_some_and(|format| formats.contains(&format));
        if is_known_format || (LIMITS.contains(name) && fits_int64(value)) {
            schema.insert((*name).to_owned(), value.clone());
        } else {
            remarks.push(in_words(name, value));
        }
    }
    (schema, remarks)
}

/// Whether a number fits into the 64-bit integers of the API.
fn fits_int64(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_f64()
}

fn in_words(name: &str, value: &Value) -> String {
    let value = truncate_text(&value.to_string(), REMARK_CHARS).into_owned();
    match name {
        "format" => format!("Format: {}.", value.trim_matches('"')),
        "multipleOf" => format!("A multiple of {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "uniqueItems" => "No two elements the same.".into(),
        name => format!("{name}: {value}."),
    }
}

/// Prints allowed values as strings, of any JSON type.
fn print_choice(values: &[Value], about: &SchemaAnnotations, nullable: bool) -> PrintedSchema {
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
    let printed = print_typed(JsonTypes::STRING, schema, about, nullable);
    let is_same = shown.iter().all(|(text, value)| value.as_str() == Some(text));
    let text = if is_same { TextRestorer::Itself } else { TextRestorer::Choice(shown) };
    PrintedSchema { restorer: ArgumentRestorer::for_text(text).or_null(nullable), ..printed }
}

fn print_array(list: &ArrayForm, whole: &PlainSchema, depth: usize) -> PrintedSchema {
    let element = print_schema(&list.element_schema(), depth + 1);
    let (mut schema, remarks) = split_limits(&list.limits, JsonTypes::ARRAY);
    schema.extend(list.max_items().map(|most| ("maxItems".to_owned(), json!(most))));
    schema.insert("items".into(), Value::Object(element.schema));
    let mut about = remarks.into_iter().fold(whole.annotations.clone(), SchemaAnnotations::with_remark);
    if !list.first.is_empty() {
        about = about.with_remark(format!("Of the schema {}", schema_text(whole)));
    }
    let printed = print_typed(JsonTypes::ARRAY, schema, &about, whole.nullable);
    PrintedSchema {
        restorer: ArgumentRestorer::for_elements(element.restorer).or_null(whole.nullable),
        ..printed
    }
}

fn print_object(object: &ObjectForm, depth: usize) -> PrintedSchema {
    let shown = property_names(Dialect::Gemini, object.properties.iter().map(|(name, _)| name.as_str()));
    let (mut schema, mut members, mut properties) = (Map::new(), MemberRestorer::default(), Map::new());
    for ((name, one), shown) in object.properties.iter().zip(&shown) {
        let printed = print_schema(&one.with_name_note(name, shown), depth + 1);
        properties.insert(shown.clone(), Value::Object(printed.schema));
        members.named.insert(shown.clone(), (name.clone(), printed.restorer));
    }
    schema.insert("properties".into(), Value::Object(properties));
    let must = object.required_names(&shown);
    if !must.is_empty() {
        schema.insert("required".into(), json!(must));
    }
    PrintedSchema { schema, restorer: ArgumentRestorer::for_members(members) }
}

/// Prints alternatives. `anyOf` stands alone, so the first alternative gets the description.
///
/// If a string would be ambiguous between two alternatives, the whole value is written as JSON text.
fn print_union(parts: &[PlainSchema], whole: &PlainSchema, depth: usize) -> PrintedSchema {
    let (mut back, mut schemas) = (ArgumentRestorer::default(), Vec::new());
    for (place, one) in parts.iter().enumerate() {
        let one = match place {
            0 => PlainSchema { nullable: whole.nullable, ..one.clone() }
                .with_annotations(whole.annotations.clone()),
            _ => one.clone(),
        };
        let printed = print_schema(&one, depth + 1);
        let Some(joined) = back.merge_restorers(printed.restorer) else { return json_text(whole) };
        back = joined;
        schemas.push(Value::Object(printed.schema));
    }
    PrintedSchema { schema: Map::from_iter([("anyOf".to_owned(), Value::Array(schemas))]), restorer: back }
}
