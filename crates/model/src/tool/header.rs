//! Arguments that are told in HTTP headers too, so that a gateway can route a call unread (SEP-2243).
//!
//! A schema marks them with `x-mcp-header`. One mark that breaks the rules makes the whole tool unusable: its
//! server would refuse every call (2026-07-28, Streamable HTTP, "Schema Extension").

use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The keyword that marks an argument.
const MARK: &str = "x-mcp-header";

/// What stands before its name in the header.
const PREFIX: &str = "Mcp-Param-";

/// Keywords whose value is a map from names to schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is data and no schema.
const DATA: [&str; 5] = ["default", "const", "enum", "examples", "required"];

/// The largest whole number that every JSON reader keeps exact.
const SAFE: u64 = (1 << 53) - 1;

/// An argument that is told in a header too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The whole name of the header.
    header: String,
    /// The names that lead to the argument.
    path: Vec<String>,
}

/// What is wrong with a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// It is no name that a header can have.
    Name,
    /// Another mark has the same name; headers know no small and large letters.
    Twice,
    /// The argument is not said to be a string, an integer or a boolean.
    Kind,
    /// It stands where no names lead to.
    Place,
}

impl HeaderParam {
    /// Finds the marks of a schema that is not read yet; few have any.
    pub(super) fn read_marked(schema: &RawValue) -> Result<Vec<Self>, HeaderFault> {
        let json = schema.get();
        // A mark can be written with escapes too.
        if !json.contains(MARK) && !json.contains("\\u") {
            return Ok(Vec::new());
        }
        // What cannot be read has no marks; whoever uses the schema will tell.
        serde_json::from_str(json).map_or_else(|_| Ok(Vec::new()), |schema| Self::read_all(&schema))
    }

    /// Finds the marks of a schema.
    pub(super) fn read_all(schema: &Value) -> Result<Vec<Self>, HeaderFault> {
        let mut found = Vec::new();
        look(schema, Some(&mut Vec::new()), &mut found)?;
        Ok(found)
    }

    fn new(mark: &Value, schema: &Map<String, Value>, path: &[String]) -> Result<Self, HeaderFault> {
        let name = mark.as_str().filter(|name| is_token(name)).ok_or(HeaderFault::Name)?;
        if path.is_empty() {
            return Err(HeaderFault::Place);
        }
        if !is_plain(schema.get("type")) {
            return Err(HeaderFault::Kind);
        }
        Ok(Self { header: format!("{PREFIX}{name}"), path: path.to_vec() })
    }

    /// The header's name and what it says; nothing for an argument that is not given, or null.
    fn to_header(&self, arguments: &Value) -> Option<(String, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.as_object()?.get(name))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(number) => whole(number)?,
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((self.header.clone(), text))
    }
}

/// The headers of a call, as plain text: whoever sends them encodes what a header cannot hold.
#[must_use]
pub fn headers(params: &[HeaderParam], arguments: &RawValue) -> Vec<(String, String)> {
    if params.is_empty() {
        return Vec::new();
    }
    // What is no JSON has no arguments; the call itself will tell.
    let arguments = serde_json::from_str(arguments.get()).unwrap_or(Value::Null);
    params.iter().filter_map(|param| param.to_header(&arguments)).collect()
}

/// Looks through a schema. Without a path there is no way to it by names alone.
fn look(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    found: &mut Vec<HeaderParam>,
) -> Result<(), HeaderFault> {
    let schemas = match schema {
        Value::Object(schema) => schema,
        Value::Array(schemas) => return schemas.iter().try_for_each(|schema| look(schema, None, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(()),
    };
    if let Some(mark) = schemas.get(MARK) {
        let path = path.as_deref().ok_or(HeaderFault::Place)?;
        let param = HeaderParam::new(mark, schemas, path)?;
        if found.iter().any(|other| other.header.eq_ignore_ascii_case(&param.header)) {
            return Err(HeaderFault::Twice);
        }
        found.push(param);
    }
    for (keyword, value) in schemas.iter().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())) {
        match (value, &mut path) {
            (Value::Object(properties), Some(path)) if keyword == "properties" => {
                for (name, schema) in properties {
                    path.push(name.clone());
                    look(schema, Some(path), found)?;
                    path.pop();
                }
            }
            // Their keys are names, and none of them is a keyword.
            (Value::Object(named), _) if NAMED.contains(&keyword.as_str()) => {
                named.values().try_for_each(|schema| look(schema, None, found))?;
            }
            (value, _) => look(value, None, found)?,
        }
    }
    Ok(())
}

/// One of the three kinds, and possibly null, which has no header.
fn is_plain(kind: Option<&Value>) -> bool {
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

/// `token` of RFC 9110, 5.6.2.
fn is_token(name: &str) -> bool {
    let is_mark = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

/// Decimal, however it is written: `42.0` is 42. What is no safe whole number has no header.
fn whole(number: &serde_json::Number) -> Option<String> {
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
            Self::Name => "is no name of a header",
            Self::Twice => "names the same header twice",
            Self::Kind => "marks what is not a string, an integer or a boolean",
            Self::Place => "stands where no names lead to",
        })
    }
}

#[cfg(test)]
mod tests;
