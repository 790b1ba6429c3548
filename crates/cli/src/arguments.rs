//! From the words behind a tool's name to the arguments of its call.
//!
//! | word | means |
//! |---|---|
//! | `{"key": 1}` | these arguments |
//! | `-` | these arguments, as a JSON object from standard input |
//! | `key=text` | one argument, of the kind the tool's schema wants |
//! | `key=@file`, `key=@-` | its text is in a file, or on standard input |
//! | `key:=json`, `key:=@file` | one argument, as JSON whatever the schema says |
//! | `--key text`, `--key=text`, `--flag`, `--no-flag` | the same as options; `@` has no meaning here |
//! | `--` | behind it every option is the tool's |
//!
//! Pure but for the files a word names. Whether the whole fits the schema is checked by the library: here the
//! schema only helps to understand what was typed. It is the server's word, so every walk through it is
//! bounded, and nothing in it is more than a name or a kind.

mod help;
mod input;
mod kinds;
mod names;
mod place;
mod schema;
mod target;
mod value;
mod word;

#[cfg(test)]
mod tests;

use std::slice::Iter;

use serde_json::{Map, Value};

use crate::error::CommandError;

pub(crate) use help::{Described, help};
pub(crate) use input::Input;
pub(crate) use names::similar;
use schema::Schema;
use target::{Target, Unknown};
use value::Given;
use word::{Content, Word};

/// What was typed behind a tool's name.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Typed {
    /// The call's arguments, in the order they were given.
    pub(crate) arguments: Map<String, Value>,
    /// Options of the command itself, as they were written.
    pub(crate) own: Vec<String>,
    /// Whether help was asked for; the rest is not looked at then.
    pub(crate) help: bool,
}

/// An option of the command that may stand behind the tool's name, unless the tool has one like it.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// Its name, without dashes.
    pub(crate) name: String,
    /// Whether a value follows it.
    pub(crate) takes_value: bool,
}

/// Reads the words.
///
/// # Errors
/// Names the word that makes no sense, and what would.
pub(crate) fn read(
    schema: &Value,
    words: &[String],
    own: &[Own],
    input: &mut Input<'_>,
) -> Result<Typed, CommandError> {
    let mut reading =
        Reading { schema: Schema::of(schema), own, input, only_arguments: false, typed: Typed::default() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        reading.word(word, &mut words)?;
        if reading.typed.help {
            break;
        }
    }
    Ok(reading.typed)
}

struct Reading<'r, 'i> {
    schema: Schema<'r>,
    own: &'r [Own],
    input: &'r mut Input<'i>,
    /// Whether `--` has been read.
    only_arguments: bool,
    typed: Typed,
}

impl<'r> Reading<'r, '_> {
    fn word(&mut self, word: &'r str, rest: &mut Iter<'r, String>) -> Result<(), CommandError> {
        match Word::of(word) {
            Word::End if !self.only_arguments => self.only_arguments = true,
            Word::Help if !self.only_arguments => self.typed.help = true,
            Word::Input => {
                let text = self.input.stdin("-")?;
                self.object(&text, "standard input")?;
            }
            Word::Object(text) => self.object(text, "the argument")?,
            Word::Pair { key, content } => self.pair(word, key, &content)?,
            Word::Flag { name, value } => self.flag(name, value, rest)?,
            Word::End | Word::Help | Word::Stray => return Err(stray(word)),
        }
        Ok(())
    }

    fn object(&mut self, text: &str, what: &str) -> Result<(), CommandError> {
        match serde_json::from_str(text) {
            Ok(_) if value::too_long(text).is_some() => Err(CommandError::usage(
                format!("{what}: {}", value::TOO_LONG),
                "give it as a string, if the tool takes one",
            )),
            Ok(Value::Object(object)) => {
                for (key, value) in object {
                    let appends = self.schema.property(&key).is_some_and(Schema::is_list);
                    self.put(&key, &[key.as_str()], Given::One(value), appends)?;
                }
                Ok(())
            }
            Ok(_) => Err(CommandError::usage(format!("{what} is not a JSON object"), OBJECT_HINT)),
            Err(error) => Err(CommandError::usage(format!("{what} is not JSON: {error}"), OBJECT_HINT)),
        }
    }

    fn pair(&mut self, word: &str, key: &str, content: &Content<'_>) -> Result<(), CommandError> {
        if key.is_empty() {
            return Err(CommandError::usage(format!("`{word}` has no key"), "write `key=value`"));
        }
        let found = match target::known(self.schema, key) {
            Err(unknown @ Unknown::Missing { .. }) => {
                target::open(self.schema, key, content.is_json()).ok_or(unknown)
            }
            found => found,
        };
        let target = found.map_err(|unknown| unknown.of_key(key))?;
        let given = match content {
            Content::Text(text) => value::from_text(text, target.schema),
            Content::Json(text) => value::from_json(text, target.schema),
            Content::File(path) => value::from_file(&self.input.file(path, key)?, target.schema),
            Content::JsonFile(path) => value::from_json(&self.input.file(path, key)?, target.schema),
        };
        self.put_at(key, &target, given.map_err(|mismatch| mismatch.of(key))?)
    }

    fn flag(
        &mut self,
        name: &'r str,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<(), CommandError> {
        let shown = format!("--{name}");
        if name.is_empty() {
            return Err(CommandError::usage(format!("`{shown}=` has no name"), "write `--key value`"));
        }
        let unknown = match target::known(self.schema, name) {
            Ok(target) => return self.flag_of(&shown, &target, value, rest),
            Err(unknown) => unknown,
        };
        if let (None, Some(target)) = (value, self.negated(name)) {
            return self.put_at(&shown, &target, Given::One(Value::Bool(false)));
        }
        if self.own(name, value, rest)? {
            return Ok(());
        }
        if name == "help" && value.is_none() && !self.only_arguments {
            self.typed.help = true;
            return Ok(());
        }
        match (unknown, target::open(self.schema, name, false)) {
            (Unknown::Missing { .. }, Some(target)) => self.flag_of(&shown, &target, value, rest),
            (unknown, _) => Err(unknown.of_flag(&shown, self.own)),
        }
    }

    fn flag_of(
        &mut self,
        shown: &str,
        target: &Target<'_>,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<(), CommandError> {
        if value.is_none() && target.schema.is_switch() {
            return self.put_at(shown, target, Given::One(Value::Bool(true)));
        }
        let text = value_of(shown, value, rest)?;
        let given = value::from_text(text, target.schema).map_err(|mismatch| mismatch.of(shown))?;
        self.put_at(shown, target, given)
    }

    /// What `--no-…` switches off.
    fn negated(&self, name: &str) -> Option<Target<'r>> {
        let target = target::known(self.schema, name.strip_prefix("no-")?).ok()?;
        target.schema.is_switch().then_some(target)
    }

    /// Takes an option of the command itself.
    fn own(
        &mut self,
        name: &str,
        value: Option<&'r str>,
        rest: &mut Iter<'r, String>,
    ) -> Result<bool, CommandError> {
        let Some(own) = self.own.iter().find(|own| own.name == name && !self.only_arguments) else {
            return Ok(false);
        };
        let shown = format!("--{name}");
        let written = match (own.takes_value, value) {
            (true, value) => format!("{shown}={}", value_of(&shown, value, rest)?),
            (false, None) => shown,
            (false, Some(_)) => {
                let hint = format!("write `{shown}` alone, or `{name}=…` if the tool is meant");
                return Err(CommandError::usage(format!("`{shown}` takes no value"), hint));
            }
        };
        self.typed.own.push(written);
        Ok(true)
    }

    fn put_at(&mut self, word: &str, target: &Target<'_>, given: Given) -> Result<(), CommandError> {
        let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
        self.put(word, &path, given, target.schema.is_list())
    }

    fn put(&mut self, word: &str, path: &[&str], given: Given, appends: bool) -> Result<(), CommandError> {
        place::put(&mut self.typed.arguments, path, given, appends).map_err(|taken| taken.of(word))
    }
}

const OBJECT_HINT: &str = r#"write it like '{"key":"value"}'"#;

/// The value of an option: behind `=`, or the next word unless that is an option too.
fn value_of<'r>(
    shown: &str,
    value: Option<&'r str>,
    rest: &mut Iter<'r, String>,
) -> Result<&'r str, CommandError> {
    if let Some(value) = value {
        return Ok(value);
    }
    match rest.as_slice().first() {
        Some(next) if !next.starts_with("--") => Ok(rest.next().map_or("", String::as_str)),
        Some(_) | None => Err(CommandError::usage(
            format!("`{shown}` needs a value"),
            format!("write `{shown} VALUE`, or `{shown}=VALUE` when it begins with `--`"),
        )),
    }
}

fn stray(word: &str) -> CommandError {
    let word = mcparley::model::text::cut(word, 80);
    CommandError::usage(
        format!("`{word}` is no argument"),
        "write `key=value`, `--key value` or a JSON object; `--help` behind the tool shows what it takes",
    )
}
