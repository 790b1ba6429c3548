//! Inserts a value into the arguments at its path.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::error::ToolArgumentError;
use super::value::ArgumentValue;

/// The error of an insertion at a path that already has a value.
#[derive(Debug)]
pub(super) struct PathOccupied;

/// Inserts a value at a path; with `appends` it is added to the elements that are already there.
pub(super) fn insert_value(
    arguments: &mut Map<String, Value>,
    path: &[&str],
    given: ArgumentValue,
    appends: bool,
) -> Result<(), PathOccupied> {
    match path {
        [] => Err(PathOccupied),
        [name] => insert_last(arguments, name, given, appends),
        [name, rest @ ..] => {
            let inner = arguments.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            insert_value(inner.as_object_mut().ok_or(PathOccupied)?, rest, given, appends)
        }
    }
}

fn insert_last(
    arguments: &mut Map<String, Value>,
    name: &str,
    given: ArgumentValue,
    appends: bool,
) -> Result<(), PathOccupied> {
    match arguments.entry(name) {
        Entry::Vacant(vacant) => {
            vacant.insert(match given {
                ArgumentValue::One(value) => value,
                ArgumentValue::Elements(elements) => Value::Array(elements),
            });
            Ok(())
        }
        Entry::Occupied(_) if !appends => Err(PathOccupied),
        Entry::Occupied(mut occupied) => {
            let mut all = into_elements(occupied.get_mut().take());
            all.extend(match given {
                ArgumentValue::One(value) => into_elements(value),
                ArgumentValue::Elements(elements) => elements,
            });
            occupied.insert(Value::Array(all));
            Ok(())
        }
    }
}

/// The elements of a value; a single value becomes an array once another is appended.
fn into_elements(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements,
        value => vec![value],
    }
}

impl PathOccupied {
    /// The error about this word.
    pub(super) fn into_error(self, word: &str) -> ToolArgumentError {
        ToolArgumentError::Twice { word: word.to_owned() }
    }
}
