//! Takes a typed command apart: a name, then values by position or by name (X3).
//!
//! Words are split as a shell does it, so that a value may have spaces; nothing else of a shell is here.

use std::iter::Peekable;
use std::str::Chars;

use super::error::PromptError;

/// A prompt that is wanted, with what it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptCall {
    name: String,
    given: Vec<Given>,
}

/// One value, as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// For the next argument that has none.
    Next(String),
    /// For the argument of this name.
    Named { name: String, value: String },
    /// By name, if the prompt has an argument of that name; else for the next one. An address may have a `=` too.
    Either { name: String, value: String },
}

impl PromptCall {
    /// A prompt by its command, with nothing given yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), given: Vec::new() }
    }

    /// Gives a value to the next argument that has none.
    #[must_use]
    pub fn with(mut self, value: &str) -> Self {
        self.given.push(Given::Next(value.to_owned()));
        self
    }

    /// Gives a value to the argument of this name.
    #[must_use]
    pub fn with_named(mut self, name: &str, value: &str) -> Self {
        self.given.push(Given::Named { name: name.to_owned(), value: value.to_owned() });
        self
    }

    /// Gives a word as people type it: `value`, or `name=value` where the prompt has such an argument.
    #[must_use]
    pub fn with_word(mut self, word: &str) -> Self {
        self.given.push(match word.split_once('=') {
            Some((name, value)) => Given::Either { name: name.to_owned(), value: value.to_owned() },
            None => Given::Next(word.to_owned()),
        });
        self
    }

    /// Reads a line such as `/mcp__server__prompt first "second value" name=third`.
    ///
    /// Quotes of either kind keep spaces, and in double quotes or outside of any a backslash takes its meaning from the
    /// character behind it. What is quoted up to its `=` is a value and no name.
    ///
    /// # Errors
    /// [`PromptError::Unclosed`] when a quote has no end, and [`PromptError::Empty`] without a name.
    pub fn parse(line: &str) -> Result<Self, PromptError> {
        let mut words = Words(line.trim().chars().peekable());
        let name = words.next_word()?.map(Word::into_text).unwrap_or_default();
        let name = name.strip_prefix('/').unwrap_or(&name);
        if name.is_empty() {
            return Err(PromptError::Empty);
        }
        let mut call = Self::new(name);
        while let Some(word) = words.next_word()? {
            call.given.push(word.into_given());
        }
        Ok(call)
    }

    /// The command.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn given(&self) -> &[Given] {
        &self.given
    }
}

impl Given {
    /// The value as it was typed.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Next(value) => value.clone(),
            Self::Named { name, value } | Self::Either { name, value } => format!("{name}={value}"),
        }
    }
}

/// A word, taken out of its quotes.
#[derive(Default)]
struct Word {
    /// What stands before the first `=` that nothing is quoted before.
    name: Option<String>,
    text: String,
    is_quoted: bool,
}

impl Word {
    fn into_text(self) -> String {
        match self.name {
            Some(name) => format!("{name}={}", self.text),
            None => self.text,
        }
    }

    fn into_given(self) -> Given {
        match self.name {
            Some(name) => Given::Either { name, value: self.text },
            None => Given::Next(self.text),
        }
    }

    fn push(&mut self, character: char) {
        if character == '=' && !self.is_quoted && self.name.is_none() {
            self.name = Some(std::mem::take(&mut self.text));
        } else {
            self.text.push(character);
        }
    }
}

struct Words<'l>(Peekable<Chars<'l>>);

impl Words<'_> {
    fn next_word(&mut self) -> Result<Option<Word>, PromptError> {
        while self.0.next_if(|character| character.is_whitespace()).is_some() {}
        if self.0.peek().is_none() {
            return Ok(None);
        }
        let mut word = Word::default();
        while let Some(character) = self.0.next_if(|character| !character.is_whitespace()) {
            match character {
                '"' | '\'' => self.quoted(character, &mut word)?,
                '\\' => {
                    word.is_quoted |= word.name.is_none();
                    word.text.push(self.0.next().unwrap_or('\\'));
                }
                character => word.push(character),
            }
        }
        Ok(Some(word))
    }

    /// Takes everything up to the other `quote`.
    fn quoted(&mut self, quote: char, word: &mut Word) -> Result<(), PromptError> {
        word.is_quoted = true;
        loop {
            match self.0.next() {
                None => return Err(PromptError::Unclosed { quote }),
                Some(character) if character == quote => return Ok(()),
                Some('\\') if quote == '"' => word.text.push(self.0.next().unwrap_or('\\')),
                Some(character) => word.text.push(character),
            }
        }
    }
}
