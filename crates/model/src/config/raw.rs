//! Reads an entry as it is written: right shapes, nothing expanded yet.
//!
//! A wrong shape is an error of this entry alone, with its place; a field we do not know is kept in the
//! file and becomes a hint.

use super::error::ConfigError;
use super::field::{self, Shape};
use super::oauth::RawOauth;
use super::roots::RawRoots;
use super::{Era, Kind};
use crate::document::{Member, Node};
use crate::expand::Template;
use crate::scope::Origin;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub origin: Origin,
}

/// An entry as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawServer {
    /// `type`
    pub kind: Option<Kind>,
    /// `command`
    pub command: Option<Template>,
    /// `args`
    pub args: Vec<Template>,
    /// `env`, in the order it is written
    pub env: Vec<(String, Template)>,
    /// `cwd`
    pub cwd: Option<Template>,
    /// `inheritEnv`
    pub inherit_env: bool,
    /// `url`
    pub url: Option<Template>,
    /// `headers`, in the order they are written
    pub headers: Vec<(String, Template)>,
    /// `headersHelper`
    pub headers_helper: Option<Template>,
    /// `oauth`
    pub oauth: Option<RawOauth>,
    /// `timeout`, in milliseconds
    pub timeout: Option<u64>,
    /// `idleTimeout`, in milliseconds
    pub idle_timeout: Option<u64>,
    /// `alwaysLoad`
    pub always_load: bool,
    /// `required`
    pub required: bool,
    /// `enabledTools`
    pub enabled_tools: Vec<String>,
    /// `disabledTools`
    pub disabled_tools: Vec<String>,
    /// `era`
    pub era: Era,
    /// `roots`
    pub roots: Option<RawRoots>,
    /// `name` of an in-process server
    pub name: Option<Template>,
    /// `id` of a connector
    pub id: Option<Template>,
    /// `ideName`
    pub ide_name: Option<Template>,
    /// `authToken`
    pub auth_token: Option<Template>,
    /// What was noticed and does not stop the server.
    pub hints: Vec<Hint>,
}

/// Something worth telling that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Hint {
    /// What was noticed.
    pub text: String,
    /// Where.
    pub origin: Origin,
}

impl RawServer {
    /// Reads the entry `value` of the server `name`.
    ///
    /// # Errors
    /// The first field with a wrong shape.
    pub fn read(name: &str, value: Node<'_>) -> Result<Self, ConfigError> {
        let servers = Reader { above: None, step: Step::Name("mcpServers") };
        let entry = servers.at(name);
        let mut server = Self::default();
        for member in entry.members(value)? {
            server.read_field(&entry, member)?;
        }
        Ok(server)
    }

    fn read_field(&mut self, entry: &Reader<'_>, member: Member<'_>) -> Result<(), ConfigError> {
        let Member { name, value, .. } = member;
        let at = entry.at(name);
        match name {
            "type" => self.kind = Some(at.kind(value)?),
            "command" => self.command = Some(at.text(value)?),
            "args" => self.args = at.texts(value)?,
            "env" => self.env = at.text_map(value)?,
            "cwd" => self.cwd = Some(at.text(value)?),
            "inheritEnv" => self.inherit_env = at.flag(value)?,
            "idleTimeout" => self.idle_timeout = Some(at.milliseconds(value)?),
            "url" => self.url = Some(at.text(value)?),
            "headers" => self.headers = at.text_map(value)?,
            "headersHelper" => self.headers_helper = Some(at.text(value)?),
            "oauth" => self.oauth = Some(RawOauth::read(&at, value, &mut self.hints)?),
            "timeout" => self.timeout = Some(at.milliseconds(value)?),
            "alwaysLoad" => self.always_load = at.flag(value)?,
            "required" => self.required = at.flag(value)?,
            "enabledTools" => self.enabled_tools = at.strings(value)?,
            "disabledTools" => self.disabled_tools = at.strings(value)?,
            "era" => self.era = at.era(value)?,
            "roots" => self.roots = Some(at.roots(value)?),
            "name" => self.name = Some(at.text(value)?),
            "id" => self.id = Some(at.text(value)?),
            "ideName" => self.ide_name = Some(at.text(value)?),
            "authToken" => self.auth_token = Some(at.text(value)?),
            _ => self.hints.push(unknown(&at, &member)),
        }
        Ok(())
    }
}

pub(super) fn unknown(at: &Reader<'_>, member: &Member<'_>) -> Hint {
    Hint {
        text: format!("`{}` is not a known field; it is kept but has no effect", at.path()),
        origin: member.origin(),
    }
}

/// Reads values and knows the way to the one it stands at; the path is spelt out only for a message.
#[derive(Clone, Copy)]
pub(super) struct Reader<'p> {
    above: Option<&'p Reader<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'p> {
    Name(&'p str),
    Index(usize),
}

impl Reader<'_> {
    pub(super) fn at<'s>(&'s self, name: &'s str) -> Reader<'s> {
        Reader { above: Some(self), step: Step::Name(name) }
    }

    fn index(&self, index: usize) -> Reader<'_> {
        Reader { above: Some(self), step: Step::Index(index) }
    }

    fn path(&self) -> String {
        let above = self.above.map(Reader::path).unwrap_or_default();
        match self.step {
            Step::Name(name) if above.is_empty() => name.to_owned(),
            Step::Name(name) => format!("{above}.{name}"),
            Step::Index(index) => format!("{above}[{index}]"),
        }
    }

    fn wrong(&self, value: Node<'_>, expected: &'static str) -> ConfigError {
        ConfigError::Shape {
            path: self.path(),
            expected,
            found: value.kind().to_string(),
            origin: value.origin(),
        }
    }

    pub(super) fn members<'d>(
        &self,
        value: Node<'d>,
    ) -> Result<impl Iterator<Item = Member<'d>> + use<'d>, ConfigError> {
        value.as_object().ok_or_else(|| self.wrong(value, "an object"))
    }

    pub(super) fn string<'d>(&self, value: Node<'d>) -> Result<&'d str, ConfigError> {
        value.as_str().ok_or_else(|| self.wrong(value, "a string"))
    }

    pub(super) fn text(&self, value: Node<'_>) -> Result<Template, ConfigError> {
        Ok(Template { text: self.string(value)?.to_owned(), origin: value.origin() })
    }

    fn texts(&self, value: Node<'_>) -> Result<Vec<Template>, ConfigError> {
        let elements = value.as_array().ok_or_else(|| self.wrong(value, "an array of strings"))?;
        elements.enumerate().map(|(index, element)| self.index(index).text(element)).collect()
    }

    fn strings(&self, value: Node<'_>) -> Result<Vec<String>, ConfigError> {
        Ok(self.texts(value)?.into_iter().map(|template| template.text).collect())
    }

    fn text_map(&self, value: Node<'_>) -> Result<Vec<(String, Template)>, ConfigError> {
        let members = value.as_object().ok_or_else(|| self.wrong(value, "an object of strings"))?;
        members.map(|member| Ok((member.name.to_owned(), self.at(member.name).text(member.value)?))).collect()
    }

    pub(super) fn words(&self, value: Node<'_>) -> Result<Vec<Template>, ConfigError> {
        let Some(words) = value.as_str() else { return self.texts(value) };
        let origin = value.origin();
        let template = |word: &str| Template { text: word.to_owned(), origin: origin.clone() };
        Ok(words.split_whitespace().map(template).collect())
    }

    pub(super) fn flag(&self, value: Node<'_>) -> Result<bool, ConfigError> {
        value.as_bool().ok_or_else(|| self.wrong(value, "true or false"))
    }

    fn milliseconds(&self, value: Node<'_>) -> Result<u64, ConfigError> {
        let number = value.as_number().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.wrong_number(value, "a whole number of milliseconds, 0 or more"))
    }

    pub(super) fn port(&self, value: Node<'_>) -> Result<u16, ConfigError> {
        let number = value.as_number().and_then(|text| text.parse().ok()).filter(|port| *port > 0);
        number.ok_or_else(|| self.wrong_number(value, "a port from 1 to 65535"))
    }

    fn wrong_number(&self, value: Node<'_>, expected: &'static str) -> ConfigError {
        let found = value.as_number().map_or_else(|| value.kind().to_string(), |text| format!("`{text}`"));
        ConfigError::Shape { path: self.path(), expected, found, origin: value.origin() }
    }

    fn kind(&self, value: Node<'_>) -> Result<Kind, ConfigError> {
        let word = self.string(value)?;
        Kind::parse(word).ok_or_else(|| self.not_a_choice(word, value))
    }

    fn era(&self, value: Node<'_>) -> Result<Era, ConfigError> {
        self.choice(value, Era::ALL, Era::as_str)
    }

    fn roots(&self, value: Node<'_>) -> Result<RawRoots, ConfigError> {
        match (value.as_bool(), value.as_array().is_some()) {
            (Some(false), _) => Ok(RawRoots::Withheld),
            (None, true) => Ok(RawRoots::Folders(self.texts(value)?)),
            (Some(true), _) | (None, false) => Err(self.wrong(value, "`false` or an array of folders")),
        }
    }

    pub(super) fn choice<T>(
        &self,
        value: Node<'_>,
        all: impl IntoIterator<Item = T>,
        word: impl Fn(T) -> &'static str,
    ) -> Result<T, ConfigError>
    where
        T: Copy,
    {
        let written = self.string(value)?;
        let choice = all.into_iter().find(|choice| word(*choice) == written);
        choice.ok_or_else(|| self.not_a_choice(written, value))
    }

    fn not_a_choice(&self, word: &str, value: Node<'_>) -> ConfigError {
        let name = match self.step {
            Step::Name(name) => name,
            Step::Index(_) => "",
        };
        let inside = field::OAUTH.iter().find(|field| field.name == name);
        let choices = match field::find(name).or(inside).map(|field| field.shape) {
            Some(Shape::Choice(words)) => words,
            Some(_) | None => &[],
        };
        ConfigError::Choice { path: self.path(), word: word.to_owned(), choices, origin: value.origin() }
    }
}
