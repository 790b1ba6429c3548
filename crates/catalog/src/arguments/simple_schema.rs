//! Fast path for simple schemas, which are validated without compiling them.
//!
//! Most tools take a few named values of basic types. Compiling such a schema would cost a single call more
//! than all its other steps. The fast path only confirms that arguments fit; mismatches are found by the
//! compiled schema.

use std::collections::HashMap;

use serde_json::Value;

/// Annotation keywords, which do not restrict values. Formats are never checked.
const ANNOTATIONS: [&str; 7] =
    ["title", "description", "default", "examples", "format", "deprecated", "$comment"];

/// A schema of an object with named properties of basic types.
#[derive(Debug)]
pub(super) struct SimpleSchema {
    properties: HashMap<String, Kind>,
    required: Vec<String>,
    /// Whether other properties are allowed.
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

impl SimpleSchema {
    /// The simple form of a schema, if it has one.
    pub(super) fn from_schema(schema: &Value) -> Option<Self> {
        let mut simple = Self { properties: HashMap::new(), required: Vec::new(), open: true };
        let schema = schema.as_object()?;
        (schema.get("type")? == "object").then_some(())?;
        for (keyword, value) in schema {
            match keyword.as_str() {
                // A simple schema means the same in every draft.
                "type" | "$schema" => {}
                "properties" => {
                    let named = value
                        .as_object()?
                        .iter()
                        .map(|(name, schema)| Some((name.clone(), property_kind(schema)?)));
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
    pub(super) fn accepts_arguments(&self, arguments: &Value) -> bool {
        let Some(arguments) = arguments.as_object() else { return false };
        let has_all = self.required.iter().all(|name| arguments.contains_key(name));
        has_all
            && arguments.iter().all(|(name, value)| match self.properties.get(name) {
                Some(kind) => kind.accepts_value(value),
                None => self.open,
            })
    }
}

/// The type of a property, if its schema restricts nothing but the type.
fn property_kind(schema: &Value) -> Option<Kind> {
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
    fn accepts_value(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::String => value.is_string(),
            // `1.0` is an integer too; the compiled schema accepts it.
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}
