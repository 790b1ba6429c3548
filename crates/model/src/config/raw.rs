//! Parses an entry as it is written: the shapes are checked, variables are not expanded yet.
//!
//! A wrong shape is an error of this entry alone, with its location; an unknown field is kept in the file
//! and becomes a hint.

use super::error::ConfigError;
use super::field::{self, EntryFieldShape};
use super::oauth::RawOauth;
use super::roots::RawRoots;
use super::{CredentialPolicy, Era, SharePolicy, TransportKind};
use crate::document::{Member, Node};
use crate::expand::Template;
use crate::scope::ConfigOrigin;

/// A value and its location in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The location of the value.
    pub origin: ConfigOrigin,
}

/// An entry as it is written in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawServer {
    /// `type`
    pub kind: Option<TransportKind>,
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
    /// `share`
    pub share: Option<Spanned<SharePolicy>>,
    /// `credentials`
    pub credentials: Option<Spanned<CredentialPolicy>>,
    /// `name` of an in-process server
    pub name: Option<Template>,
    /// `id` of a connector
    pub id: Option<Template>,
    /// `ideName`
    pub ide_name: Option<Template>,
    /// `authToken`
    pub auth_token: Option<Template>,
    /// Hints about the entry that do not stop the server.
    pub hints: Vec<EntryHint>,
}

/// A remark about an entry that does not stop the server.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EntryHint {
    /// The text of the hint.
    pub text: String,
    /// The location of the field.
    pub origin: ConfigOrigin,
}

impl RawServer {
    /// Parses the entry `value` of the server `name`.
    ///
    /// # Errors
    /// The first field with a wrong shape.
    pub fn from_node(name: &str, value: Node<'_>) -> Result<Self, ConfigError> {
        let servers = FieldReader { above: None, step: FieldPathStep::Name("mcpServers") };
        let entry = servers.at_member(name);
        let mut server = Self::default();
        for member in entry.read_members(value)? {
            server.read_field(&entry, member)?;
        }
        Ok(server)
    }

    fn read_field(&mut self, entry: &FieldReader<'_>, member: Member<'_>) -> Result<(), ConfigError> {
        let Member { name, value, .. } = member;
        let at = entry.at_member(name);
        match name {
            "type" => self.kind = Some(at.read_kind(value)?),
            "command" => self.command = Some(at.read_template(value)?),
            "args" => self.args = at.read_templates(value)?,
            "env" => self.env = at.read_template_map(value)?,
            "cwd" => self.cwd = Some(at.read_template(value)?),
            "inheritEnv" => self.inherit_env = at.read_flag(value)?,
            "idleTimeout" => self.idle_timeout = Some(at.read_milliseconds(value)?),
            "share" => self.share = Some(at.read_share(value)?),
            "credentials" => self.credentials = Some(at.read_credentials(value)?),
            "url" => self.url = Some(at.read_template(value)?),
            "headers" => self.headers = at.read_template_map(value)?,
            "headersHelper" => self.headers_helper = Some(at.read_template(value)?),
            "oauth" => self.oauth = Some(RawOauth::from_node(&at, value, &mut self.hints)?),
            "timeout" => self.timeout = Some(at.read_milliseconds(value)?),
            "alwaysLoad" => self.always_load = at.read_flag(value)?,
            "required" => self.required = at.read_flag(value)?,
            "enabledTools" => self.enabled_tools = at.read_strings(value)?,
            "disabledTools" => self.disabled_tools = at.read_strings(value)?,
            "era" => self.era = at.read_era(value)?,
            "roots" => self.roots = Some(at.read_roots(value)?),
            "name" => self.name = Some(at.read_template(value)?),
            "id" => self.id = Some(at.read_template(value)?),
            "ideName" => self.ide_name = Some(at.read_template(value)?),
            "authToken" => self.auth_token = Some(at.read_template(value)?),
            _ => self.hints.push(unknown_field_hint(&at, &member)),
        }
        Ok(())
    }
}

pub(super) fn unknown_field_hint(at: &FieldReader<'_>, member: &Member<'_>) -> EntryHint {
    EntryHint {
        text: format!("`{}` is not a known field; it is kept but has no effect", at.path()),
        origin: member.origin(),
    }
}

/// Reads the values of an entry and tracks the path to them; the path is formatted only for an error
/// message.
#[derive(Clone, Copy)]
pub(super) struct FieldReader<'p> {
    above: Option<&'p FieldReader<'p>>,
    step: FieldPathStep<'p>,
}

#[derive(Clone, Copy)]
pub(super) enum FieldPathStep<'p> {
    Name(&'p str),
    Index(usize),
}

impl FieldReader<'_> {
    pub(super) fn at_member<'s>(&'s self, name: &'s str) -> FieldReader<'s> {
        FieldReader { above: Some(self), step: FieldPathStep::Name(name) }
    }

    fn at_index(&self, index: usize) -> FieldReader<'_> {
        FieldReader { above: Some(self), step: FieldPathStep::Index(index) }
    }

    fn path(&self) -> String {
        let above = self.above.map(FieldReader::path).unwrap_or_default();
        match self.step {
            FieldPathStep::Name(name) if above.is_empty() => name.to_owned(),
            FieldPathStep::Name(name) => format!("{above}.{name}"),
            FieldPathStep::Index(index) => format!("{above}[{index}]"),
        }
    }

    fn shape_error(&self, value: Node<'_>, expected: &'static str) -> ConfigError {
        ConfigError::Shape {
            path: self.path(),
            expected,
            found: value.kind().to_string(),
            origin: value.origin(),
        }
    }

    pub(super) fn read_members<'d>(
        &self,
        value: Node<'d>,
    ) -> Result<impl Iterator<Item = Member<'d>> + use<'d>, ConfigError> {
        value.as_object().ok_or_else(|| self.shape_error(value, "an object"))
    }

    pub(super) fn read_string<'d>(&self, value: Node<'d>) -> Result<&'d str, ConfigError> {
        value.as_str().ok_or_else(|| self.shape_error(value, "a string"))
    }

    pub(super) fn read_template(&self, value: Node<'_>) -> Result<Template, ConfigError> {
        Ok(Template { text: self.read_string(value)?.to_owned(), origin: value.origin() })
    }

    fn read_templates(&self, value: Node<'_>) -> Result<Vec<Template>, ConfigError> {
        let elements = value.as_array().ok_or_else(|| self.shape_error(value, "an array of strings"))?;
        elements.enumerate().map(|(index, element)| self.at_index(index).read_template(element)).collect()
    }

    fn read_strings(&self, value: Node<'_>) -> Result<Vec<String>, ConfigError> {
        Ok(self.read_templates(value)?.into_iter().map(|template| template.text).collect())
    }

    fn read_template_map(&self, value: Node<'_>) -> Result<Vec<(String, Template)>, ConfigError> {
        let members = value.as_object().ok_or_else(|| self.shape_error(value, "an object of strings"))?;
        members
            .map(|member| {
                Ok((member.name.to_owned(), self.at_member(member.name).read_template(member.value)?))
            })
            .collect()
    }

    pub(super) fn read_words(&self, value: Node<'_>) -> Result<Vec<Template>, ConfigError> {
        let Some(words) = value.as_str() else { return self.read_templates(value) };
        let origin = value.origin();
        let template = |word: &str| Template { text: word.to_owned(), origin: origin.clone() };
        Ok(words.split_whitespace().map(template).collect())
    }

    pub(super) fn read_flag(&self, value: Node<'_>) -> Result<bool, ConfigError> {
        value.as_bool().ok_or_else(|| self.shape_error(value, "true or false"))
    }

    fn read_milliseconds(&self, value: Node<'_>) -> Result<u64, ConfigError> {
        let number = value.as_number().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.number_error(value, "a whole number of milliseconds, 0 or more"))
    }

    pub(super) fn read_port(&self, value: Node<'_>) -> Result<u16, ConfigError> {
        let number = value.as_number().and_then(|text| text.parse().ok()).filter(|port| *port > 0);
        number.ok_or_else(|| self.number_error(value, "a port from 1 to 65535"))
    }

    fn number_error(&self, value: Node<'_>, expected: &'static str) -> ConfigError {
        let found = value.as_number().map_or_else(|| value.kind().to_string(), |text| format!("`{text}`"));
        ConfigError::Shape { path: self.path(), expected, found, origin: value.origin() }
    }

    fn read_kind(&self, value: Node<'_>) -> Result<TransportKind, ConfigError> {
        let word = self.read_string(value)?;
        TransportKind::parse(word).ok_or_else(|| self.choice_error(word, value))
    }

    fn read_era(&self, value: Node<'_>) -> Result<Era, ConfigError> {
        self.read_choice(value, Era::ALL, Era::as_str)
    }

    fn read_share(&self, value: Node<'_>) -> Result<Spanned<SharePolicy>, ConfigError> {
        let policy = self.read_choice(value, SharePolicy::ALL, SharePolicy::as_str)?;
        Ok(Spanned { value: policy, origin: value.origin() })
    }

    fn read_credentials(&self, value: Node<'_>) -> Result<Spanned<CredentialPolicy>, ConfigError> {
        let policy = self.read_choice(value, CredentialPolicy::ALL, CredentialPolicy::as_str)?;
        Ok(Spanned { value: policy, origin: value.origin() })
    }

    fn read_roots(&self, value: Node<'_>) -> Result<RawRoots, ConfigError> {
        match (value.as_bool(), value.as_array().is_some()) {
            (Some(false), _) => Ok(RawRoots::Withheld),
            (None, true) => Ok(RawRoots::Folders(self.read_templates(value)?)),
            (Some(true), _) | (None, false) => Err(self.shape_error(value, "`false` or an array of folders")),
        }
    }

    pub(super) fn read_choice<T>(
        &self,
        value: Node<'_>,
        all: impl IntoIterator<Item = T>,
        word: impl Fn(T) -> &'static str,
    ) -> Result<T, ConfigError>
    where
        T: Copy,
    {
        let written = self.read_string(value)?;
        let choice = all.into_iter().find(|choice| word(*choice) == written);
        choice.ok_or_else(|| self.choice_error(written, value))
    }

    fn choice_error(&self, word: &str, value: Node<'_>) -> ConfigError {
        let name = match self.step {
            FieldPathStep::Name(name) => name,
            FieldPathStep::Index(_) => "",
        };
        let inside = field::OAUTH.iter().find(|field| field.name == name);
        let choices = match field::find_field(name).or(inside).map(|field| field.shape) {
            Some(EntryFieldShape::Choice(words)) => words,
            Some(_) | None => &[],
        };
        ConfigError::Choice { path: self.path(), word: word.to_owned(), choices, origin: value.origin() }
    }
}
