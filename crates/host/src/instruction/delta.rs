//! What has changed in the instructions between two turns (X4).

use mcparley_model::name::ServerName;
use mcparley_model::text::display;
use serde::Serialize;

use super::{Instruction, Instructions, rendered};

const HEADING: &str = "# MCP server instructions: changes\n\nWhat follows are the words of the servers themselves. They \
                       take the place of what these servers said before.";

/// What has changed in the instructions since an earlier turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InstructionsDelta {
    /// Servers that had none before.
    pub added: Vec<Instruction>,
    /// Servers that say something else than before.
    pub changed: Vec<Instruction>,
    /// Servers that have none any more.
    pub gone: Vec<ServerName>,
}

impl InstructionsDelta {
    pub(super) fn between(previous: &Instructions, now: &Instructions) -> Self {
        let mut delta = Self::default();
        for section in now.iter() {
            match previous.of(&section.server) {
                None => delta.added.push(section.clone()),
                Some(before) if before.text != section.text => delta.changed.push(section.clone()),
                Some(_) => {}
            }
        }
        let gone = previous.iter().filter(|before| now.of(&before.server).is_none());
        delta.gone = gone.map(|before| before.server.clone()).collect();
        delta
    }

    /// Whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }

    /// What a model has to be told; empty when nothing has changed.
    #[must_use]
    pub fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let said: Vec<Instruction> = self.added.iter().chain(&self.changed).cloned().collect();
        let mut text = rendered(HEADING, &said);
        for server in &self.gone {
            let server = display(server.as_str());
            text.push_str(&format!("\n\n## {server}\n\nThis server has no instructions any more."));
        }
        text
    }
}
