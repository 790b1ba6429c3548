//! Splits a typed line into words as a shell does, and keeps the place of each word in the line.
//!
//! Quotes of either kind keep spaces. In double quotes and outside of any a backslash escapes the next
//! character. JSON needs no quotes: `{…}` at the start of a word and `key:={…}` reach to the matching bracket.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

/// A word of a line, without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedWord {
    /// The text without quotes and escapes.
    pub(crate) text: String,
    /// The bytes of the line that the word takes, quotes included.
    pub(crate) span: Range<usize>,
}

/// A line, split into words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SplitLine {
    /// The words, in order.
    pub(crate) words: Vec<TypedWord>,
    /// The quote or bracket that is never closed. The last word reaches to the end of the line then.
    pub(crate) unclosed: Option<char>,
}

impl SplitLine {
    /// Splits a line. Any text can be split; an open quote is reported beside the words.
    pub(crate) fn parse(line: &str) -> Self {
        let mut splitter = LineSplitter { line, at: 0, unclosed: None };
        let mut words = Vec::new();
        while let Some(word) = splitter.next_word() {
            words.push(word);
        }
        Self { words, unclosed: splitter.unclosed }
    }

    /// The texts of the words after the first `skipped` ones.
    pub(crate) fn texts_after(&self, skipped: usize) -> Vec<String> {
        self.words.iter().skip(skipped).map(|word| word.text.clone()).collect()
    }

    /// The text of the word at this index.
    pub(crate) fn text(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(|word| word.text.as_str())
    }
}

/// Writes a text so that [`SplitLine`] reads it as one word.
pub(crate) fn quote_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    // A mention is found by its `@`, which stands before the quotes.
    Cow::Owned(text.strip_prefix('@').map_or_else(|| quote(text), |mention| format!("@{}", quote(mention))))
}

struct LineSplitter<'l> {
    line: &'l str,
    /// The byte position of the next character.
    at: usize,
    unclosed: Option<char>,
}

impl LineSplitter<'_> {
    fn next_word(&mut self) -> Option<TypedWord> {
        while self.peek_char().is_some_and(char::is_whitespace) {
            self.take_char();
        }
        let start = self.at;
        self.peek_char()?;
        let mut text = String::new();
        while let Some(character) = self.peek_char().filter(|character| !character.is_whitespace()) {
            if is_json_start(&text, character) {
                self.take_json(&mut text);
                continue;
            }
            self.take_char();
            match character {
                '"' | '\'' => self.take_quoted(character, &mut text),
                '\\' => text.push(self.take_char().unwrap_or('\\')),
                character => text.push(character),
            }
        }
        Some(TypedWord { text, span: start..self.at })
    }

    fn take_quoted(&mut self, quote: char, text: &mut String) {
        loop {
            match self.take_char() {
                None => {
                    self.unclosed = Some(quote);
                    return;
                }
                Some(character) if character == quote => return,
                Some('\\') if quote == '"' => text.push(self.take_char().unwrap_or('\\')),
                Some(character) => text.push(character),
            }
        }
    }

    /// Takes a JSON object or array up to its matching bracket, unchanged.
    fn take_json(&mut self, text: &mut String) {
        let (mut depth, mut is_in_string) = (0_usize, false);
        let opening = self.peek_char();
        while let Some(character) = self.take_char() {
            text.push(character);
            match character {
                '\\' if is_in_string => text.extend(self.take_char()),
                '"' => is_in_string = !is_in_string,
                '{' | '[' if !is_in_string => depth += 1,
                '}' | ']' if !is_in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
        self.unclosed = opening;
    }

    fn peek_char(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    fn take_char(&mut self) -> Option<char> {
        let character = self.peek_char()?;
        self.at += character.len_utf8();
        Some(character)
    }
}

/// Whether JSON begins with this character: at the start of a word, or after `key:=`.
fn is_json_start(before: &str, character: char) -> bool {
    match character {
        '{' => before.is_empty() || before.ends_with(":="),
        '[' => before.ends_with(":="),
        _ => false,
    }
}
