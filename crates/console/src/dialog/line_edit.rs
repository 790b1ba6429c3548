//! A text on one line that the user edits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mcparley::model::text::display_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The longest text that can be typed; a form has no use for more.
const LONGEST_CHARS: usize = 10_000;

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineEdit {
    text: Vec<char>,
    cursor: usize,
}

impl LineEdit {
    /// A text to edit, with the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { cursor: text.len(), text }
    }

    pub(super) fn to_text(&self) -> String {
        self.text.iter().collect()
    }

    /// Handles an editing key; returns whether it was one.
    pub(super) fn handle_key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char('u') if control => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('w') if control => self.delete_word(),
            KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => return false,
            KeyCode::Char(character) => self.insert_character(character),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.text.len() => drop(self.text.remove(self.cursor)),
            KeyCode::Backspace | KeyCode::Delete => {}
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }

    /// Inserts a pasted text; line ends become spaces.
    pub(super) fn insert_text(&mut self, text: &str) {
        for character in text.trim_end_matches(['\r', '\n']).chars() {
            self.insert_character(if character.is_control() { ' ' } else { character });
        }
    }

    /// The part of the text around the cursor that fits into the width, and the column of the cursor in it.
    pub(super) fn view(&self, width: usize) -> (String, usize) {
        let room = width.max(2) - 1;
        let mut start = self.cursor;
        let mut used = 0;
        while let Some(character) = start.checked_sub(1).and_then(|at| self.text.get(at)) {
            used += shown_width(*character);
            if used > room {
                break;
            }
            start -= 1;
        }
        let before: String = self.text.get(start..self.cursor).unwrap_or_default().iter().collect();
        let before = display_line(&before).into_owned();
        let column = before.width();
        let mut shown = before;
        for character in self.text.get(self.cursor..).unwrap_or_default() {
            if shown.width() + shown_width(*character) > room {
                break;
            }
            shown.push_str(&display_line(&character.to_string()));
        }
        (shown, column)
    }

    fn insert_character(&mut self, character: char) {
        if self.text.len() < LONGEST_CHARS {
            self.text.insert(self.cursor, character);
            self.cursor += 1;
        }
    }

    fn delete_word(&mut self) {
        let head = self.text.get(..self.cursor).unwrap_or_default();
        let end = head.iter().rposition(|it| !it.is_whitespace()).map_or(0, |at| at + 1);
        let start = head.get(..end).unwrap_or_default().iter().rposition(|it| it.is_whitespace());
        let start = start.map_or(0, |at| at + 1);
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }
}

/// The columns that a character takes once it is made safe for display.
fn shown_width(character: char) -> usize {
    match character.width() {
        Some(width) if !character.is_control() => width.max(1),
        Some(_) | None => 8,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::LineEdit;

    fn press(edit: &mut LineEdit, codes: &[KeyCode]) {
        for code in codes {
            edit.handle_key(KeyEvent::new(*code, KeyModifiers::NONE));
        }
    }

    // X5
    #[test]
    fn text_is_edited_at_the_cursor() {
        let mut edit = LineEdit::new("helo");
        press(&mut edit, &[KeyCode::Left, KeyCode::Char('l'), KeyCode::End, KeyCode::Char('!')]);
        assert_eq!(edit.to_text(), "hello!");
        press(&mut edit, &[KeyCode::Backspace, KeyCode::Home, KeyCode::Delete]);
        assert_eq!(edit.to_text(), "ello");
        edit.handle_key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(edit.to_text(), "ello", "nothing is before the cursor");
        edit.insert_text("one two\r\n");
        assert_eq!(edit.to_text(), "one twoello");
    }

    // X5
    #[test]
    fn long_text_is_shown_around_the_cursor() {
        let mut edit = LineEdit::new("abcdefghij");
        assert_eq!(edit.view(6), ("fghij".to_owned(), 5));
        press(&mut edit, &[KeyCode::Home]);
        assert_eq!(edit.view(6), ("abcde".to_owned(), 0));
    }
}
