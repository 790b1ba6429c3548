//! Puts a value into the arguments, where its path says.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::value::Given;
use crate::error::CommandError;

/// There is something at that place already.
#[derive(Debug)]
pub(super) struct Taken;

/// Puts it there; where `appends`, behind what is there already.
pub(super) fn put(
    arguments: &mut Map<String, Value>,
    path: &[&str],
    given: Given,
    appends: bool,
) -> Result<(), Taken> {
    match path {
        [] => Err(Taken),
        [name] => put_last(arguments, name, given, appends),
        [name, rest @ ..] => {
            let inner = arguments.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            put(inner.as_object_mut().ok_or(Taken)?, rest, given, appends)
        }
    }
}

fn put_last(
    arguments: &mut Map<String, Value>,
    name: &str,
    given: Given,
    appends: bool,
) -> Result<(), Taken> {
    match arguments.entry(name) {
        Entry::Vacant(vacant) => {
            vacant.insert(match given {
                Given::One(value) => value,
                Given::Elements(elements) => Value::Array(elements),
            });
            Ok(())
        }
        Entry::Occupied(_) if !appends => Err(Taken),
        Entry::Occupied(mut occupied) => {
            let mut all = elements(occupied.get_mut().take());
            all.extend(match given {
                Given::One(value) => elements(value),
                Given::Elements(elements) => elements,
            });
            occupied.insert(Value::Array(all));
            Ok(())
        }
    }
}

/// What may be one value or several is several once it is given twice.
fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements,
        value => vec![value],
    }
}

impl Taken {
    /// As an error about this word.
    pub(super) fn of(self, word: &str) -> CommandError {
        CommandError::usage(
            format!("`{word}` is given twice"),
            "give it once; only arrays may be given in parts",
        )
    }
}
