//! Reads `autoClassifier`: the command that decides in mode `auto`.
//!
//! The command decides about every call, so a file that a project can bring must not set it.

use std::time::Duration;

use super::{MergedSettings, SettingsLayer};
use crate::config::Spanned;
use crate::document::Node;

/// The classifier command that decides in mode `auto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifierCommand {
    /// The program.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The timeout.
    pub timeout: Option<Duration>,
}

impl MergedSettings {
    pub(super) fn read_classifier(&mut self, value: Node<'_>, layer: SettingsLayer) {
        match layer {
            SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User => {}
            SettingsLayer::Private | SettingsLayer::Local | SettingsLayer::Project => {
                let text = "`autoClassifier` counts only in managed and user settings".to_owned();
                return self.add_warning(value, text);
            }
        }
        match parse_classifier(value) {
            Some(found) => self.classifier = Some(Spanned { value: found, origin: value.origin() }),
            None => self.add_warning(
                value,
                r#"`autoClassifier` is written `{"command": "…", "args": ["…"], "timeout": 10000}`; arguments and milliseconds may be left out"#
                    .to_owned(),
            ),
        }
    }
}

fn parse_classifier(value: Node<'_>) -> Option<ClassifierCommand> {
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
