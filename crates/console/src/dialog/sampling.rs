//! The dialog for a request of a server to the model.

use crossterm::event::KeyCode;
use mcparley::model::text::display_line;
use mcparley::sample::{Role, SamplingPart, SamplingRequest};

use super::key_reader::DialogInput;
use super::session::{DialogControls, DialogModel, DialogSize};
use super::styled_line::{StyledLine, Tone, block_lines};

/// The state of a question about a request to the model. Its answer is whether the request may be sent.
#[derive(Debug)]
pub(super) struct SamplingDialog;

impl DialogModel for SamplingDialog {
    type Answer = bool;

    fn handle_input(&mut self, input: &DialogInput) -> Option<bool> {
        let DialogInput::Key(key) = input else { return None };
        match key.code {
            KeyCode::Char('y' | 'Y') => Some(true),
            KeyCode::Char('n' | 'N') | KeyCode::Esc => Some(false),
            _ => None,
        }
    }

    fn controls(&self, _size: DialogSize) -> DialogControls {
        DialogControls {
            keys: "y send it to the model · n or Esc decline · Ctrl-C cancel the call".to_owned(),
            ..DialogControls::default()
        }
    }
}

/// The whole request: all texts that the model would be given, and the kinds of other content.
pub(super) fn sampling_facts(request: &SamplingRequest) -> Vec<StyledLine> {
    let mut facts = Vec::new();
    if let Some(system) = &request.system_prompt {
        facts.extend(block_lines(Tone::Plain, "system: ", system));
    }
    for message in &request.messages {
        let role = match message.role {
            Role::User => "user: ",
            Role::Assistant => "model: ",
        };
        for part in &message.content {
            match part {
                SamplingPart::Text(text) => facts.extend(block_lines(Tone::Plain, role, text)),
                SamplingPart::Block(block) => {
                    let kind = block.get("type").and_then(|kind| kind.as_str()).unwrap_or("unknown");
                    facts.push(StyledLine::plain(format!("{role}[{}]", display_line(kind))));
                }
            }
        }
    }
    if let Some(tokens) = request.max_tokens {
        facts.push(StyledLine::new(
            Tone::Dim,
            format!("at most {tokens} tokens; the server reads the answer"),
        ));
    }
    facts
}
