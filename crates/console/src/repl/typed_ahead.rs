//! Lines that were typed while a command ran.
//!
//! The line editor takes one line at a time and drops the keys behind it, so keys that wait when it starts are
//! read here first. Complete lines are queued, and the rest becomes the text of the prompt.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;

/// The typed lines that wait, and the text behind them.
#[derive(Debug, Default)]
pub(super) struct TypedAhead {
    lines: VecDeque<String>,
    rest: String,
}

impl TypedAhead {
    /// Reads the keys that wait on the terminal.
    pub(super) fn read_waiting_keys(&mut self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        let read = self.read_events();
        terminal::disable_raw_mode().and(read)
    }

    fn read_events(&mut self) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.push_key(key),
                Event::Paste(text) => self.rest.push_str(&text),
                Event::Key(_)
                | Event::Mouse(_)
                | Event::Resize(..)
                | Event::FocusGained
                | Event::FocusLost => {}
            }
        }
        Ok(())
    }

    fn push_key(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => self.end_line(),
            // The end of a line that the terminal itself has read.
            KeyCode::Char('j') if is_control => self.end_line(),
            KeyCode::Char(letter) if !is_control => self.rest.push(letter),
            KeyCode::Backspace => drop(self.rest.pop()),
            _ => {}
        }
    }

    fn end_line(&mut self) {
        self.lines.push_back(std::mem::take(&mut self.rest));
    }

    /// The next complete line.
    pub(super) fn next_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// The text behind the lines, once they are all taken.
    pub(super) fn take_rest(&mut self) -> String {
        std::mem::take(&mut self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn keys_become_lines_and_the_beginning_of_the_next_one() {
        let mut typed = TypedAhead::default();
        for letter in "/calls\na=\r1b".chars() {
            typed.push_key(match letter {
                '\n' => KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL),
                '\r' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
                letter => KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE),
            });
        }
        typed.push_key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
        typed.push_key(KeyEvent::new(KeyCode::Up, KeyModifiers::NONE));
        let lines: Vec<String> = std::iter::from_fn(|| typed.next_line()).collect();
        assert_eq!((lines, typed.take_rest()), (vec!["/calls".to_owned(), "a=".to_owned()], "1".to_owned()));
    }
}
