//! What a server makes of a prompt: messages with the roles it gives them, cleaned (X3, N7).

use mcparley_model::limits::{DESCRIPTION_CHARS, PROMPT_MESSAGES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean, cut};
use mcparley_wire::RawJson;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Prompt;
use super::error::PromptError;
use crate::call::{Block, blocks};
use crate::sample::Role;

/// What a prompt gave. The server wrote it, and nobody should take it for more than that: it belongs into the roles it
/// names, never into a system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptMessages {
    /// The server that wrote it.
    pub server: ServerName,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in the server's order.
    pub messages: Vec<PromptMessage>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Whose words they are meant to be. Where a server names another role, such as a system's, it is the user's.
    pub role: Role,
    /// What there is to read.
    pub content: Vec<Block>,
}

/// Reads the answer to a `prompts/get`.
pub(super) fn read(prompt: &Prompt, answer: &RawJson) -> Result<PromptMessages, PromptError> {
    let server = prompt.server.clone();
    let Some(mut messages) = answer.elements("messages") else { return Err(PromptError::Damaged { server }) };
    let left_out = messages.len().saturating_sub(PROMPT_MESSAGES);
    messages.truncate(PROMPT_MESSAGES);
    let mut messages: Vec<PromptMessage> = messages.iter().map(message).collect();
    if left_out > 0 {
        let note = Block::Note(format!("{left_out} more messages were left out"));
        messages.push(PromptMessage { role: Role::User, content: vec![note] });
    }
    let description = answer.member("description").and_then(|text| text.decode::<String>().ok());
    let description = description.map(|text| cut(&clean(&text), DESCRIPTION_CHARS).into_owned());
    Ok(PromptMessages { server, description, messages })
}

fn message(raw: &RawJson) -> PromptMessage {
    let role = match raw.member("role").and_then(|role| role.decode::<String>().ok()).as_deref() {
        Some("assistant") => Role::Assistant,
        Some(_) | None => Role::User,
    };
    let content = raw.member("content").map(|content| read_content(&content)).unwrap_or_default();
    let nothing = || vec![Block::Note("a message without content was left out".to_owned())];
    PromptMessage { role, content: if content.is_empty() { nothing() } else { content } }
}

/// One block, as the protocol has it; several, or a text alone, as some servers write it.
fn read_content(content: &RawJson) -> Vec<Block> {
    if let Ok(text) = content.decode::<String>() {
        return vec![Block::Text(clean(&text).into_owned())];
    }
    match content.decode::<Vec<Box<RawValue>>>() {
        Ok(several) => blocks(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>()),
        Err(_) => blocks(&content.as_raw_value().into_iter().collect::<Vec<_>>()),
    }
}
