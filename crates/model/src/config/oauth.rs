//! How to sign in to a remote server, as its entry says it: the field `oauth`.

use url::Url;

use super::error::{ConfigError, Problem};
use super::raw::{Hint, Reader, unknown};
use super::typed::{Checker, wrong};
use crate::document::Node;
use crate::expand::Template;
use crate::secret::Secret;

/// How to sign in to a remote server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oauth {
    /// A client id registered beforehand.
    pub client_id: Option<String>,
    /// The secret that goes with it, where it is not in the vault.
    pub client_secret: Option<Secret<String>>,
    /// Where a document describes this client; the address is its id.
    pub client_metadata_url: Option<Url>,
    /// What is shown for a token.
    pub grant: Grant,
    /// The key that signs for the client.
    pub private_key: Option<Held>,
    /// What somebody else has signed for this program, for [`Grant::JwtBearer`].
    pub assertion: Option<Held>,
    /// A fixed port for the browser's way back.
    pub callback_port: Option<u16>,
    /// Where the authorization server describes itself.
    pub auth_server_metadata_url: Option<Url>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// Whether to sign in across applications.
    pub xaa: bool,
    /// Whether the `resource` parameter is left out (RFC 8707), for providers that refuse it.
    pub omit_resource: bool,
}

/// What is shown to an authorization server for a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grant {
    /// The consent of a person, in a browser or on another device.
    #[default]
    Person,
    /// The client's own secret or key: nobody is asked.
    ClientCredentials,
    /// A statement that somebody else has signed, such as the platform the program runs on.
    JwtBearer,
}

impl Grant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Person, Self::ClientCredentials, Self::JwtBearer];

    /// The word for it in a file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::JwtBearer => "jwt-bearer",
        }
    }
}

/// A secret that stands in the entry, or in a file that is read whenever it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It stands in the entry.
    Here(Secret<String>),
    /// It stands in a file.
    File(String),
}

/// `oauth` as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawOauth {
    /// `clientId`
    pub client_id: Option<Template>,
    /// `clientSecret`
    pub client_secret: Option<Template>,
    /// `clientMetadataUrl`
    pub client_metadata_url: Option<Template>,
    /// `grant`
    pub grant: Grant,
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
}

impl RawOauth {
    pub(super) fn read(
        reader: &Reader<'_>,
        value: Node<'_>,
        hints: &mut Vec<Hint>,
    ) -> Result<Self, ConfigError> {
        let mut oauth = Self::default();
        for member in reader.members(value)? {
            let at = reader.at(member.name);
            match member.name {
                "clientId" => oauth.client_id = Some(at.text(member.value)?),
                "clientSecret" => oauth.client_secret = Some(at.text(member.value)?),
                "clientMetadataUrl" => oauth.client_metadata_url = Some(at.text(member.value)?),
                "grant" => oauth.grant = at.choice(member.value, Grant::ALL, Grant::as_str)?,
                "privateKey" => oauth.private_key = Some(at.text(member.value)?),
                "privateKeyFile" => oauth.private_key_file = Some(at.text(member.value)?),
                "assertion" => oauth.assertion = Some(at.text(member.value)?),
                "assertionFile" => oauth.assertion_file = Some(at.text(member.value)?),
                "callbackPort" => oauth.callback_port = Some(at.port(member.value)?),
                "authServerMetadataUrl" => oauth.auth_server_metadata_url = Some(at.text(member.value)?),
                "scopes" => oauth.scopes = at.words(member.value)?,
                "xaa" => oauth.xaa = at.flag(member.value)?,
                "resource" => oauth.resource = Some(at.flag(member.value)?),
                _ => hints.push(unknown(&at, &member)),
            }
        }
        Ok(oauth)
    }

    /// Every text with the key it is written under, in a fixed order.
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
        ];
        let named = named.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
        named.chain(self.scopes.iter().map(|scope| ("scopes", scope)))
    }

    /// Every text that may hold variables.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.open_templates().chain(self.closed_templates()).chain(&self.scopes)
    }

    fn open_templates(&self) -> impl Iterator<Item = &Template> {
        let files = self.private_key_file.iter().chain(&self.assertion_file);
        let urls = self.client_metadata_url.iter().chain(&self.auth_server_metadata_url);
        self.client_id.iter().chain(files).chain(urls)
    }

    fn closed_templates(&self) -> impl Iterator<Item = &Template> {
        self.client_secret.iter().chain(&self.private_key).chain(&self.assertion)
    }

    pub(super) fn check(&self, check: &Checker<'_>) -> Result<Oauth, ConfigError> {
        let line = |field: &str, text: &Option<Template>| {
            text.as_ref().map(|text| check.one_line(&format!("oauth.{field}"), text)).transpose()
        };
        let address = |field: &str, text: &Option<Template>, schemes: &[&str]| {
            let parse = |text| check.parse_url(&format!("oauth.{field}"), text, schemes, "https://");
            text.as_ref().map(parse).transpose()
        };
        let scopes = self.scopes.iter().map(|scope| check.one_line("oauth.scopes", scope));
        let metadata = &self.auth_server_metadata_url;
        let oauth = Oauth {
            client_id: line("clientId", &self.client_id)?,
            client_secret: line("clientSecret", &self.client_secret)?.map(Secret::new),
            client_metadata_url: address("clientMetadataUrl", &self.client_metadata_url, &["https"])?,
            grant: self.grant,
            private_key: held(check, "privateKey", &self.private_key, &self.private_key_file)?,
            assertion: held(check, "assertion", &self.assertion, &self.assertion_file)?,
            callback_port: self.callback_port,
            auth_server_metadata_url: address("authServerMetadataUrl", metadata, &["https", "http"])?,
            scopes: scopes.collect::<Result<_, _>>()?,
            xaa: self.xaa,
            omit_resource: self.resource == Some(false),
        };
        Ok(oauth)
    }
}

fn held(
    check: &Checker<'_>,
    field: &str,
    here: &Option<Template>,
    file: &Option<Template>,
) -> Result<Option<Held>, ConfigError> {
    let field = format!("oauth.{field}");
    match (here, file) {
        (Some(_), Some(file)) => Err(wrong(&format!("{field}File"), Problem::GivenTwice, file)),
        (Some(text), None) => Ok(Some(Held::Here(Secret::new(check.many_lines(&field, text)?)))),
        (None, Some(file)) => check.one_line(&format!("{field}File"), file).map(Held::File).map(Some),
        (None, None) => Ok(None),
    }
}
