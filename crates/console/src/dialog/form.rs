//! The dialog for a form that a server asks the user to fill in.
//!
//! | part | module |
//! |---|---|
//! | the fields, the focus and the keys | here |
//! | the value of one field while it is edited | `field_input` |
//! | the rules that a value must follow, in words | `field_rule` |
//! | the lines of the form | `layout` |

mod field_input;
mod field_rule;
mod layout;

use crossterm::event::KeyCode;
use mcparley::elicit::{Elicitation, ElicitationForm, ElicitationReply, FormField};
use mcparley::model::text::display_line;
use serde_json::{Map, Value};

use super::key_reader::DialogInput;
use super::session::{DialogControls, DialogModel, DialogSize};
use super::styled_line::{StyledLine, Tone, block_lines};
use field_input::FieldInput;

/// The state of a form while it is filled in.
#[derive(Debug)]
pub(super) struct FormDialog<'f> {
    form: &'f ElicitationForm,
    entries: Vec<FormEntry<'f>>,
    focus: usize,
    /// The mismatch of the whole form with its schema, after an attempt to send it.
    mismatch: Option<String>,
}

/// One field of the form with its current value.
#[derive(Debug)]
struct FormEntry<'f> {
    field: &'f FormField,
    input: FieldInput,
    /// Whether the user has edited the field or tried to send the form, so that errors are shown.
    is_touched: bool,
}

impl FormEntry<'_> {
    /// The value of the field; `None` if it is left out.
    fn value(&self) -> Result<Option<Value>, String> {
        let value = self.input.value(&self.field.kind)?;
        match &value {
            Some(value) => field_rule::check_value(&self.field.kind, value)?,
            None if self.field.required => return Err("required".to_owned()),
            None => {}
        }
        Ok(value)
    }

    /// The error to show beside the field.
    fn shown_error(&self) -> Option<String> {
        self.value().err().filter(|_| self.is_touched)
    }
}

impl<'f> FormDialog<'f> {
    pub(super) fn new(form: &'f ElicitationForm) -> Self {
        let entry = |field: &'f FormField| FormEntry {
            field,
            input: FieldInput::with_default(field),
            is_touched: false,
        };
        Self { form, entries: form.fields.iter().map(entry).collect(), focus: 0, mismatch: None }
    }

    fn handle_code(&mut self, code: KeyCode) -> FormKey {
        let count = self.entries.len().max(1);
        match code {
            KeyCode::Enter => FormKey::Send,
            KeyCode::Esc => FormKey::Decline,
            KeyCode::Up | KeyCode::BackTab => {
                self.focus = (self.focus + count - 1) % count;
                FormKey::Handled
            }
            KeyCode::Down | KeyCode::Tab => {
                self.focus = (self.focus + 1) % count;
                FormKey::Handled
            }
            _ => FormKey::Edit,
        }
    }

    /// The content to send; `None` if a field is invalid, which gets the focus then.
    fn collect_content(&mut self) -> Option<Value> {
        self.entries.iter_mut().for_each(|entry| entry.is_touched = true);
        if let Some(invalid) = self.entries.iter().position(|entry| entry.value().is_err()) {
            self.focus = invalid;
            return None;
        }
        let filled = self.entries.iter().filter_map(|entry| {
            let value = entry.value().ok().flatten()?;
            Some((entry.field.name.clone(), value))
        });
        let content = Value::Object(filled.collect::<Map<String, Value>>());
        match self.form.check_content(&content) {
            Ok(()) => Some(content),
            Err(mismatches) => {
                let reasons: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
                self.mismatch = Some(display_line(&reasons.join("; ")).into_owned());
                None
            }
        }
    }
}

/// The meaning of a key in a form.
enum FormKey {
    Send,
    Decline,
    Handled,
    /// The key belongs to the focused field.
    Edit,
}

impl DialogModel for FormDialog<'_> {
    type Answer = ElicitationReply;

    fn handle_input(&mut self, input: &DialogInput) -> Option<ElicitationReply> {
        if *input != DialogInput::Resize {
            self.mismatch = None;
        }
        let meaning = match input {
            DialogInput::Key(key) => self.handle_code(key.code),
            DialogInput::Paste(_) => FormKey::Edit,
            DialogInput::Resize => FormKey::Handled,
        };
        match meaning {
            FormKey::Send => self.collect_content().map(ElicitationReply::Accept),
            FormKey::Decline => Some(ElicitationReply::Decline),
            FormKey::Handled => None,
            FormKey::Edit => {
                if let Some(entry) = self.entries.get_mut(self.focus) {
                    entry.is_touched |= entry.input.handle_input(input);
                }
                None
            }
        }
    }

    fn controls(&self, size: DialogSize) -> DialogControls {
        layout::layout_form(self, size)
    }
}

/// The facts about a form: the server's message, and the server that gets the answers.
pub(super) fn form_facts(question: &Elicitation<'_>) -> Vec<StyledLine> {
    let mut facts = block_lines(Tone::Plain, "", question.message);
    let server = display_line(question.server.as_str());
    facts.push(StyledLine::new(Tone::Dim, "Answers go to: ").with(Tone::Bold, server));
    if !question.is_call_known {
        facts.push(StyledLine::new(Tone::Dim, "It belongs to one of the calls in flight."));
    }
    facts
}

/// The sentence about the reply that stays on the screen.
pub(super) fn form_outcome(question: &Elicitation<'_>, reply: &ElicitationReply) -> String {
    let server = display_line(question.server.as_str());
    match reply {
        ElicitationReply::Accept(_) => format!("Sent to {server}"),
        ElicitationReply::Decline => "Declined".to_owned(),
        ElicitationReply::Cancel => "Canceled".to_owned(),
    }
}

#[cfg(test)]
mod tests;
