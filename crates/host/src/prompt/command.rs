//! Parses a typed prompt command: a name, then values by position or by name.
//!
//! Words are split as in a shell, so that a value may have spaces; no other shell syntax is supported.

use std::iter::Peekable;
use std::str::Chars;

use super::error::PromptError;

/// A call of a prompt, with its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptCall {
    name: String,
    values: Vec<PromptValue>,
}

/// One value of a prompt call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PromptValue {
    /// For the next argument without a value.
    Next(String),
    /// For the argument of this name.
    Named { name: String, value: String },
    /// By name, if the prompt has an argument of that name; else for the next one. A URL may contain a `=`
    /// too.
    Either { name: String, value: String },
}

impl PromptCall {
    /// A call of a prompt by its command, without values yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), values: Vec::new() }
    }

    /// Adds a value for the next argument without one.
    #[must_use]
    pub fn with_value(mut self, value: &str) -> Self {
        self.values.push(PromptValue::Next(value.to_owned()));
        self
    }

    /// Adds a value for the argument of this name.
    #[must_use]
    pub fn with_named(mut self, name: &str, value: &str) -> Self {
        self.values.push(PromptValue::Named { name: name.to_owned(), value: value.to_owned() });
        self
    }

    /// Adds a word as the user types it: `value`, or `name=value` where the prompt has such an argument.
    #[must_use]
    pub fn with_word(mut self, word: &str) -> Self {
        self.values.push(match word.split_once('=') {
            Some((name, value)) => PromptValue::Either { name: name.to_owned(), value: value.to_owned() },
            None => PromptValue::Next(word.to_owned()),
        });
        self
    }

    /// Parses a line such as `/mcp__server__prompt first "second value" name=third`.
    ///
    /// Quotes of either kind keep spaces, and in double quotes or outside of any a backslash escapes the
    /// next character. A word that is quoted before its `=` is a value without a name.
    ///
    /// # Errors
    /// [`PromptError::Unclosed`] when a quote is not closed, and [`PromptError::Empty`] without a name.
    pub fn parse(line: &str) -> Result<Self, PromptError> {
        let mut words = CommandWords(line.trim().chars().peekable());
        let name = words.next_word()?.map(CommandWord::into_text).unwrap_or_default();
        let name = name.strip_prefix('/').unwrap_or(&name);
        if name.is_empty() {
            return Err(PromptError::Empty);
        }
        let mut call = Self::new(name);
        while let Some(word) = words.next_word()? {
            call.values.push(word.into_value());
        }
        Ok(call)
    }

    /// The command name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn values(&self) -> &[PromptValue] {
        &self.values
    }
}

impl PromptValue {
    /// The value as it was typed.
    pub(super) fn typed_text(&self) -> String {
        match self {
            Self::Next(value) => value.clone(),
            Self::Named { name, value } | Self::Either { name, value } => format!("{name}={value}"),
        }
    }
}

/// A word without its quotes.
#[derive(Default)]
struct CommandWord {
    /// The text before the first `=`, if no part of that text is quoted.
    name: Option<String>,
    text: String,
    is_quoted: bool,
}

impl CommandWord {
    fn into_text(self) -> String {
        match self.name {
            Some(name) => format!("{name}={}", self.text),
            None => self.text,
        }
    }

    fn into_value(self) -> PromptValue {
        match self.name {
            Some(name) => PromptValue::Either { name, value: self.text },
            None => PromptValue::Next(self.text),
        }
    }

    fn push_char(&mut self, character: char) {
        if character == '=' && !self.is_quoted && self.name.is_none() {
            self.name = Some(std::mem::take(&mut self.text));
        } else {
            self.text.push(character);
        }
    }
}

/// Splits a line into words, as a shell does.
struct CommandWords<'l>(Peekable<Chars<'l>>);

impl CommandWords<'_> {
    fn next_word(&mut self) -> Result<Option<CommandWord>, PromptError> {
        while self.0.next_if(|character| character.is_whitespace()).is_some() {}
        if self.0.peek().is_none() {
            return Ok(None);
        }
        let mut word = CommandWord::default();
        while let Some(character) = self.0.next_if(|character| !character.is_whitespace()) {
            match character {
                '"' | '\'' => self.read_quoted(character, &mut word)?,
                '\\' => {
                    word.is_quoted |= word.name.is_none();
                    word.text.push(self.0.next().unwrap_or('\\'));
                }
                character => word.push_char(character),
            }
        }
        Ok(Some(word))
    }

    /// Reads up to the closing `quote`.
    fn read_quoted(&mut self, quote: char, word: &mut CommandWord) -> Result<(), PromptError> {
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
