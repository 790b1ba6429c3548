//! Parses prompts as servers list them: sanitized, and without the entries that cannot be used.

use std::collections::HashSet;

use mcparley_model::limits::{DESCRIPTION_CHARS, PROMPT_ARGUMENTS};
use mcparley_model::name::{PublicName, ServerName, ToolName};
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::{Prompt, PromptArgument};

/// A prompt without its command name.
#[derive(Clone, Debug)]
pub(super) struct ListedPrompt {
    pub(super) name: ToolName,
    title: Option<String>,
    description: String,
    arguments: Vec<PromptArgument>,
}

/// Parses the usable prompts; of several with one name the first.
pub(super) fn parse_prompts(raw: &[RawJson]) -> Vec<ListedPrompt> {
    let mut names = HashSet::new();
    raw.iter().filter_map(ListedPrompt::parse).filter(|prompt| names.insert(prompt.name.clone())).collect()
}

impl ListedPrompt {
    /// Parses one prompt. An entry without a name is unusable; members of a wrong type count as absent.
    fn parse(raw: &RawJson) -> Option<Self> {
        let fields: Value = raw.decode().ok()?;
        let name = fields.get("name")?.as_str().filter(|name| !name.is_empty())?;
        let arguments = fields.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let mut seen = HashSet::new();
        Some(Self {
            name: ToolName::new(name),
            title: line_field(&fields, "title"),
            description: text_field(&fields, "description").unwrap_or_default(),
            arguments: arguments
                .filter_map(parse_argument)
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

fn parse_argument(fields: &Value) -> Option<PromptArgument> {
    let raw = fields.get("name")?.as_str()?;
    let name = line_field(fields, "name")?;
    Some(PromptArgument {
        name,
        title: line_field(fields, "title"),
        description: text_field(fields, "description"),
        required: fields.get("required").and_then(Value::as_bool).unwrap_or(false),
        raw: raw.to_owned(),
    })
}

/// A sanitized, shortened text of the server.
fn text_field(fields: &Value, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?;
    Some(truncate_text(&clean_text(text), DESCRIPTION_CHARS).into_owned())
}

/// A sanitized text of the server on one line.
fn line_field(fields: &Value, name: &str) -> Option<String> {
    let line = text_field(fields, name)?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
