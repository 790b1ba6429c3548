//! Inputs of VS Code: values that the editor asks the user for when a server starts.
//!
//! An import cannot ask, so each input becomes an environment variable that the user sets.

use serde_json::Value;

use super::variables::variable_name;

/// The maximum length of a description in a note.
const DESCRIPTION_CHARS: usize = 120;

/// The inputs that a file declares.
#[derive(Default)]
pub(super) struct EditorInputs(Vec<EditorInput>);

struct EditorInput {
    id: String,
    description: Option<String>,
    default: Option<String>,
}

impl EditorInputs {
    /// Parses the inputs in `lists`. Invalid ones are skipped, because only a reference to one would miss it.
    pub(super) fn new(lists: impl Iterator<Item = Value>) -> Self {
        let items = lists.filter_map(|list| match list {
            Value::Array(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
        });
        Self(items.flatten().filter_map(|item| EditorInput::new(&item)).collect())
    }

    /// The variable reference that replaces input `id`.
    ///
    /// A default value is kept, unless our syntax cannot express it.
    pub(super) fn variable_reference(&self, id: &str) -> String {
        let default = self.find_input(id).and_then(|input| input.default.as_deref());
        match default.filter(|default| !default.is_empty() && !default.contains(['$', '}'])) {
            Some(default) => format!("${{{}:-{default}}}", variable_name(id)),
            None => format!("${{{}}}", variable_name(id)),
        }
    }

    /// The note that names the variable to set, and its purpose.
    pub(super) fn setup_note(&self, id: &str) -> String {
        let variable = variable_name(id);
        match self.find_input(id).and_then(|input| input.description.as_deref()) {
            Some(description) => {
                let description: String = description.chars().take(DESCRIPTION_CHARS).collect();
                format!("set the variable `{variable}`: it stands for the input `{id}` ({description})")
            }
            None => format!("set the variable `{variable}`: it stands for the input `{id}`"),
        }
    }

    fn find_input(&self, id: &str) -> Option<&EditorInput> {
        self.0.iter().find(|input| input.id == id)
    }
}

impl EditorInput {
    fn new(item: &Value) -> Option<Self> {
        let text = |name| item.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { id: text("id")?, description: text("description"), default: text("default") })
    }
}
