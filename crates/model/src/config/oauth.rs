//! The field `oauth` of an entry: the OAuth sign-in settings of a remote server.

use url::Url;

use super::error::{ConfigError, ValueProblem};
use super::raw::{EntryHint, FieldReader, unknown_field_hint};
use super::typed::{EntryChecker, value_error};
use crate::document::Node;
use crate::expand::Template;
use crate::secret::Secret;

/// The OAuth sign-in settings of a remote server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OauthConfig {
    /// A client id registered beforehand.
    pub client_id: Option<String>,
    /// The client secret, unless it is in the vault.
    pub client_secret: Option<Secret<String>>,
    /// The URL of the client metadata document, which is also the client id.
    pub client_metadata_url: Option<Url>,
    /// The grant that obtains a token.
    pub grant: ConfiguredGrant,
    /// The private key that signs for the client.
    pub private_key: Option<ConfiguredSecret>,
    /// The assertion signed by a third party, for [`ConfiguredGrant::JwtBearer`].
    pub assertion: Option<ConfiguredSecret>,
    /// A fixed port for the browser's callback.
    pub callback_port: Option<u16>,
    /// The URL of the authorization server metadata.
    pub auth_server_metadata_url: Option<Url>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// Whether to sign in across applications (XAA).
    pub xaa: bool,
    /// Whether the `resource` parameter is left out (RFC 8707), for providers that refuse it.
    pub omit_resource: bool,
    /// The `audience` of a token exchange (RFC 8693).
    pub audience: Option<String>,
}

/// The OAuth grant that obtains a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConfiguredGrant {
    /// The authorization code: the user's consent, in a browser or on another device.
    #[default]
    Person,
    /// Client credentials: the client's own secret or key, without a user.
    ClientCredentials,
    /// JWT bearer: an assertion signed by a third party, such as the platform the program runs on.
    JwtBearer,
    /// Token exchange (RFC 8693): the token that the client of a gateway sent, at its issuer.
    TokenExchange,
}

impl ConfiguredGrant {
    /// All grants.
    pub const ALL: [Self; 4] = [Self::Person, Self::ClientCredentials, Self::JwtBearer, Self::TokenExchange];

    /// The word used in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::JwtBearer => "jwt-bearer",
            Self::TokenExchange => "token-exchange",
        }
    }
}

/// A secret that is inline in the entry, or in a file that is read whenever the secret is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfiguredSecret {
    /// The secret is inline in the entry.
    Inline(Secret<String>),
    /// The secret is in this file.
    File(String),
}

/// The field `oauth` as it is written in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawOauth {
    /// `clientId`
    pub client_id: Option<Template>,
    /// `clientSecret`
    pub client_secret: Option<Template>,
    /// `clientMetadataUrl`
    pub client_metadata_url: Option<Template>,
    /// `grant`
    pub grant: ConfiguredGrant,
    /// `privateKey`
    pub private_key: Option<Template>,
    /// `privateKeyFile`
    pub private_key_file: Option<Template>,
    /// `assertion`
    pub assertion: Option<Template>,
    /// `assertionFile`
    pub assertion_file: Option<Template>,
    /// `callbackPort`
    pub callback_port: Option<u16>,
    /// `authServerMetadataUrl`
    pub auth_server_metadata_url: Option<Template>,
    /// `scopes`
    pub scopes: Vec<Template>,
    /// `xaa`
    pub xaa: bool,
    /// `resource`
    pub resource: Option<bool>,
    /// `audience`
    pub audience: Option<Template>,
}

impl RawOauth {
    pub(super) fn from_node(
        reader: &FieldReader<'_>,
        value: Node<'_>,
        hints: &mut Vec<EntryHint>,
    ) -> Result<Self, ConfigError> {
        let mut oauth = Self::default();
        for member in reader.read_members(value)? {
            let at = reader.at_member(member.name);
            match member.name {
                "clientId" => oauth.client_id = Some(at.read_template(member.value)?),
                "clientSecret" => oauth.client_secret = Some(at.read_template(member.value)?),
                "clientMetadataUrl" => oauth.client_metadata_url = Some(at.read_template(member.value)?),
                "grant" => {
                    oauth.grant =
                        at.read_choice(member.value, ConfiguredGrant::ALL, ConfiguredGrant::as_str)?
                }
                "privateKey" => oauth.private_key = Some(at.read_template(member.value)?),
                "privateKeyFile" => oauth.private_key_file = Some(at.read_template(member.value)?),
                "assertion" => oauth.assertion = Some(at.read_template(member.value)?),
                "assertionFile" => oauth.assertion_file = Some(at.read_template(member.value)?),
                "callbackPort" => oauth.callback_port = Some(at.read_port(member.value)?),
                "authServerMetadataUrl" => {
                    oauth.auth_server_metadata_url = Some(at.read_template(member.value)?)
                }
                "scopes" => oauth.scopes = at.read_words(member.value)?,
                "xaa" => oauth.xaa = at.read_flag(member.value)?,
                "resource" => oauth.resource = Some(at.read_flag(member.value)?),
                "audience" => oauth.audience = Some(at.read_template(member.value)?),
                _ => hints.push(unknown_field_hint(&at, &member)),
            }
        }
        Ok(oauth)
    }

    /// All templates with their keys, in a fixed order.
    pub(crate) fn named_templates(&self) -> impl Iterator<Item = (&'static str, &Template)> {
        let named = [
            ("clientId", &self.client_id),
            ("clientSecret", &self.client_secret),
            ("clientMetadataUrl", &self.client_metadata_url),
            ("privateKey", &self.private_key),
            ("privateKeyFile", &self.private_key_file),
            ("assertion", &self.assertion),
            ("assertionFile", &self.assertion_file),
            ("authServerMetadataUrl", &self.auth_server_metadata_url),
            ("audience", &self.audience),
        ];
        let named = named.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
        named.chain(self.scopes.iter().map(|scope| ("scopes", scope)))
    }

    /// All templates, which may reference variables.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.open_templates().chain(self.closed_templates()).chain(&self.scopes)
    }

    fn open_templates(&self) -> impl Iterator<Item = &Template> {
        let files = self.private_key_file.iter().chain(&self.assertion_file);
        let urls = self.client_metadata_url.iter().chain(&self.auth_server_metadata_url);
        self.client_id.iter().chain(files).chain(urls).chain(&self.audience)
    }

    fn closed_templates(&self) -> impl Iterator<Item = &Template> {
        self.client_secret.iter().chain(&self.private_key).chain(&self.assertion)
    }

    pub(super) fn to_config(&self, check: &EntryChecker<'_>) -> Result<OauthConfig, ConfigError> {
        let line = |field: &str, text: &Option<Template>| {
            text.as_ref().map(|text| check.expand_one_line(&format!("oauth.{field}"), text)).transpose()
        };
        let address = |field: &str, text: &Option<Template>, schemes: &[&str]| {
            let parse = |text| check.parse_url(&format!("oauth.{field}"), text, schemes, "https://");
            text.as_ref().map(parse).transpose()
        };
        let scopes = self.scopes.iter().map(|scope| check.expand_one_line("oauth.scopes", scope));
        let metadata = &self.auth_server_metadata_url;
        let oauth = OauthConfig {
            client_id: line("clientId", &self.client_id)?,
            client_secret: line("clientSecret", &self.client_secret)?.map(Secret::new),
            client_metadata_url: address("clientMetadataUrl", &self.client_metadata_url, &["https"])?,
            grant: self.grant,
            private_key: parse_secret(check, "privateKey", &self.private_key, &self.private_key_file)?,
            assertion: parse_secret(check, "assertion", &self.assertion, &self.assertion_file)?,
            callback_port: self.callback_port,
            auth_server_metadata_url: address("authServerMetadataUrl", metadata, &["https", "http"])?,
            scopes: scopes.collect::<Result<_, _>>()?,
            xaa: self.xaa,
            omit_resource: self.resource == Some(false),
            audience: line("audience", &self.audience)?,
        };
        Ok(oauth)
    }
}

fn parse_secret(
    check: &EntryChecker<'_>,
    field: &str,
    here: &Option<Template>,
    file: &Option<Template>,
) -> Result<Option<ConfiguredSecret>, ConfigError> {
    let field = format!("oauth.{field}");
    match (here, file) {
        (Some(_), Some(file)) => Err(value_error(&format!("{field}File"), ValueProblem::GivenTwice, file)),
        (Some(text), None) => {
            Ok(Some(ConfiguredSecret::Inline(Secret::new(check.expand_many_lines(&field, text)?))))
        }
        (None, Some(file)) => {
            check.expand_one_line(&format!("{field}File"), file).map(ConfiguredSecret::File).map(Some)
        }
        (None, None) => Ok(None),
    }
}
