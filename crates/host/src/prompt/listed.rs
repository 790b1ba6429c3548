//! Reads a prompt as its server lists it: clean, and as far as it can be used (N7, B43).

use std::collections::HashSet;

use mcparley_model::limits::{DESCRIPTION_CHARS, PROMPT_ARGUMENTS};
use mcparley_model::name::{PublicName, ServerName, ToolName};
use mcparley_model::text::{clean, cut};
use mcparley_wire::RawJson;
use serde::Deserialize;
use serde_json::Value;

use super::{Prompt, PromptArgument};

/// A prompt without its command.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) name: ToolName,
    title: Option<String>,
    description: String,
    arguments: Vec<PromptArgument>,
}

/// The prompts that can be used; of several with one name the first.
pub(super) fn all(raw: &[RawJson]) -> Vec<Listed> {
    let mut names = HashSet::new();
    raw.iter().filter_map(Listed::read).filter(|prompt| names.insert(prompt.name.clone())).collect()
}

/// Whether a prompt can be used as it is listed.
pub(crate) fn is_usable(raw: &RawJson) -> bool {
    raw.decode::<Named>().is_ok_and(|named| named.name.is_some_and(|name| !name.is_empty()))
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

impl Listed {
    /// What can be used of it: without a name there is nothing to ask for, and what is of another type is not there.
    fn read(raw: &RawJson) -> Option<Self> {
        let fields: Value = raw.decode().ok()?;
        let name = fields.get("name")?.as_str().filter(|name| !name.is_empty())?;
        let arguments = fields.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let mut seen = HashSet::new();
        Some(Self {
            name: ToolName::new(name),
            title: line(&fields, "title"),
            description: text(&fields, "description").unwrap_or_default(),
            arguments: arguments
                .filter_map(argument)
                .filter(|argument| seen.insert(argument.name.clone()))
                .take(PROMPT_ARGUMENTS)
                .collect(),
        })
    }

    pub(super) fn into_prompt(self, name: PublicName, server: ServerName) -> Prompt {
        let Self { name: original, title, description, arguments } = self;
        Prompt { name, server, original, title, description, arguments }
    }
}

fn argument(fields: &Value) -> Option<PromptArgument> {
    let raw = fields.get("name")?.as_str()?;
    let name = line(fields, "name")?;
    Some(PromptArgument {
        name,
        title: line(fields, "title"),
        description: text(fields, "description"),
        required: fields.get("required").and_then(Value::as_bool).unwrap_or(false),
        raw: raw.to_owned(),
    })
}

/// A text of the server for people and models.
fn text(fields: &Value, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?;
    Some(cut(&clean(text), DESCRIPTION_CHARS).into_owned())
}

/// The same on one line.
fn line(fields: &Value, name: &str) -> Option<String> {
    let line = text(fields, name)?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
