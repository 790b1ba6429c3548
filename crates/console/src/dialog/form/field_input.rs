//! The value of one field while the user edits it.

use crossterm::event::{KeyCode, KeyEvent};
use mcparley::elicit::{FieldChoice, FieldKind, FormField};
use serde_json::{Number, Value};

use crate::dialog::key_reader::DialogInput;
use crate::dialog::line_edit::LineEdit;

/// The editable value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldInput {
    /// A text or a number, as typed.
    Line(LineEdit),
    Switch(Option<bool>),
    /// The index of the choice.
    Choice {
        chosen: Option<usize>,
        count: usize,
    },
    /// The chosen ones, and the one that the cursor is on.
    Choices {
        chosen: Vec<bool>,
        cursor: usize,
    },
}

impl FieldInput {
    /// The input of a field, filled in with its default.
    pub(super) fn with_default(field: &FormField) -> Self {
        let default = field.default.as_ref();
        let position = |among: &[FieldChoice], value: &Value| {
            among.iter().position(|choice| value.as_str() == Some(choice.value.as_str()))
        };
        match &field.kind {
            FieldKind::Text { .. } => {
                Self::Line(LineEdit::new(default.and_then(Value::as_str).unwrap_or_default()))
            }
            FieldKind::Number { .. } => {
                Self::Line(LineEdit::new(&default.map(Value::to_string).unwrap_or_default()))
            }
            FieldKind::Switch => Self::Switch(default.and_then(Value::as_bool)),
            FieldKind::Choice(among) => {
                Self::Choice { chosen: default.and_then(|value| position(among, value)), count: among.len() }
            }
            FieldKind::Choices { among, .. } => {
                let values = default.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let is_chosen = |choice: &FieldChoice| values.iter().any(|value| *value == choice.value);
                Self::Choices { chosen: among.iter().map(is_chosen).collect(), cursor: 0 }
            }
        }
    }

    /// Handles an input; returns whether the value may have changed.
    pub(super) fn handle_input(&mut self, input: &DialogInput) -> bool {
        match (self, input) {
            (Self::Line(line), DialogInput::Key(key)) => line.handle_key(*key),
            (Self::Line(line), DialogInput::Paste(text)) => {
                line.insert_text(text);
                true
            }
            (Self::Switch(value), DialogInput::Key(key)) => handle_switch_key(value, *key),
            (Self::Choice { chosen, count }, DialogInput::Key(key)) => {
                handle_choice_key(chosen, *count, *key)
            }
            (Self::Choices { chosen, cursor }, DialogInput::Key(key)) => {
                handle_choices_key(chosen, cursor, *key)
            }
            (_, DialogInput::Paste(_) | DialogInput::Resize) => false,
        }
    }

    /// The value as JSON; `None` if the field is empty.
    ///
    /// # Errors
    /// The text is not a value of the field's kind.
    pub(super) fn value(&self, kind: &FieldKind) -> Result<Option<Value>, String> {
        match (self, kind) {
            (Self::Line(line), FieldKind::Number { whole, .. }) => {
                parse_number(line.to_text().trim(), *whole)
            }
            (Self::Line(line), _) => {
                let text = line.to_text();
                Ok((!text.is_empty()).then_some(Value::String(text)))
            }
            (Self::Switch(value), _) => Ok(value.map(Value::Bool)),
            (Self::Choice { chosen, .. }, FieldKind::Choice(among)) => {
                let choice = chosen.and_then(|at| among.get(at));
                Ok(choice.map(|choice| Value::String(choice.value.clone())))
            }
            (Self::Choices { chosen, .. }, FieldKind::Choices { among, .. }) => {
                let values = among.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen);
                let values: Vec<Value> =
                    values.map(|(choice, _)| Value::String(choice.value.clone())).collect();
                Ok((!values.is_empty()).then_some(Value::Array(values)))
            }
            (Self::Choice { .. } | Self::Choices { .. }, _) => Ok(None),
        }
    }
}

fn parse_number(text: &str, whole: bool) -> Result<Option<Value>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed: Option<Number> = match whole {
        true => text.parse::<i64>().ok().map(Number::from),
        false => serde_json::from_str(text).ok(),
    };
    let expected = if whole { "must be a whole number" } else { "must be a number" };
    parsed.map(|number| Some(Value::Number(number))).ok_or_else(|| expected.to_owned())
}

fn handle_switch_key(value: &mut Option<bool>, key: KeyEvent) -> bool {
    *value = match key.code {
        KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right => Some(!value.unwrap_or(false)),
        KeyCode::Char('y' | 'Y') => Some(true),
        KeyCode::Char('n' | 'N') => Some(false),
        KeyCode::Backspace | KeyCode::Delete => None,
        _ => return false,
    };
    true
}

fn handle_choice_key(chosen: &mut Option<usize>, count: usize, key: KeyEvent) -> bool {
    if count == 0 {
        return false;
    }
    *chosen = match (key.code, *chosen) {
        (KeyCode::Right | KeyCode::Char(' '), Some(at)) => Some((at + 1) % count),
        (KeyCode::Left, Some(at)) => Some((at + count - 1) % count),
        (KeyCode::Right | KeyCode::Char(' '), None) => Some(0),
        (KeyCode::Left, None) => Some(count - 1),
        (KeyCode::Backspace | KeyCode::Delete, _) => None,
        (KeyCode::Char(digit), _) => match digit_index(digit).filter(|at| *at < count) {
            Some(at) => Some(at),
            None => return false,
        },
        _ => return false,
    };
    true
}

fn handle_choices_key(chosen: &mut [bool], cursor: &mut usize, key: KeyEvent) -> bool {
    let count = chosen.len();
    if count == 0 {
        return false;
    }
    match key.code {
        KeyCode::Right => *cursor = (*cursor + 1) % count,
        KeyCode::Left => *cursor = (*cursor + count - 1) % count,
        KeyCode::Char(' ') => toggle_choice(chosen, *cursor),
        KeyCode::Char(digit) => match digit_index(digit).filter(|at| *at < count) {
            Some(at) => {
                *cursor = at;
                toggle_choice(chosen, at);
            }
            None => return false,
        },
        _ => return false,
    }
    true
}

fn toggle_choice(chosen: &mut [bool], at: usize) {
    if let Some(is_chosen) = chosen.get_mut(at) {
        *is_chosen = !*is_chosen;
    }
}

/// The position that a digit names, counted from one.
fn digit_index(digit: char) -> Option<usize> {
    let number = usize::try_from(digit.to_digit(10)?).ok()?;
    number.checked_sub(1)
}
