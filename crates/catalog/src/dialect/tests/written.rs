//! Inverse of restoring arguments, for tests: the text a model would write for a value.

use serde_json::{Map, Value};

use super::super::json_types::JsonTypes;
use super::super::restore::{ArgumentRestorer, TextRestorer};

/// The maximum number of ways to write one value.
const WAYS: usize = 4096;

/// The ways in which a model may write a value of the tool.
///
/// If a text stands for a value, another alternative of the schema may accept the plain value; only the
/// schema tells which of them fits.
pub(super) fn ways_to_write(back: &ArgumentRestorer, value: &Value) -> Vec<Value> {
    let text = match &back.text {
        TextRestorer::Json => Some(value.to_string()),
        TextRestorer::Choice(values) => {
            values.iter().find(|(_, known)| known == value).map(|(shown, _)| shown.clone())
        }
        TextRestorer::Itself => None,
    };
    let is_taken = !value.is_string() && back.kinds.contains(JsonTypes::from_value(value));
    let may_stay = match &back.text {
        TextRestorer::Json => is_taken,
        TextRestorer::Choice(_) => text.is_none() || is_taken,
        TextRestorer::Itself => true,
    };
    let mut ways: Vec<Value> = text.map(Value::String).into_iter().collect();
    if may_stay {
        ways.extend(ways_to_write_parts(back, value));
    }
    ways
}

fn ways_to_write_parts(back: &ArgumentRestorer, value: &Value) -> Vec<Value> {
    match (value, &back.members, &back.elements) {
        (Value::Object(map), Some(members), _) => {
            let parts = map.iter().map(|(name, value)| {
                let known = members.named.iter().find(|(_, (own, _))| own == name);
                let (shown, back) = known.map_or((name, &members.others), |(shown, (_, back))| (shown, back));
                ways_to_write(back, value).into_iter().map(|way| (shown.clone(), way)).collect()
            });
            let objects = combine(parts).into_iter().map(Map::from_iter);
            objects.map(Value::Object).collect()
        }
        (Value::Array(elements), _, Some(back)) => {
            let arrays = combine(elements.iter().map(|element| ways_to_write(back, element)));
            arrays.into_iter().map(Value::Array).collect()
        }
        (value, _, _) => vec![value.clone()],
    }
}

/// All combinations of one way per part, up to the limit.
fn combine<T: Clone>(parts: impl Iterator<Item = Vec<T>>) -> Vec<Vec<T>> {
    parts.fold(vec![Vec::new()], |chosen, ways| {
        let longer = chosen.iter().flat_map(|chosen| {
            ways.iter().map(move |way| [chosen.as_slice(), std::slice::from_ref(way)].concat())
        });
        longer.take(WAYS).collect()
    })
}
