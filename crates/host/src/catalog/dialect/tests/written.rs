//! Arguments the other way round, for tests: what a model would write to mean this.

use serde_json::Value;

use super::super::back::{Back, Text};

/// How a model writes a value that the tool knows.
pub(super) fn written(back: &Back, value: &Value) -> Value {
    match &back.text {
        Text::Json => return Value::String(value.to_string()),
        Text::Choice(values) => {
            if let Some((shown, _)) = values.iter().find(|(_, known)| known == value) {
                return Value::String(shown.clone());
            }
        }
        Text::Itself => {}
    }
    match (value, &back.members, &back.elements) {
        (Value::Object(map), Some(members), _) => {
            let member = |(name, value): (&String, &Value)| {
                let known = members.named.iter().find(|(_, (own, _))| own == name);
                match known {
                    Some((shown, (_, back))) => (shown.clone(), written(back, value)),
                    None => (name.clone(), written(&members.others, value)),
                }
            };
            Value::Object(map.iter().map(member).collect())
        }
        (Value::Array(elements), _, Some(back)) => {
            elements.iter().map(|element| written(back, element)).collect()
        }
        (value, _, _) => value.clone(),
    }
}
