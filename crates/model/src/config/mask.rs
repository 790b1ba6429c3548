//! What people may see of an entry: as it is written, with every secret masked (B62, B63).
//!
//! Values are never shown expanded. Headers and variables are masked whole; arguments and URLs are shown
//! except for the parts that [`guess`] takes for secrets, because a person must be able to see what will
//! run. [`address`] reads URLs with the parser that connects.

mod address;
mod guess;
mod helper;
#[cfg(test)]
mod tests;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use url::Url;

use super::{Era, Grant, Kind, RawOauth, RawRoots, RawServer};
use crate::expand::{Piece, Template};
use crate::secret::MASK;

/// Whether secrets may be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// Masked, the rule.
    Masked,
    /// As written, for a person at a terminal who asked for it.
    AsWritten,
}

/// An entry in the form people and scripts see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The transport, when the entry tells.
    pub kind: Option<Kind>,
    /// The program.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: Vec<ShownValue>,
    /// Its folder.
    pub cwd: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// The headers.
    pub headers: Vec<ShownValue>,
    /// The header helper's command.
    pub headers_helper: Option<String>,
    /// The sign-in settings.
    pub oauth: Option<ShownOauth>,
    /// Whether the whole environment is passed on.
    pub inherit_env: bool,
    /// The time limit of a call in milliseconds.
    pub timeout: Option<u64>,
    /// The idle limit in milliseconds.
    pub idle_timeout: Option<u64>,
    /// Whether its tools are always listed.
    pub always_load: bool,
    /// Whether the host needs it.
    pub required: bool,
    /// Globs of the tools offered.
    pub enabled_tools: Vec<String>,
    /// Globs of the tools withheld.
    pub disabled_tools: Vec<String>,
    /// The roots it is granted: `false`, or folders.
    pub roots: Option<serde_json::Value>,
    /// The era, unless it is found out.
    pub era: Era,
    /// Every variable the entry asks for, in order, once.
    pub variables: Vec<String>,
}

/// A named value and the variables it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownValue {
    /// The header or variable.
    pub name: String,
    /// Its masked value.
    pub value: String,
    /// The variables the value asks for.
    pub variables: Vec<String>,
}

/// The sign-in settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownOauth {
    /// The client id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// Where a document describes the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// What is shown for a token, if it is no person's consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<&'static str>,
    /// The key, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key_file: Option<String>,
    /// The signed statement, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion_file: Option<String>,
    /// The fixed port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
    /// Where the authorization server describes itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_server_metadata_url: Option<String>,
    /// The scopes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Whether to sign in across applications.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub xaa: bool,
    /// Whether token requests name the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<bool>,
}

impl RawOauth {
    fn shown(&self, open: impl Fn(&Template) -> String, reveal: Reveal) -> ShownOauth {
        let url = |text: &Option<Template>| text.as_ref().map(|text| show_url(text, reveal));
        let shut = |name: &str, text: &Option<Template>| text.as_ref().map(|text| closed(name, text, reveal));
        let open = |text: &Option<Template>| text.as_ref().map(&open);
        ShownOauth {
            client_id: open(&self.client_id),
            client_secret: shut("clientSecret", &self.client_secret),
            client_metadata_url: url(&self.client_metadata_url),
            grant: (self.grant != Grant::default()).then(|| self.grant.as_str()),
            private_key: shut("privateKey", &self.private_key),
            private_key_file: open(&self.private_key_file),
            assertion: shut("assertion", &self.assertion),
            assertion_file: open(&self.assertion_file),
            callback_port: self.callback_port,
            auth_server_metadata_url: url(&self.auth_server_metadata_url),
            scopes: self.scopes.iter().filter_map(|scope| open(&Some(scope.clone()))).collect(),
            xaa: self.xaa,
            resource: self.resource,
        }
    }
}

impl RawServer {
    /// The entry as people may see it.
    #[must_use]
    pub fn shown(&self, kind: Option<Kind>, reveal: Reveal) -> Shown {
        let open = |template: &Template| match reveal {
            Reveal::Masked => guess::mask(&masked_defaults(template)),
            Reveal::AsWritten => template.text.clone(),
        };
        let named = |(name, template): &(String, Template)| ShownValue {
            name: name.clone(),
            value: closed(name, template, reveal),
            variables: template.variables().into_iter().map(str::to_owned).collect(),
        };
        let args: Vec<String> = match reveal {
            Reveal::Masked => guess::mask_arguments(self.args.iter().map(masked_defaults)),
            Reveal::AsWritten => self.args.iter().map(|arg| arg.text.clone()).collect(),
        };
        Shown {
            kind,
            command: self.command.as_ref().map(open),
            args,
            env: self.env.iter().map(named).collect(),
            cwd: self.cwd.as_ref().map(open),
            url: self.url.as_ref().map(|url| show_url(url, reveal)),
            headers: self.headers.iter().map(named).collect(),
            headers_helper: self.headers_helper.as_ref().map(|command| show_helper(command, reveal)),
            oauth: self.oauth.as_ref().map(|oauth| oauth.shown(open, reveal)),
            inherit_env: self.inherit_env,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            always_load: self.always_load,
            required: self.required,
            enabled_tools: self.enabled_tools.clone(),
            disabled_tools: self.disabled_tools.clone(),
            roots: self.roots.as_ref().map(|roots| roots.to_json(open)),
            era: self.era,
            variables: self.variables(),
        }
    }

    fn variables(&self) -> Vec<String> {
        let oauth = self.oauth.iter().flat_map(RawOauth::templates);
        let all = self
            .command
            .iter()
            .chain(&self.args)
            .chain(self.env.iter().map(|(_, value)| value))
            .chain(&self.cwd)
            .chain(&self.url)
            .chain(self.headers.iter().map(|(_, value)| value))
            .chain(&self.headers_helper)
            .chain(oauth)
            .chain(self.roots.iter().flat_map(RawRoots::templates));
        let mut names: Vec<String> = Vec::new();
        for name in all.flat_map(Template::variables) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// The URL of an entry, as written or masked.
fn show_url(template: &Template, reveal: Reveal) -> String {
    match reveal {
        Reveal::Masked => address::mask_url_field(&masked_defaults(template)),
        Reveal::AsWritten => template.text.clone(),
    }
}

/// The command of a header helper, as written or masked.
fn show_helper(template: &Template, reveal: Reveal) -> String {
    match reveal {
        Reveal::Masked => helper::mask_helper(&masked_defaults(template)),
        Reveal::AsWritten => template.text.clone(),
    }
}

/// `Bearer ***` for a value that is secret whole: the scheme helps, the rest is nobody's business.
fn closed(name: &str, template: &Template, reveal: Reveal) -> String {
    if reveal == Reveal::AsWritten {
        return template.text.clone();
    }
    match template.text.split_once(' ') {
        Some((scheme, _)) if guess::is_credential_name(name) && guess::is_auth_scheme(scheme) => {
            format!("{scheme} {MASK}")
        }
        Some(_) | None => MASK.to_owned(),
    }
}

/// Whether a header or variable of this name carries a credential, and not just its scheme or nothing.
pub(super) fn is_credential(name: &str, text: &str) -> bool {
    let text = text.trim();
    guess::is_secret_pair(name, text) && !text.is_empty() && !guess::is_auth_scheme(text)
}

/// Whether a text is masked in part or whole when it is shown.
pub(super) fn holds_secret(text: &str) -> bool {
    count_masks(&guess::mask(text)) > count_masks(text)
}

/// The same for the arguments of a program.
pub(super) fn arguments_hold_secret(arguments: &[String]) -> bool {
    let masked = guess::mask_arguments(arguments.iter().cloned());
    masked.iter().zip(arguments).any(|(masked, argument)| count_masks(masked) > count_masks(argument))
}

/// Masks are counted, because a URL may be shown in other words than it is written without hiding anything.
fn count_masks(text: &str) -> usize {
    text.matches(MASK).count()
}

/// Whether a URL holds a secret that is written out.
pub(super) fn url_holds_secret(text: &str) -> bool {
    address::holds_secret(text)
}

/// The parts of a URL's path that look like tokens, as they are sent.
#[must_use]
pub fn secret_path_segments(url: &Url) -> Vec<&str> {
    address::secret_path_segments(url)
}

/// A line people wrote, with every part masked that looks like a secret.
#[must_use]
pub fn masked_text(text: &str) -> String {
    guess::mask(text)
}

/// The same for the arguments of a program, where one may announce that the next is secret.
pub(crate) fn masked_arguments(arguments: impl Iterator<Item = String>) -> Vec<String> {
    guess::mask_arguments(arguments)
}

/// The template with its defaults masked: a default is where people park a real token.
fn masked_defaults(template: &Template) -> String {
    let Ok(pieces) = template.pieces() else {
        // What cannot be taken apart may hold a default anywhere behind its first `${`.
        let before = template.text.split("${").next().unwrap_or_default();
        return format!("{before}{MASK}");
    };
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(text) => masked_literal_default(text),
            Piece::Variable { name, default: None } => format!("${{{name}}}"),
            Piece::Variable { name, default: Some(_) } => format!("${{{name}:-{MASK}}}"),
        })
        .collect()
}

/// Text that another program would have expanded, as `import` writes it down: `{NAME:-default}`.
fn masked_literal_default(text: &str) -> String {
    match (text.split_once(":-"), text.rfind('}')) {
        (Some((before, _)), Some(end)) if before.contains('{') && end > before.len() => {
            format!("{before}:-{MASK}{}", text.get(end..).unwrap_or_default())
        }
        _ => text.to_owned(),
    }
}

impl Serialize for Shown {
    /// The entry's own words, in the order of the reference, only what is set.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let values = |values: &[ShownValue]| -> serde_json::Map<String, serde_json::Value> {
            values.iter().map(|value| (value.name.clone(), value.value.clone().into())).collect()
        };
        let mut optional = |name: &str, value: serde_json::Value| -> Result<(), S::Error> {
            match &value {
                serde_json::Value::Null | serde_json::Value::Bool(false) => Ok(()),
                serde_json::Value::Array(list) if list.is_empty() => Ok(()),
                serde_json::Value::Object(members) if members.is_empty() => Ok(()),
                _ => map.serialize_entry(name, &value),
            }
        };
        optional("type", self.kind.map(Kind::as_str).into())?;
        optional("command", self.command.clone().into())?;
        optional("args", self.args.clone().into())?;
        optional("env", values(&self.env).into())?;
        optional("cwd", self.cwd.clone().into())?;
        optional("inheritEnv", self.inherit_env.into())?;
        optional("idleTimeout", self.idle_timeout.into())?;
        optional("url", self.url.clone().into())?;
        optional("headers", values(&self.headers).into())?;
        optional("headersHelper", self.headers_helper.clone().into())?;
        optional("oauth", serde_json::to_value(&self.oauth).unwrap_or_default())?;
        optional("timeout", self.timeout.into())?;
        optional("alwaysLoad", self.always_load.into())?;
        optional("required", self.required.into())?;
        optional("enabledTools", self.enabled_tools.clone().into())?;
        optional("disabledTools", self.disabled_tools.clone().into())?;
        if self.era != Era::Auto {
            optional("era", self.era.as_str().into())?;
        }
        optional("variables", self.variables.clone().into())?;
        // `false` says something here.
        if let Some(roots) = &self.roots {
            map.serialize_entry("roots", roots)?;
        }
        map.end()
    }
}
