//! Masks secrets in an entry for display: the entry as it is written, with every secret replaced by `***`.
//!
//! Values are never shown expanded. Headers and variables are masked whole; arguments and URLs are shown
//! except for the parts that [`guess`] recognizes as secrets, because the user must be able to see the
//! command that will run. [`address`] parses URLs with the parser that connects.

mod address;
mod guess;
mod helper;
#[cfg(test)]
mod tests;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use url::Url;

use super::{
    ConfiguredGrant, CredentialPolicy, Era, RawOauth, RawRoots, RawServer, SharePolicy, TransportKind,
};
use crate::expand::{Template, TemplatePiece};
use crate::secret::MASK;

/// Whether secrets are masked or revealed in a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretVisibility {
    /// Secrets are masked, which is the default.
    Masked,
    /// Values are shown as written, at a terminal and on the user's explicit request.
    AsWritten,
}

/// A server's entry in the form that people and scripts see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayedServer {
    /// The transport kind, if the entry determines it.
    pub kind: Option<TransportKind>,
    /// The program.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The program's environment variables.
    pub env: Vec<DisplayedValue>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// The headers.
    pub headers: Vec<DisplayedValue>,
    /// The header helper's command.
    pub headers_helper: Option<String>,
    /// The sign-in settings.
    pub oauth: Option<DisplayedOauth>,
    /// Whether the whole environment is passed on to the server.
    pub inherit_env: bool,
    /// The timeout of a call in milliseconds.
    pub timeout: Option<u64>,
    /// The idle timeout in milliseconds.
    pub idle_timeout: Option<u64>,
    /// Whether the server's tools are always listed.
    pub always_load: bool,
    /// Whether the host requires the server.
    pub required: bool,
    /// Globs of the tools offered.
    pub enabled_tools: Vec<String>,
    /// Globs of the tools withheld.
    pub disabled_tools: Vec<String>,
    /// The roots granted to the server: `false`, or folders.
    pub roots: Option<serde_json::Value>,
    /// The clients that share a process; [`SharePolicy::Auto`] is left out of the output.
    pub share: SharePolicy,
    /// The sign-in that a gateway uses; [`CredentialPolicy::Auto`] is left out of the output.
    pub credentials: CredentialPolicy,
    /// The era; [`Era::Auto`] is left out of the output.
    pub era: Era,
    /// The variables referenced by the entry, in order and without duplicates.
    pub variables: Vec<String>,
}

/// A header or variable with its masked value and the variables referenced by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayedValue {
    /// The header or variable.
    pub name: String,
    /// The masked value.
    pub value: String,
    /// The variables referenced by the value.
    pub variables: Vec<String>,
}

/// The OAuth sign-in settings, secrets masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayedOauth {
    /// The client id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The client secret, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The URL of the client metadata document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// The OAuth grant, unless it is the authorization code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<&'static str>,
    /// The private key, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key: Option<String>,
    /// The file with the private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key_file: Option<String>,
    /// The signed assertion, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// The file with the assertion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion_file: Option<String>,
    /// The fixed callback port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
    /// The URL of the authorization server metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_server_metadata_url: Option<String>,
    /// The scopes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Whether to sign in across applications (XAA).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub xaa: bool,
    /// Whether token requests name the server (RFC 8707).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<bool>,
    /// The audience of a token exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
}

impl RawOauth {
    fn to_displayed(&self, open: impl Fn(&Template) -> String, reveal: SecretVisibility) -> DisplayedOauth {
        let url = |text: &Option<Template>| text.as_ref().map(|text| display_url(text, reveal));
        let shut = |name: &str, text: &Option<Template>| {
            text.as_ref().map(|text| mask_whole_value(name, text, reveal))
        };
        let open = |text: &Option<Template>| text.as_ref().map(&open);
        DisplayedOauth {
            client_id: open(&self.client_id),
            client_secret: shut("clientSecret", &self.client_secret),
            client_metadata_url: url(&self.client_metadata_url),
            grant: (self.grant != ConfiguredGrant::default()).then(|| self.grant.as_str()),
            private_key: shut("privateKey", &self.private_key),
            private_key_file: open(&self.private_key_file),
            assertion: shut("assertion", &self.assertion),
            assertion_file: open(&self.assertion_file),
            callback_port: self.callback_port,
            auth_server_metadata_url: url(&self.auth_server_metadata_url),
            scopes: self.scopes.iter().filter_map(|scope| open(&Some(scope.clone()))).collect(),
            xaa: self.xaa,
            resource: self.resource,
            audience: open(&self.audience),
        }
    }
}

impl RawServer {
    /// The entry in the form for display.
    #[must_use]
    pub fn to_displayed(&self, kind: Option<TransportKind>, reveal: SecretVisibility) -> DisplayedServer {
        let open = |template: &Template| match reveal {
            SecretVisibility::Masked => guess::mask_text(&mask_defaults(template)),
            SecretVisibility::AsWritten => template.text.clone(),
        };
        let named = |(name, template): &(String, Template)| DisplayedValue {
            name: name.clone(),
            value: mask_whole_value(name, template, reveal),
            variables: template.variable_names().into_iter().map(str::to_owned).collect(),
        };
        let args: Vec<String> = match reveal {
            SecretVisibility::Masked => guess::mask_arguments(self.args.iter().map(mask_defaults)),
            SecretVisibility::AsWritten => self.args.iter().map(|arg| arg.text.clone()).collect(),
        };
        DisplayedServer {
            kind,
            command: self.command.as_ref().map(open),
            args,
            env: self.env.iter().map(named).collect(),
            cwd: self.cwd.as_ref().map(open),
            url: self.url.as_ref().map(|url| display_url(url, reveal)),
            headers: self.headers.iter().map(named).collect(),
            headers_helper: self.headers_helper.as_ref().map(|command| display_helper(command, reveal)),
            oauth: self.oauth.as_ref().map(|oauth| oauth.to_displayed(open, reveal)),
            inherit_env: self.inherit_env,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            always_load: self.always_load,
            required: self.required,
            enabled_tools: self.enabled_tools.clone(),
            disabled_tools: self.disabled_tools.clone(),
            roots: self.roots.as_ref().map(|roots| roots.to_json(open)),
            share: self.share.as_ref().map(|share| share.value).unwrap_or_default(),
            credentials: self.credentials.as_ref().map(|whose| whose.value).unwrap_or_default(),
            era: self.era,
            variables: self.variable_names(),
        }
    }

    fn variable_names(&self) -> Vec<String> {
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
        for name in all.flat_map(Template::variable_names) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// The URL of an entry, as written or masked.
fn display_url(template: &Template, reveal: SecretVisibility) -> String {
    match reveal {
        SecretVisibility::Masked => address::mask_url_field(&mask_defaults(template)),
        SecretVisibility::AsWritten => template.text.clone(),
    }
}

/// The command of a header helper, as written or masked.
fn display_helper(template: &Template, reveal: SecretVisibility) -> String {
    match reveal {
        SecretVisibility::Masked => helper::mask_helper(&mask_defaults(template)),
        SecretVisibility::AsWritten => template.text.clone(),
    }
}

/// Masks a value that is secret as a whole, but keeps the auth scheme: `Bearer ***`.
fn mask_whole_value(name: &str, template: &Template, reveal: SecretVisibility) -> String {
    if reveal == SecretVisibility::AsWritten {
        return template.text.clone();
    }
    match template.text.split_once(' ') {
        Some((scheme, _)) if guess::is_credential_name(name) && guess::is_auth_scheme(scheme) => {
            format!("{scheme} {MASK}")
        }
        Some(_) | None => MASK.to_owned(),
    }
}

/// Whether the name and text are a credential, not just an auth scheme or an empty text.
pub(super) fn is_credential(name: &str, text: &str) -> bool {
    let text = text.trim();
    guess::is_secret_pair(name, text) && !text.is_empty() && !guess::is_auth_scheme(text)
}

/// Whether display masks at least a part of the text.
pub(super) fn holds_secret(text: &str) -> bool {
    count_masks(&guess::mask_text(text)) > count_masks(text)
}

/// Whether display masks at least a part of a program's arguments.
pub(super) fn arguments_hold_secret(arguments: &[String]) -> bool {
    let masked = guess::mask_arguments(arguments.iter().cloned());
    masked.iter().zip(arguments).any(|(masked, argument)| count_masks(masked) > count_masks(argument))
}

/// Counts the masks in a text. They are counted, not compared, because display may rewrite a URL without
/// masking a part.
fn count_masks(text: &str) -> usize {
    text.matches(MASK).count()
}

/// Whether a URL holds a literal secret.
pub(super) fn url_holds_secret(text: &str) -> bool {
    address::holds_secret(text)
}

/// The segments of a URL's path that look like tokens, as they are sent.
#[must_use]
pub fn secret_path_segments(url: &Url) -> Vec<&str> {
    address::secret_path_segments(url)
}

/// Masks the parts of a line that look like secrets.
#[must_use]
pub fn mask_secrets(text: &str) -> String {
    guess::mask_text(text)
}

/// Masks the arguments of a program, where a flag may announce that the next argument is secret.
pub(crate) fn mask_arguments(arguments: impl Iterator<Item = String>) -> Vec<String> {
    guess::mask_arguments(arguments)
}

/// The template's text with defaults masked: users often put a real token there.
fn mask_defaults(template: &Template) -> String {
    let Ok(pieces) = template.pieces() else {
        // A template that does not parse may hold a default anywhere after its first `${`.
        let before = template.text.split("${").next().unwrap_or_default();
        return format!("{before}{MASK}");
    };
    pieces
        .into_iter()
        .map(|piece| match piece {
            TemplatePiece::Text(text) => mask_literal_default(text),
            TemplatePiece::Variable { name, default: None } => format!("${{{name}}}"),
            TemplatePiece::Variable { name, default: Some(_) } => format!("${{{name}:-{MASK}}}"),
        })
        .collect()
}

/// Masks a default in text that another program would have expanded, as `import` writes it:
/// `{NAME:-default}`.
fn mask_literal_default(text: &str) -> String {
    match (text.split_once(":-"), text.rfind('}')) {
        (Some((before, _)), Some(end)) if before.contains('{') && end > before.len() => {
            format!("{before}:-{MASK}{}", text.get(end..).unwrap_or_default())
        }
        _ => text.to_owned(),
    }
}

impl Serialize for DisplayedServer {
    /// Writes the fields under their names in the file, in the order of the reference, without unset ones.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let values = |values: &[DisplayedValue]| -> serde_json::Map<String, serde_json::Value> {
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
        optional("type", self.kind.map(TransportKind::as_str).into())?;
        optional("command", self.command.clone().into())?;
        optional("args", self.args.clone().into())?;
        optional("env", values(&self.env).into())?;
        optional("cwd", self.cwd.clone().into())?;
        optional("inheritEnv", self.inherit_env.into())?;
        optional("idleTimeout", self.idle_timeout.into())?;
        if self.share != SharePolicy::Auto {
            optional("share", self.share.as_str().into())?;
        }
        optional("url", self.url.clone().into())?;
        optional("headers", values(&self.headers).into())?;
        optional("headersHelper", self.headers_helper.clone().into())?;
        optional("oauth", serde_json::to_value(&self.oauth).unwrap_or_default())?;
        if self.credentials != CredentialPolicy::Auto {
            optional("credentials", self.credentials.as_str().into())?;
        }
        optional("timeout", self.timeout.into())?;
        optional("alwaysLoad", self.always_load.into())?;
        optional("required", self.required.into())?;
        optional("enabledTools", self.enabled_tools.clone().into())?;
        optional("disabledTools", self.disabled_tools.clone().into())?;
        if self.era != Era::Auto {
            optional("era", self.era.as_str().into())?;
        }
        optional("variables", self.variables.clone().into())?;
        // `false` has a meaning here, so it is not left out.
        if let Some(roots) = &self.roots {
            map.serialize_entry("roots", roots)?;
        }
        map.end()
    }
}
