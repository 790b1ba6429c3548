//! What an editor would ask a person for when a server starts: VS Code's `inputs`.
//!
//! Nobody can be asked here, so each becomes an environment variable a person sets.

use serde_json::Value;

use super::variables::variable_name;

/// The longest part of a description worth showing in a note.
const DESCRIPTION_CHARS: usize = 120;

/// The inputs a text declares.
#[derive(Default)]
pub(super) struct Inputs(Vec<Input>);

struct Input {
    id: String,
    description: Option<String>,
    default: Option<String>,
}

impl Inputs {
    /// The inputs in `lists`; what is not one is passed over, for only its user can miss it.
    pub(super) fn new(lists: impl Iterator<Item = Value>) -> Self {
        let items = lists.filter_map(|list| match list {
            Value::Array(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
        });
        Self(items.flatten().filter_map(|item| Input::new(&item)).collect())
    }

    /// The reference that takes the place of input `id`.
    ///
    /// A default stays one, unless our own syntax cannot hold it.
    pub(super) fn reference(&self, id: &str) -> String {
        let default = self.get(id).and_then(|input| input.default.as_deref());
        match default.filter(|default| !default.is_empty() && !default.contains(['$', '}'])) {
            Some(default) => format!("${{{}:-{default}}}", variable_name(id)),
            None => format!("${{{}}}", variable_name(id)),
        }
    }

    /// What tells a person which variable to set and for what.
    pub(super) fn note(&self, id: &str) -> String {
        let variable = variable_name(id);
        match self.get(id).and_then(|input| input.description.as_deref()) {
            Some(description) => {
                let description: String = description.chars().take(DESCRIPTION_CHARS).collect();
                format!("set the variable `{variable}`: it stands for the input `{id}` ({description})")
            }
            None => format!("set the variable `{variable}`: it stands for the input `{id}`"),
        }
    }

    fn get(&self, id: &str) -> Option<&Input> {
        self.0.iter().find(|input| input.id == id)
    }
}

impl Input {
    fn new(item: &Value) -> Option<Self> {
        let text = |name| item.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { id: text("id")?, description: text("description"), default: text("default") })
    }
}
