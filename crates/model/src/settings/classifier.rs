//! Reads `autoClassifier`: the command that decides in mode `auto` (P2).
//!
//! Whoever names it decides about every call, so a file that a project can bring does not count.

use std::time::Duration;

use super::{Layer, Settings};
use crate::config::Spanned;
use crate::document::Node;

/// A command that decides in mode `auto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifierCommand {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl Settings {
    pub(super) fn read_classifier(&mut self, value: Node<'_>, layer: Layer) {
        match layer {
            Layer::Managed | Layer::CommandLine | Layer::User => {}
            Layer::Private | Layer::Local | Layer::Project => {
                let text = "`autoClassifier` counts only in managed and user settings".to_owned();
                return self.warn(value, text);
            }
        }
        match command(value) {
            Some(found) => self.classifier = Some(Spanned { value: found, origin: value.origin() }),
            None => self.warn(
                value,
                r#"`autoClassifier` is written `{"command": "…", "args": ["…"], "timeout": 10000}`; arguments and milliseconds may be left out"#
                    .to_owned(),
            ),
        }
    }
}

fn command(value: Node<'_>) -> Option<ClassifierCommand> {
    let command = value.get("command").and_then(Node::as_str).filter(|command| !command.is_empty())?;
    let args = match value.get("args") {
        None => Vec::new(),
        Some(args) => args.as_array()?.map(|arg| arg.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    };
    let timeout = match value.get("timeout") {
        None => None,
        Some(limit) => Some(Duration::from_millis(limit.as_number()?.parse().ok().filter(|ms| *ms > 0)?)),
    };
    Some(ClassifierCommand { command: command.to_owned(), args, timeout })
}
