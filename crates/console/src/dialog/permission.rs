//! The dialog that asks for the permission of a tool call.

use crossterm::event::KeyCode;
use mcparley::PermissionAnswer;
use mcparley::config::change::AlwaysAllowScope;
use mcparley::model::limits::QUESTION_CHARS;
use mcparley::model::text::{display_json, display_line, truncate_text};
use mcparley::model::tool::ToolHints;
use mcparley::permission::PermissionSummary;
use serde_json::Value;

use super::key_reader::DialogInput;
use super::line_edit::LineEdit;
use super::session::{DialogControls, DialogModel, DialogSize};
use super::styled_line::{StyledLine, Tone, block_lines};

/// The scope of "always allow … here": this project, in its own file for the user.
const HERE: AlwaysAllowScope = AlwaysAllowScope::Local;

/// A choice of the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermissionChoice {
    Once,
    AlwaysTool,
    AlwaysServer,
    Deny,
    DenyWithReason,
}

/// The state of a permission question.
#[derive(Debug)]
pub(super) struct PermissionDialog {
    server: String,
    choices: Vec<PermissionChoice>,
    selected: usize,
    /// The reason for a denial, while it is typed.
    reason: Option<LineEdit>,
}

impl PermissionDialog {
    pub(super) fn new(question: &PermissionSummary) -> Self {
        let always =
            question.offers_always.then_some([PermissionChoice::AlwaysTool, PermissionChoice::AlwaysServer]);
        let mut choices = vec![PermissionChoice::Once];
        choices.extend(always.into_iter().flatten());
        choices.extend([PermissionChoice::Deny, PermissionChoice::DenyWithReason]);
        let server = question.server.as_deref().map(|server| display_line(server).into_owned());
        Self { server: server.unwrap_or_default(), choices, selected: 0, reason: None }
    }

    /// The sentence about the answer that stays on the screen.
    pub(super) fn describe_answer(answer: &PermissionAnswer) -> String {
        match answer {
            PermissionAnswer::Allow => "Allowed once".to_owned(),
            PermissionAnswer::Always(_) => "Always allowed here".to_owned(),
            PermissionAnswer::AlwaysServer(_) => "Every tool of the server is always allowed here".to_owned(),
            PermissionAnswer::Deny(_) => "Denied".to_owned(),
        }
    }

    fn choice_label(&self, choice: PermissionChoice) -> String {
        match choice {
            PermissionChoice::Once => "Allow once".to_owned(),
            PermissionChoice::AlwaysTool => "Always allow this tool here".to_owned(),
            PermissionChoice::AlwaysServer => format!("Always allow server {} here", self.server),
            PermissionChoice::Deny => "Deny".to_owned(),
            PermissionChoice::DenyWithReason => "Deny and say why".to_owned(),
        }
    }

    fn choose_answer(&mut self, index: usize) -> Option<PermissionAnswer> {
        let choice = *self.choices.get(index)?;
        self.selected = index;
        match choice {
            PermissionChoice::Once => Some(PermissionAnswer::Allow),
            PermissionChoice::AlwaysTool => Some(PermissionAnswer::Always(HERE)),
            PermissionChoice::AlwaysServer => Some(PermissionAnswer::AlwaysServer(HERE)),
            PermissionChoice::Deny => Some(deny_call(None)),
            PermissionChoice::DenyWithReason => {
                self.reason = Some(LineEdit::default());
                None
            }
        }
    }

    fn handle_choice_key(&mut self, code: KeyCode) -> Option<PermissionAnswer> {
        let count = self.choices.len();
        match code {
            KeyCode::Up | KeyCode::BackTab => self.selected = (self.selected + count - 1) % count,
            KeyCode::Down | KeyCode::Tab => self.selected = (self.selected + 1) % count,
            KeyCode::Enter => return self.choose_answer(self.selected),
            KeyCode::Esc | KeyCode::Char('n') => return Some(deny_call(None)),
            KeyCode::Char('y') => return Some(PermissionAnswer::Allow),
            KeyCode::Char(digit) => {
                let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok())?;
                return self.choose_answer(number.checked_sub(1)?);
            }
            _ => {}
        }
        None
    }
}

impl DialogModel for PermissionDialog {
    type Answer = PermissionAnswer;

    fn handle_input(&mut self, input: &DialogInput) -> Option<PermissionAnswer> {
        match (input, &mut self.reason) {
            (DialogInput::Key(key), None) => self.handle_choice_key(key.code),
            (DialogInput::Key(key), Some(reason)) => match key.code {
                KeyCode::Enter => Some(deny_call(Some(reason.to_text().trim()))),
                KeyCode::Esc => {
                    self.reason = None;
                    None
                }
                _ => {
                    reason.handle_key(*key);
                    None
                }
            },
            (DialogInput::Paste(text), Some(reason)) => {
                reason.insert_text(text);
                None
            }
            (DialogInput::Paste(_) | DialogInput::Resize, _) => None,
        }
    }

    fn controls(&self, size: DialogSize) -> DialogControls {
        if let Some(reason) = &self.reason {
            let label = "Reason: ";
            let (text, column) = reason.view(size.columns.saturating_sub(label.len()));
            return DialogControls {
                lines: vec![StyledLine::new(Tone::Bold, label).with(Tone::Plain, text)],
                cursor: Some((0, label.len() + column)),
                keys: "Enter deny with this reason · Esc back · Ctrl-C cancel the call".to_owned(),
            };
        }
        let line = |(at, choice): (usize, &PermissionChoice)| {
            let (marker, tone) =
                if at == self.selected { ("> ", Tone::Selected) } else { ("  ", Tone::Plain) };
            StyledLine::new(tone, format!("{marker}{} {}", at + 1, self.choice_label(*choice)))
        };
        DialogControls {
            lines: self.choices.iter().enumerate().map(line).collect(),
            cursor: None,
            keys: "number, or ↑↓ and Enter · Esc deny · Ctrl-C cancel the call".to_owned(),
        }
    }
}

fn deny_call(reason: Option<&str>) -> PermissionAnswer {
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => PermissionAnswer::Deny(format!("the user denied it: {reason}")),
        None => PermissionAnswer::Deny("the user denied it".to_owned()),
    }
}

/// The facts about the call: tool, arguments in full, the reason of the question and a changed definition.
pub(super) fn permission_facts(question: &PermissionSummary) -> Vec<StyledLine> {
    let server = question.server.as_deref().map(|server| format!("{} · ", display_line(server)));
    let tool = display_line(&question.tool);
    let head = StyledLine::new(Tone::Bold, format!("{}{tool}", server.unwrap_or_default()));
    let mut facts = vec![head.with(Tone::Warning, hint_labels(question.hints))];
    let description = truncate_text(question.description.trim(), QUESTION_CHARS);
    facts.extend(block_lines(Tone::Dim, "", &description));
    facts.extend(argument_lines(&question.arguments));
    facts.push(StyledLine::new(Tone::Dim, "Why asked: ").with(Tone::Plain, display_line(&question.reason)));
    if let Some(change) = &question.change {
        facts.push(StyledLine::new(
            Tone::Warning,
            "! The tool has changed since it was first seen or last reviewed:",
        ));
        facts.extend(block_lines(Tone::Plain, "  ", change));
    }
    facts
}

/// The declared effects of a tool, as the server states them.
fn hint_labels(hints: ToolHints) -> String {
    let labels = [
        (hints.read_only, "read-only"),
        (hints.destructive && !hints.read_only, "destructive"),
        (hints.idempotent && !hints.read_only, "idempotent"),
        (hints.open_world, "open world"),
    ];
    labels.iter().filter(|(holds, _)| *holds).map(|(_, label)| format!("  [{label}]")).collect()
}

/// Each argument on its own line, in full; inner lines of a value are indented.
fn argument_lines(arguments: &Value) -> Vec<StyledLine> {
    let Some(members) = arguments.as_object() else {
        return json_lines("", arguments);
    };
    if members.is_empty() {
        return vec![StyledLine::new(Tone::Dim, "no arguments")];
    }
    members.iter().flat_map(|(name, value)| json_lines(&format!("{}: ", display_line(name)), value)).collect()
}

fn json_lines(label: &str, value: &Value) -> Vec<StyledLine> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let text = display_json(&text).into_owned();
    let mut lines = text.lines();
    let first = StyledLine::new(Tone::Bold, label).with(Tone::Plain, lines.next().unwrap_or_default());
    [first].into_iter().chain(lines.map(|line| StyledLine::plain(format!("  {line}")))).collect()
}

#[cfg(test)]
mod tests;
