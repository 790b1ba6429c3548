//! The delta of the instructions between two turns.

use mcparley_model::name::ServerName;
use mcparley_model::text::display_line;
use serde::Serialize;

use super::{Instruction, Instructions, render_sections};

const HEADING: &str = "# MCP server instructions: changes\n\nWhat follows are the words of the servers themselves. They \
                       take the place of what these servers said before.";

/// The changes in the instructions since an earlier turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InstructionsDelta {
    /// Instructions of servers that had none before.
    pub added: Vec<Instruction>,
    /// Instructions that differ from those before.
    pub changed: Vec<Instruction>,
    /// Servers that have no instructions any more.
    pub gone: Vec<ServerName>,
}

impl InstructionsDelta {
    pub(super) fn between(previous: &Instructions, now: &Instructions) -> Self {
        let mut delta = Self::default();
        for section in now.iter() {
            match previous.for_server(&section.server) {
                None => delta.added.push(section.clone()),
                Some(before) if before.text != section.text => delta.changed.push(section.clone()),
                Some(_) => {}
            }
        }
        let gone = previous.iter().filter(|before| now.for_server(&before.server).is_none());
        delta.gone = gone.map(|before| before.server.clone()).collect();
        delta
    }

    /// Whether no instructions have changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }

    /// The text for a model; empty without changes.
    #[must_use]
    pub fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let said: Vec<Instruction> = self.added.iter().chain(&self.changed).cloned().collect();
        let mut text = render_sections(HEADING, &said);
        for server in &self.gone {
            let server = display_line(server.as_str());
            text.push_str(&format!("\n\n## {server}\n\nThis server has no instructions any more."));
        }
        text
    }
}
