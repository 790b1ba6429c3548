//! Parses the messages of a prompt, with the roles that the server gives them, sanitized.

use mcparley_model::limits::{DESCRIPTION_CHARS, PROMPT_MESSAGES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_wire::RawJson;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Prompt;
use super::error::PromptError;
use mcparley_pool::sample::Role;
use mcparley_results::{ContentBlock, read_blocks};

/// The messages of a prompt. The text is the server's and untrusted: it belongs in the roles it names, never
/// in a system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptMessages {
    /// The server that wrote the messages.
    pub server: ServerName,
    /// The description of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in the server's order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The role of the message. Roles other than user and assistant, such as system, count as user.
    pub role: Role,
    /// The content of the message.
    pub content: Vec<ContentBlock>,
}

/// Parses the answer to a `prompts/get`.
pub(super) fn parse_messages(prompt: &Prompt, answer: &RawJson) -> Result<PromptMessages, PromptError> {
    let server = prompt.server.clone();
    let Some(mut messages) = answer.member_elements("messages") else {
        return Err(PromptError::Damaged { server });
    };
    let left_out = messages.len().saturating_sub(PROMPT_MESSAGES);
    messages.truncate(PROMPT_MESSAGES);
    let mut messages: Vec<PromptMessage> = messages.iter().map(parse_message).collect();
    if left_out > 0 {
        let note = ContentBlock::Note(format!("{left_out} more messages were left out"));
        messages.push(PromptMessage { role: Role::User, content: vec![note] });
    }
    let description = answer.member("description").and_then(|text| text.decode::<String>().ok());
    let description =
        description.map(|text| truncate_text(&clean_text(&text), DESCRIPTION_CHARS).into_owned());
    Ok(PromptMessages { server, description, messages })
}

fn parse_message(raw: &RawJson) -> PromptMessage {
    let role = match raw.member("role").and_then(|role| role.decode::<String>().ok()).as_deref() {
        Some("assistant") => Role::Assistant,
        Some(_) | None => Role::User,
    };
    let content = raw.member("content").map(|content| parse_content(&content)).unwrap_or_default();
    let nothing = || vec![ContentBlock::Note("a message without content was left out".to_owned())];
    PromptMessage { role, content: if content.is_empty() { nothing() } else { content } }
}

/// Parses one block, as in the protocol; or a list of blocks, or a plain text, as some servers write it.
fn parse_content(content: &RawJson) -> Vec<ContentBlock> {
    if let Ok(text) = content.decode::<String>() {
        return vec![ContentBlock::Text(clean_text(&text).into_owned())];
    }
    match content.decode::<Vec<Box<RawValue>>>() {
        Ok(several) => read_blocks(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>()),
        Err(_) => read_blocks(&content.as_raw_value().into_iter().collect::<Vec<_>>()),
    }
}
