//! An entry of a tools list as it is written: taken apart once, and only as far as somebody looks at it.
//!
//! A catalogue of thousands of tools consists of schemas; they are passed over here and not read into values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Fault;
use super::header::HeaderParam;
use crate::limits::JSON_DEPTH;
use crate::text::{clean_strings, is_deeper_than, may_hide};

/// The fields that mean something; of several with one name the last counts.
#[derive(Debug, Default)]
pub(super) struct Written<'e> {
    name: Option<&'e RawValue>,
    title: Option<&'e RawValue>,
    description: Option<&'e RawValue>,
    input_schema: Option<&'e RawValue>,
    output_schema: Option<&'e RawValue>,
    annotations: Option<&'e RawValue>,
    execution: Option<&'e RawValue>,
    meta: Option<&'e RawValue>,
}

impl<'e> Written<'e> {
    fn field(&mut self, key: &str) -> Option<&mut Option<&'e RawValue>> {
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
        self.name.and_then(string)
    }

    pub(super) fn title(&self) -> Result<Option<Cow<'e, str>>, Fault> {
        text(self.title, "title")
    }

    pub(super) fn description(&self) -> Result<Option<Cow<'e, str>>, Fault> {
        text(self.description, "description")
    }

    pub(super) fn annotations(&self) -> Option<Map<String, Value>> {
        object(self.annotations)
    }

    pub(super) fn execution(&self) -> Option<Map<String, Value>> {
        object(self.execution)
    }

    pub(super) fn meta(&self) -> Option<Map<String, Value>> {
        object(self.meta)
    }

    pub(super) fn input_schema(&self) -> Result<Box<RawValue>, Fault> {
        let missing = Fault::Field { name: "inputSchema", expected: "a JSON Schema" };
        schema("inputSchema", self.input_schema.ok_or(missing)?)
    }

    /// Results are checked against it; without it they simply are not.
    pub(super) fn output_schema(&self) -> Option<Box<RawValue>> {
        self.output_schema.and_then(|written| schema("outputSchema", written).ok())
    }

    pub(super) fn header_params(&self) -> Result<Vec<HeaderParam>, Fault> {
        let Some(schema) = self.input_schema else { return Ok(Vec::new()) };
        HeaderParam::read_marked(schema).map_err(Fault::Header)
    }
}

/// A schema of an object, cleaned. Other schemas are legal JSON Schema and no model takes them.
fn schema(name: &'static str, written: &RawValue) -> Result<Box<RawValue>, Fault> {
    let fault = Fault::Field { name, expected: "a JSON Schema of an object" };
    let json = written.get();
    // Whoever reads it next may recurse.
    if is_deeper_than(JSON_DEPTH, json) || !serde_json::from_str(json).is_ok_and(|OfObject(it)| it) {
        return Err(fault);
    }
    // Nearly all hide nothing, and reading a schema to clean it takes long.
    if !may_hide(json) {
        return Ok(written.to_owned());
    }
    let Ok(mut cleaned) = serde_json::from_str::<Value>(json) else { return Err(fault) };
    if !clean_strings(&mut cleaned) {
        return Ok(written.to_owned());
    }
    RawValue::from_string(cleaned.to_string()).map_err(|_| fault)
}

fn text<'e>(field: Option<&'e RawValue>, name: &'static str) -> Result<Option<Cow<'e, str>>, Fault> {
    match field.filter(|field| field.get() != "null") {
        None => Ok(None),
        Some(field) => string(field).map(Some).ok_or(Fault::Field { name, expected: "a string" }),
    }
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok().map(|Key(text)| text)
}

fn object(field: Option<&RawValue>) -> Option<Map<String, Value>> {
    field.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'e>(#[serde(borrow)] Cow<'e, str>);

impl<'e> Deserialize<'e> for Written<'e> {
    fn deserialize<D: Deserializer<'e>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'e> Visitor<'e> for Fields {
    type Value = Written<'e>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool")
    }

    fn visit_map<A: MapAccess<'e>>(self, mut map: A) -> Result<Written<'e>, A::Error> {
        let mut written = Written::default();
        while let Some(Key(key)) = map.next_key()? {
            match written.field(&key) {
                Some(field) => *field = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(written)
    }
}

/// Whether a schema is one of an object, or says nothing about it.
struct OfObject(bool);

impl<'e> Deserialize<'e> for OfObject {
    fn deserialize<D: Deserializer<'e>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Kind)
    }
}

struct Kind;

impl<'e> Visitor<'e> for Kind {
    type Value = OfObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema of an object")
    }

    fn visit_map<A: MapAccess<'e>>(self, mut map: A) -> Result<OfObject, A::Error> {
        let mut is_object = true;
        while let Some(Key(key)) = map.next_key()? {
            if key == "type" {
                is_object = is_of_object(&map.next_value()?);
                continue;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(OfObject(is_object))
    }
}

fn is_of_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}
