//! Tool arguments that are repeated in HTTP headers, so that a gateway can route a call without parsing it
//! (SEP-2243).
//!
//! A schema marks them with `x-mcp-header`. One invalid mark makes the whole tool unusable: its server
//! would refuse every call (2026-07-28, Streamable HTTP, "Schema Extension").

use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The keyword that marks an argument.
const MARK: &str = "x-mcp-header";

/// The prefix of the header names.
const PREFIX: &str = "Mcp-Param-";

/// Keywords with a map from names to schemas as value.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords with data as value, not schemas.
const DATA: [&str; 5] = ["default", "const", "enum", "examples", "required"];

/// The largest integer that every JSON parser represents exactly.
const SAFE: u64 = (1 << 53) - 1;

/// A tool argument that is repeated in an HTTP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The complete name of the header.
    header: String,
    /// The property names that lead to the argument.
    path: Vec<String>,
    /// Whether the argument is declared as an integer.
    is_integer: bool,
}

/// The fault in an `x-mcp-header` mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// The mark is not a valid header name.
    Name,
    /// Another mark has the same name; header names are case-insensitive.
    Duplicate,
    /// The argument is not declared as a string, an integer or a boolean.
    Kind,
    /// The argument cannot be reached by property names alone.
    Place,
}

impl HeaderParam {
    /// Parses the marks of a raw schema; few schemas have any.
    pub(super) fn parse_schema(schema: &RawValue) -> Result<Vec<Self>, HeaderFault> {
        let json = schema.get();
        // A mark can also be written with escapes.
        if !json.contains(MARK) && !json.contains("\\u") {
            return Ok(Vec::new());
        }
        // A schema that does not parse has no marks; its users will report the error.
        serde_json::from_str(json).map_or_else(|_| Ok(Vec::new()), |schema| Self::collect_params(&schema))
    }

    /// Collects the marks of a parsed schema.
    pub(super) fn collect_params(schema: &Value) -> Result<Vec<Self>, HeaderFault> {
        let mut found = Vec::new();
        collect_marks(schema, Some(&mut Vec::new()), &mut found)?;
        Ok(found)
    }

    fn new(mark: &Value, schema: &Map<String, Value>, path: &[String]) -> Result<Self, HeaderFault> {
        let name = mark.as_str().filter(|name| is_token(name)).ok_or(HeaderFault::Name)?;
        if path.is_empty() {
            return Err(HeaderFault::Place);
        }
        if !is_header_type(schema.get("type")) {
            return Err(HeaderFault::Kind);
        }
        let is_integer = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "integer"),
            kind => kind.is_some_and(|kind| kind == "integer"),
        };
        Ok(Self { header: format!("{PREFIX}{name}"), path: path.to_vec(), is_integer })
    }

    /// The complete name of the header.
    #[must_use]
    pub fn header_name(&self) -> &str {
        &self.header
    }

    /// Whether a header that a client has sent has the value of the argument; an integer may be written as `42.0`.
    #[must_use]
    pub fn is_same_value(&self, argument: &str, sent: &str) -> bool {
        let number = || serde_json::from_str(sent).ok().and_then(|number| whole_number_text(&number));
        argument == sent || (self.is_integer && number().as_deref() == Some(argument))
    }

    /// The header's name and value; `None` for an argument that is missing or null.
    fn to_header(&self, arguments: &Value) -> Option<(String, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.as_object()?.get(name))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(number) => whole_number_text(number)?,
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((self.header.clone(), text))
    }
}

/// The headers of a call, as plain text: the sender encodes characters that a header cannot hold.
#[must_use]
pub fn param_headers(params: &[HeaderParam], arguments: &RawValue) -> Vec<(String, String)> {
    if params.is_empty() {
        return Vec::new();
    }
    // Arguments that are not JSON have no headers; the call itself will report the error.
    let arguments = serde_json::from_str(arguments.get()).unwrap_or(Value::Null);
    params.iter().filter_map(|param| param.to_header(&arguments)).collect()
}

/// Searches a schema for marks. Without a `path` the schema cannot be reached by property names alone.
fn collect_marks(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    found: &mut Vec<HeaderParam>,
) -> Result<(), HeaderFault> {
    let schemas = match schema {
        Value::Object(schema) => schema,
        Value::Array(schemas) => {
            return schemas.iter().try_for_each(|schema| collect_marks(schema, None, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(()),
    };
    if let Some(mark) = schemas.get(MARK) {
        let path = path.as_deref().ok_or(HeaderFault::Place)?;
        let param = HeaderParam::new(mark, schemas, path)?;
        if found.iter().any(|other| other.header.eq_ignore_ascii_case(&param.header)) {
            return Err(HeaderFault::Duplicate);
        }
        found.push(param);
    }
    for (keyword, value) in schemas.iter().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())) {
        match (value, &mut path) {
            (Value::Object(properties), Some(path)) if keyword == "properties" => {
                for (name, schema) in properties {
                    path.push(name.clone());
                    collect_marks(schema, Some(path), found)?;
                    path.pop();
                }
            }
            // The keys of these maps are names, not keywords.
            (Value::Object(named), _) if NAMED.contains(&keyword.as_str()) => {
                named.values().try_for_each(|schema| collect_marks(schema, None, found))?;
            }
            (value, _) => collect_marks(value, None, found)?,
        }
    }
    Ok(())
}

/// Whether the type is one of the three allowed ones, optionally with null, which has no header.
fn is_header_type(kind: Option<&Value>) -> bool {
    let plain = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter(|kind| *kind != "null");
            kinds.next().is_some_and(plain) && kinds.next().is_none()
        }
        Some(kind) => plain(kind),
        None => false,
    }
}

/// Whether the text is a `token` (RFC 9110, 5.6.2).
fn is_token(name: &str) -> bool {
    let is_mark = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

/// An integer in decimal in any notation: `42.0` is 42. `None` if it is not a safe integer.
fn whole_number_text(number: &serde_json::Number) -> Option<String> {
    let is_safe = |number: u64| number <= SAFE;
    if let Some(number) = number.as_i64() {
        return is_safe(number.unsigned_abs()).then(|| number.to_string());
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(clippy::cast_precision_loss, reason = "the largest safe number is exact by definition")]
    let is_safe = number.abs() <= SAFE as f64;
    is_safe.then(|| format!("{number:.0}"))
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "is not a valid header name",
            Self::Duplicate => "names the same header twice",
            Self::Kind => "marks an argument that is not a string, an integer or a boolean",
            Self::Place => "marks an argument that property names alone do not lead to",
        })
    }
}

#[cfg(test)]
mod tests;
