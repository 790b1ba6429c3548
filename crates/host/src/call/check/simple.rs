//! Schemas so plain that they are checked without a compiler.
//!
//! Most tools take a few named values of given types. For these the compiler would cost a one-shot call more than
//! everything else it does. It only ever says that arguments fit; why others do not is told by the compiler.

use std::collections::HashMap;

use serde_json::Value;

/// Keywords that say something to people and nothing about values. Formats are never checked.
const ANNOTATIONS: [&str; 7] =
    ["title", "description", "default", "examples", "format", "deprecated", "$comment"];

/// An object of named values of given types.
#[derive(Debug)]
pub(super) struct Simple {
    properties: HashMap<String, Kind>,
    required: Vec<String>,
    /// Whether there may be other properties.
    open: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Any,
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

impl Simple {
    /// The schema, if it is so plain.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let mut simple = Self { properties: HashMap::new(), required: Vec::new(), open: true };
        let schema = schema.as_object()?;
        (schema.get("type")? == "object").then_some(())?;
        for (keyword, value) in schema {
            match keyword.as_str() {
                // What is plain means the same in every dialect.
                "type" | "$schema" => {}
                "properties" => {
                    let named =
                        value.as_object()?.iter().map(|(name, schema)| Some((name.clone(), kind(schema)?)));
                    simple.properties = named.collect::<Option<_>>()?;
                }
                "required" => {
                    let names = value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
                    simple.required = names.collect::<Option<_>>()?;
                }
                "additionalProperties" => simple.open = value.as_bool()?,
                other => ANNOTATIONS.contains(&other).then_some(())?,
            }
        }
        Some(simple)
    }

    /// Whether the arguments certainly fit.
    pub(super) fn fits(&self, arguments: &Value) -> bool {
        let Some(arguments) = arguments.as_object() else { return false };
        let has_all = self.required.iter().all(|name| arguments.contains_key(name));
        has_all
            && arguments.iter().all(|(name, value)| match self.properties.get(name) {
                Some(kind) => kind.fits(value),
                None => self.open,
            })
    }
}

/// What a property takes, if its schema says no more than a type.
fn kind(schema: &Value) -> Option<Kind> {
    let schema = schema.as_object()?;
    let is_plain = |keyword: &String| keyword == "type" || ANNOTATIONS.contains(&keyword.as_str());
    schema.keys().all(is_plain).then_some(())?;
    let Some(kind) = schema.get("type") else { return Some(Kind::Any) };
    match kind.as_str()? {
        "string" => Some(Kind::String),
        "integer" => Some(Kind::Integer),
        "number" => Some(Kind::Number),
        "boolean" => Some(Kind::Boolean),
        "array" => Some(Kind::Array),
        "object" => Some(Kind::Object),
        _ => None,
    }
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::String => value.is_string(),
            // `1.0` is an integer too; the compiler knows.
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}
