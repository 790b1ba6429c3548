//! The raw fields of an entry in a tools list, split once and parsed on demand.
//!
//! A catalog of thousands of tools consists mostly of schemas; they are skipped here and not parsed into
//! values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ToolFault;
use super::header::HeaderParam;
use crate::limits::JSON_DEPTH;
use crate::text::{clean_strings, is_deeper_than, may_hide_characters};

/// The known fields as raw JSON; of duplicates the last.
#[derive(Debug, Default)]
pub(super) struct RawToolEntry<'e> {
    name: Option<&'e RawValue>,
    title: Option<&'e RawValue>,
    description: Option<&'e RawValue>,
    input_schema: Option<&'e RawValue>,
    output_schema: Option<&'e RawValue>,
    annotations: Option<&'e RawValue>,
    execution: Option<&'e RawValue>,
    meta: Option<&'e RawValue>,
}

impl<'e> RawToolEntry<'e> {
    fn field_mut(&mut self, key: &str) -> Option<&mut Option<&'e RawValue>> {
        Some(match key {
            "name" => &mut self.name,
            "title" => &mut self.title,
            "description" => &mut self.description,
            "inputSchema" => &mut self.input_schema,
            "outputSchema" => &mut self.output_schema,
            "annotations" => &mut self.annotations,
            "execution" => &mut self.execution,
            "_meta" => &mut self.meta,
            _ => return None,
        })
    }

    pub(super) fn name(&self) -> Option<Cow<'e, str>> {
        self.name.and_then(parse_string)
    }

    pub(super) fn title(&self) -> Result<Option<Cow<'e, str>>, ToolFault> {
        parse_text(self.title, "title")
    }

    pub(super) fn description(&self) -> Result<Option<Cow<'e, str>>, ToolFault> {
        parse_text(self.description, "description")
    }

    pub(super) fn raw_name(&self) -> Option<&'e RawValue> {
        self.name
    }

    pub(super) fn raw_description(&self) -> Option<&'e RawValue> {
        self.description
    }

    pub(super) fn raw_input_schema(&self) -> Option<&'e RawValue> {
        self.input_schema
    }

    pub(super) fn raw_output_schema(&self) -> Option<&'e RawValue> {
        self.output_schema
    }

    pub(super) fn annotations(&self) -> Option<Map<String, Value>> {
        parse_object(self.annotations)
    }

    pub(super) fn execution(&self) -> Option<Map<String, Value>> {
        parse_object(self.execution)
    }

    pub(super) fn meta(&self) -> Option<Map<String, Value>> {
        parse_object(self.meta)
    }

    pub(super) fn input_schema(&self) -> Result<Box<RawValue>, ToolFault> {
        let missing = ToolFault::Field { name: "inputSchema", expected: "a JSON Schema" };
        parse_object_schema("inputSchema", self.input_schema.ok_or(missing)?)
    }

    /// The schema of the structured result; an invalid one is dropped, and results are not validated.
    pub(super) fn output_schema(&self) -> Option<Box<RawValue>> {
        self.output_schema.and_then(|written| parse_object_schema("outputSchema", written).ok())
    }

    pub(super) fn header_params(&self) -> Result<Vec<HeaderParam>, ToolFault> {
        let Some(schema) = self.input_schema else { return Ok(Vec::new()) };
        HeaderParam::parse_schema(schema).map_err(ToolFault::Header)
    }
}

/// Validates and cleans a schema of an object. Other schemas are legal JSON Schema, but models do not
/// accept them.
fn parse_object_schema(name: &'static str, written: &RawValue) -> Result<Box<RawValue>, ToolFault> {
    let fault = ToolFault::Field { name, expected: "a JSON Schema of an object" };
    let json = written.get();
    // Later consumers of the schema may recurse.
    if is_deeper_than(JSON_DEPTH, json) || !serde_json::from_str(json).is_ok_and(|ObjectSchemaCheck(it)| it) {
        return Err(fault);
    }
    // Nearly all schemas contain no hidden characters, and parsing one to clean it is slow.
    if !may_hide_characters(json) {
        return Ok(written.to_owned());
    }
    let Ok(mut cleaned) = serde_json::from_str::<Value>(json) else { return Err(fault) };
    if !clean_strings(&mut cleaned) {
        return Ok(written.to_owned());
    }
    RawValue::from_string(cleaned.to_string()).map_err(|_| fault)
}

fn parse_text<'e>(
    field: Option<&'e RawValue>,
    name: &'static str,
) -> Result<Option<Cow<'e, str>>, ToolFault> {
    match field.filter(|field| field.get() != "null") {
        None => Ok(None),
        Some(field) => parse_string(field).map(Some).ok_or(ToolFault::Field { name, expected: "a string" }),
    }
}

fn parse_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok().map(|JsonString(text)| text)
}

fn parse_object(field: Option<&RawValue>) -> Option<Map<String, Value>> {
    field.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// A string, borrowed if it has no escapes.
#[derive(Deserialize)]
struct JsonString<'e>(#[serde(borrow)] Cow<'e, str>);

impl<'e> Deserialize<'e> for RawToolEntry<'e> {
    fn deserialize<D: Deserializer<'e>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ToolEntryVisitor)
    }
}

struct ToolEntryVisitor;

impl<'e> Visitor<'e> for ToolEntryVisitor {
    type Value = RawToolEntry<'e>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool")
    }

    fn visit_map<A: MapAccess<'e>>(self, mut map: A) -> Result<RawToolEntry<'e>, A::Error> {
        let mut written = RawToolEntry::default();
        while let Some(JsonString(key)) = map.next_key()? {
            match written.field_mut(&key) {
                Some(field) => *field = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(written)
    }
}

/// Whether a schema describes an object or has no type.
struct ObjectSchemaCheck(bool);

impl<'e> Deserialize<'e> for ObjectSchemaCheck {
    fn deserialize<D: Deserializer<'e>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SchemaTypeVisitor)
    }
}

struct SchemaTypeVisitor;

impl<'e> Visitor<'e> for SchemaTypeVisitor {
    type Value = ObjectSchemaCheck;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema of an object")
    }

    fn visit_map<A: MapAccess<'e>>(self, mut map: A) -> Result<ObjectSchemaCheck, A::Error> {
        let mut is_object = true;
        while let Some(JsonString(key)) = map.next_key()? {
            if key == "type" {
                is_object = is_object_type(&map.next_value()?);
                continue;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(ObjectSchemaCheck(is_object))
    }
}

fn is_object_type(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}
