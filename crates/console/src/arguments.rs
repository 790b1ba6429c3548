//! Parses the words after a tool's name into the arguments of its call.
//!
//! | word | means |
//! |---|---|
//! | `{"key": 1}` | arguments as a JSON object |
//! | `-` | arguments as a JSON object from standard input |
//! | `key=text` | one argument, converted to the type in the tool's schema |
//! | `key=@file`, `key=@-` | one argument, with its text in a file or on standard input |
//! | `key:=json`, `key:=@file` | one argument as JSON, regardless of the schema |
//! | `--key text`, `--key=text`, `--flag`, `--no-flag` | the same as options; `@` has no special meaning |
//! | `--` | every option after it belongs to the tool |
//!
//! Pure except for files that a word names. The library validates the arguments against the schema; here the
//! schema only helps to interpret the words. The schema comes from the server and is untrusted, so every
//! traversal is bounded, and only names and types are read from it.

mod error;
mod help;
mod hints;
mod input;
mod insert;
mod kinds;
mod names;
mod schema;
mod target;
mod value;
mod word_kind;

#[cfg(test)]
mod tests;

use std::slice::Iter;

use serde_json::{Map, Value};

pub use error::{ArgumentFileError, ToolArgumentError};
pub use help::{DescribedTool, argument_help, tool_help};
pub(crate) use hints::{ArgumentHint, argument_hints};
pub use input::TextInput;
pub use names::similar_spellings;
use schema::ToolSchema;
use target::{ArgumentTarget, UnknownArgument};
use value::ArgumentValue;
use word_kind::{ArgumentWord, PairContent};

/// An option of the command that may follow the tool's name, unless the tool has an argument of that name.
#[derive(Clone, Debug)]
pub struct CommandOption {
    /// The option name, without dashes.
    pub name: String,
    /// Whether the option takes a value.
    pub takes_value: bool,
}

/// The parsed words after a tool's name.
#[derive(Debug, Default, PartialEq)]
pub struct ParsedWords {
    /// The arguments of the call, in the order given.
    pub arguments: Map<String, Value>,
    /// Options of the command itself, as written.
    pub own_options: Vec<String>,
    /// Whether `--help` was given; the words after it are ignored.
    pub help: bool,
}

/// Parses the words after a tool's name.
///
/// # Errors
/// The first word that is not valid, with a hint.
pub fn parse_words(
    schema: &Value,
    words: &[String],
    own: &[CommandOption],
    input: &mut TextInput<'_>,
) -> Result<ParsedWords, ToolArgumentError> {
    let mut reading = WordParser {
        schema: ToolSchema::from_root(schema),
        own,
        input,
        only_arguments: false,
        typed: ParsedWords::default(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        reading.parse_word(word, &mut words)?;
        if reading.typed.help {
            break;
        }
    }
    Ok(reading.typed)
}

struct WordParser<'r, 'i> {
    schema: ToolSchema<'r>,
    own: &'r [CommandOption],
    input: &'r mut TextInput<'i>,
    /// Whether `--` was parsed.
    only_arguments: bool,
    typed: ParsedWords,
}

impl<'r> WordParser<'r, '_> {
    fn parse_word(&mut self, word: &'r str, rest: &mut Iter<'r, String>) -> Result<(), ToolArgumentError> {
        match ArgumentWord::from_text(word) {
            ArgumentWord::End if !self.only_arguments => self.only_arguments = true,
            ArgumentWord::Help if !self.only_arguments => self.typed.help = true,
            ArgumentWord::Input => {
                let text = self.input.read_stdin("-")?;
                self.parse_object(&text, "standard input")?;
            }
            ArgumentWord::Object(text) => self.parse_object(text, "the argument")?,
            ArgumentWord::Pair { key, content } => self.parse_pair(word, key, &content)?,
            ArgumentWord::Flag { name, value } => self.parse_flag(name, value, rest)?,
            ArgumentWord::End | ArgumentWord::Help | ArgumentWord::Stray => {
                return Err(stray_word_error(word));
            }
        }
        Ok(())
    }

    fn parse_object(&mut self, text: &str, what: &'static str) -> Result<(), ToolArgumentError> {
        match serde_json::from_str(text) {
            Ok(_) if value::find_long_integer(text).is_some() => {
                Err(ToolArgumentError::TooLong { text: what })
            }
            Ok(Value::Object(object)) => {
                for (key, value) in object {
                    let appends = self.schema.property(&key).is_some_and(ToolSchema::is_list);
                    self.insert_at_path(&key, &[key.as_str()], ArgumentValue::One(value), appends)?;
                }
                Ok(())
            }
            Ok(_) => Err(ToolArgumentError::NotObject { text: what }),
            Err(error) => Err(ToolArgumentError::NotJson { text: what, error }),
        }
    }

    fn parse_pair(
        &mut self,
        word: &str,
        key: &str,
        content: &PairContent<'_>,
    ) -> Result<(), ToolArgumentError> {
        if key.is_empty() {
            return Err(ToolArgumentError::KeyMissing { word: word.to_owned() });
        }
        let found = match target::find_target(self.schema, key) {
            Err(unknown @ UnknownArgument::Missing { .. }) => {
                target::open_property(self.schema, key, content.is_json()).ok_or(unknown)
            }
            found => found,
        };
        let target = found.map_err(|unknown| unknown.into_key_error(key))?;
        let given = match content {
            PairContent::Text(text) => value::from_text(text, target.schema),
            PairContent::Json(text) => value::from_json(text, target.schema),
            PairContent::File(path) => value::from_file(&self.input.read_file(path, key)?, target.schema),
            PairContent::JsonFile(path) => value::from_json(&self.input.read_file(path, key)?, target.schema),
        };
        self.insert_at_target(key, &target, given.map_err(|mismatch| mismatch.into_error(key))?)
    }

    fn parse_flag(
        &mut self,
        name: &'r str,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<(), ToolArgumentError> {
        let shown = format!("--{name}");
        if name.is_empty() {
            return Err(ToolArgumentError::NameMissing);
        }
        let unknown = match target::find_target(self.schema, name) {
            Ok(target) => return self.set_flag(&shown, &target, value, rest),
            Err(unknown) => unknown,
        };
        if let (None, Some(target)) = (value, self.find_negation(name)) {
            return self.insert_at_target(&shown, &target, ArgumentValue::One(Value::Bool(false)));
        }
        if self.take_own_option(name, value, rest)? {
            return Ok(());
        }
        if name == "help" && value.is_none() && !self.only_arguments {
            self.typed.help = true;
            return Ok(());
        }
        match (unknown, target::open_property(self.schema, name, false)) {
            (UnknownArgument::Missing { .. }, Some(target)) => self.set_flag(&shown, &target, value, rest),
            (unknown, _) => Err(unknown.into_flag_error(&shown, self.own)),
        }
    }

    fn set_flag(
        &mut self,
        shown: &str,
        target: &ArgumentTarget<'_>,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<(), ToolArgumentError> {
        if value.is_none() && target.schema.is_switch() {
            return self.insert_at_target(shown, target, ArgumentValue::One(Value::Bool(true)));
        }
        let text = option_value(shown, value, rest)?;
        let given = value::from_text(text, target.schema).map_err(|mismatch| mismatch.into_error(shown))?;
        self.insert_at_target(shown, target, given)
    }

    /// The boolean argument that `--no-…` sets to false.
    fn find_negation(&self, name: &str) -> Option<ArgumentTarget<'r>> {
        let target = target::find_target(self.schema, name.strip_prefix("no-")?).ok()?;
        target.schema.is_switch().then_some(target)
    }

    /// Takes an option of the command itself; returns whether the word was one.
    fn take_own_option(
        &mut self,
        name: &str,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<bool, ToolArgumentError> {
        let Some(own) = self.own.iter().find(|own| own.name == name && !self.only_arguments) else {
            return Ok(false);
        };
        let shown = format!("--{name}");
        let written = match (own.takes_value, value) {
            (true, value) => format!("{shown}={}", option_value(&shown, value, rest)?),
            (false, None) => shown,
            (false, Some(_)) => {
                return Err(ToolArgumentError::ValueUnwanted { name: name.to_owned() });
            }
        };
        self.typed.own_options.push(written);
        Ok(true)
    }

    fn insert_at_target(
        &mut self,
        word: &str,
        target: &ArgumentTarget<'_>,
        given: ArgumentValue,
    ) -> Result<(), ToolArgumentError> {
        let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
        self.insert_at_path(word, &path, given, target.schema.is_list())
    }

    fn insert_at_path(
        &mut self,
        word: &str,
        path: &[&str],
        given: ArgumentValue,
        appends: bool,
    ) -> Result<(), ToolArgumentError> {
        insert::insert_value(&mut self.typed.arguments, path, given, appends)
            .map_err(|taken| taken.into_error(word))
    }
}

/// The value of an option: after `=`, or the next word unless that is an option too.
fn option_value<'r>(
    shown: &str,
    value: Option<&'r str>,
    rest: &mut Iter<'r, String>,
) -> Result<&'r str, ToolArgumentError> {
    if let Some(value) = value {
        return Ok(value);
    }
    match rest.as_slice().first() {
        Some(next) if !next.starts_with("--") => Ok(rest.next().map_or("", String::as_str)),
        Some(_) | None => Err(ToolArgumentError::ValueMissing { option: shown.to_owned() }),
    }
}

fn stray_word_error(word: &str) -> ToolArgumentError {
    ToolArgumentError::Stray { word: mcparley::model::text::truncate_text(word, 80).into_owned() }
}
