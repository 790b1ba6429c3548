//! The JSON form of a record. It is written only to the vault: secrets are in plain text here.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley_model::secret::Secret;
use serde::{Deserialize, Serialize};
use url::Url;

use super::SignInRecord;
use crate::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use crate::metadata::{AuthServerMetadata, MetadataSource};
use crate::tokens::{Kind, Tokens};

/// The error for a record that cannot be read: damaged, or of a later version.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot read the stored sign-in: {why}")]
pub(crate) struct RecordError {
    why: String,
}

impl SignInRecord {
    /// Encodes the record for the vault.
    pub(crate) fn to_bytes(&self) -> Secret<Vec<u8>> {
        let written = RecordJson {
            server: self.server.clone(),
            resource: self.resource.clone(),
            issuer: IssuerJson::from_metadata(&self.issuer),
            client: ClientJson::from_client(&self.client),
            tokens: self.tokens.as_ref().map(TokensJson::from_tokens),
            wanted: self.wanted.clone(),
            key: self.key.as_ref().map(|key| STANDARD.encode(key.expose())),
        };
        // Only texts, numbers and lists, so that serialization cannot fail.
        Secret::new(serde_json::to_vec(&written).unwrap_or_default())
    }

    /// Decodes a record from the vault.
    pub(crate) fn from_bytes(bytes: &Secret<Vec<u8>>) -> Result<Self, RecordError> {
        // The library's message may quote the text, which is secret; the position is not.
        let broken = |error: serde_json::Error| RecordError {
            why: format!("line {}, column {}", error.line(), error.column()),
        };
        let written: RecordJson = serde_json::from_slice(bytes.expose()).map_err(broken)?;
        let RecordJson { server, resource, issuer, client, tokens, wanted, key } = written;
        let wrong = |what: &str| RecordError { why: format!("its {what}") };
        let key = key.map(|key| STANDARD.decode(key).map_err(|_| wrong("key"))).transpose()?;
        Ok(Self {
            server,
            resource,
            issuer: issuer.into_metadata(),
            client: client.into_client().ok_or_else(|| wrong("client"))?,
            tokens: tokens.map(|tokens| tokens.into_tokens().ok_or_else(|| wrong("tokens"))).transpose()?,
            wanted,
            key: key.map(Secret::new),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    server: String,
    resource: String,
    issuer: IssuerJson,
    client: ClientJson,
    tokens: Option<TokensJson>,
    #[serde(default)]
    wanted: Vec<String>,
    #[serde(default)]
    key: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ClientJson {
    id: String,
    secret: Option<String>,
    proof: String,
    redirect: Option<Url>,
    origin: String,
    #[serde(default)]
    scopes: Vec<String>,
}

impl ClientJson {
    fn from_client(client: &OAuthClient) -> Self {
        let OAuthClient { id, secret, proof, redirect, origin, scopes } = client;
        let origin = match origin {
            ClientIdOrigin::Configured => "configured",
            ClientIdOrigin::Document => "document",
            ClientIdOrigin::Registered => "registered",
        };
        Self {
            id: id.clone(),
            secret: secret.as_ref().map(|secret| secret.expose().clone()),
            proof: proof.as_str().to_owned(),
            redirect: redirect.clone(),
            origin: origin.to_owned(),
            scopes: scopes.clone(),
        }
    }

    fn into_client(self) -> Option<OAuthClient> {
        let origin = match self.origin.as_str() {
            "configured" => ClientIdOrigin::Configured,
            "document" => ClientIdOrigin::Document,
            "registered" => ClientIdOrigin::Registered,
            _ => return None,
        };
        let (secret, proof) = (self.secret.map(Secret::new), ClientAuthMethod::from_name(&self.proof)?);
        Some(OAuthClient { id: self.id, secret, proof, redirect: self.redirect, origin, scopes: self.scopes })
    }
}

#[derive(Serialize, Deserialize)]
struct TokensJson {
    access: String,
    kind: String,
    refresh: Option<String>,
    /// Seconds of the wall clock since 1970.
    given: u64,
    /// Seconds of the wall clock since 1970.
    expires: Option<u64>,
    scopes: Vec<String>,
}

impl TokensJson {
    fn from_tokens(tokens: &Tokens) -> Self {
        let Tokens { access, kind, refresh, given, expires, scopes } = tokens;
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            access: access.expose().clone(),
            kind: kind.as_str().to_owned(),
            refresh: refresh.as_ref().map(|token| token.expose().clone()),
            given: since(*given).as_secs(),
            expires: expires.map(|time| since(time).as_secs()),
            scopes: scopes.clone(),
        }
    }

    fn into_tokens(self) -> Option<Tokens> {
        let kind = [Kind::Bearer, Kind::Dpop].into_iter().find(|kind| kind.as_str() == self.kind)?;
        let at = |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        Some(Tokens {
            access: Secret::new(self.access),
            kind,
            refresh: self.refresh.map(Secret::new),
            given: at(self.given)?,
            expires: self.expires.and_then(at),
            scopes: self.scopes,
        })
    }
}

/// The metadata of an authorization server that is needed after the sign-in.
#[derive(Serialize, Deserialize)]
struct IssuerJson {
    issuer: String,
    token_endpoint: Url,
    revocation_endpoint: Option<Url>,
    grants: Option<Vec<String>>,
    proofs: Option<Vec<String>>,
    signing: Option<Vec<String>>,
    #[serde(default)]
    dpop: Vec<String>,
    assumed: bool,
}

impl IssuerJson {
    fn from_metadata(server: &AuthServerMetadata) -> Self {
        let names =
            |proofs: &Vec<ClientAuthMethod>| proofs.iter().map(|proof| proof.as_str().to_owned()).collect();
        Self {
            issuer: server.issuer.clone(),
            token_endpoint: server.token_endpoint.clone(),
            revocation_endpoint: server.revocation_endpoint.clone(),
            grants: server.grants.clone(),
            proofs: server.proofs.as_ref().map(names),
            signing: server.signing.clone(),
            dpop: server.dpop.clone(),
            assumed: server.source == MetadataSource::Assumed,
        }
    }

    fn into_metadata(self) -> AuthServerMetadata {
        let proofs =
            |names: Vec<String>| names.iter().filter_map(|name| ClientAuthMethod::from_name(name)).collect();
        AuthServerMetadata {
            revocation_endpoint: self.revocation_endpoint,
            grants: self.grants,
            proofs: self.proofs.map(proofs),
            signing: self.signing,
            dpop: self.dpop,
            source: if self.assumed { MetadataSource::Assumed } else { MetadataSource::Published },
            // A new sign-in fetches the rest again.
            ..AuthServerMetadata::new(self.issuer, self.token_endpoint)
        }
    }
}
