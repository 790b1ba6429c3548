//! How a record is written down. Only ever inside the vault: here secrets stand as they are.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley_model::secret::Secret;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Record;
use crate::client::{Client, Origin, Proof};
use crate::metadata::{Found, Server};
use crate::tokens::{Kind, Tokens};

/// A record that cannot be read: damaged, or of a version to come.
#[derive(Clone, Debug, thiserror::Error)]
#[error("what is remembered of the sign-in cannot be read: {why}")]
pub(crate) struct Unreadable {
    why: String,
}

impl Record {
    /// The bytes for the vault.
    pub(crate) fn to_bytes(&self) -> Secret<Vec<u8>> {
        let written = Written {
            server: self.server.clone(),
            resource: self.resource.clone(),
            issuer: WrittenServer::of(&self.issuer),
            client: WrittenClient::of(&self.client),
            tokens: self.tokens.as_ref().map(WrittenTokens::of),
            wanted: self.wanted.clone(),
            key: self.key.as_ref().map(|key| STANDARD.encode(key.expose())),
        };
        // Plain texts, numbers and lists: nothing in it can fail to be written.
        Secret::new(serde_json::to_vec(&written).unwrap_or_default())
    }

    /// What bytes of the vault say.
    pub(crate) fn from_bytes(bytes: &Secret<Vec<u8>>) -> Result<Self, Unreadable> {
        // The library's message may quote what it read, which is secret; where it stopped is not.
        let broken = |error: serde_json::Error| Unreadable {
            why: format!("line {}, column {}", error.line(), error.column()),
        };
        let written: Written = serde_json::from_slice(bytes.expose()).map_err(broken)?;
        let Written { server, resource, issuer, client, tokens, wanted, key } = written;
        let wrong = |what: &str| Unreadable { why: format!("its {what}") };
        let key = key.map(|key| STANDARD.decode(key).map_err(|_| wrong("key"))).transpose()?;
        Ok(Self {
            server,
            resource,
            issuer: issuer.read(),
            client: client.read().ok_or_else(|| wrong("client"))?,
            tokens: tokens.map(|tokens| tokens.read().ok_or_else(|| wrong("tokens"))).transpose()?,
            wanted,
            key: key.map(Secret::new),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    server: String,
    resource: String,
    issuer: WrittenServer,
    client: WrittenClient,
    tokens: Option<WrittenTokens>,
    #[serde(default)]
    wanted: Vec<String>,
    #[serde(default)]
    key: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WrittenClient {
    id: String,
    secret: Option<String>,
    proof: String,
    redirect: Option<Url>,
    origin: String,
    #[serde(default)]
    scopes: Vec<String>,
}

impl WrittenClient {
    fn of(client: &Client) -> Self {
        let Client { id, secret, proof, redirect, origin, scopes } = client;
        let origin = match origin {
            Origin::Configured => "configured",
            Origin::Document => "document",
            Origin::Registered => "registered",
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

    fn read(self) -> Option<Client> {
        let origin = match self.origin.as_str() {
            "configured" => Origin::Configured,
            "document" => Origin::Document,
            "registered" => Origin::Registered,
            _ => return None,
        };
        let (secret, proof) = (self.secret.map(Secret::new), Proof::named(&self.proof)?);
        Some(Client { id: self.id, secret, proof, redirect: self.redirect, origin, scopes: self.scopes })
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenTokens {
    access: String,
    kind: String,
    refresh: Option<String>,
    /// Seconds of the clock on the wall since 1970.
    given: u64,
    /// The same.
    expires: Option<u64>,
    scopes: Vec<String>,
}

impl WrittenTokens {
    fn of(tokens: &Tokens) -> Self {
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

    fn read(self) -> Option<Tokens> {
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

/// The parts of an authorization server's description that are needed after the sign-in.
#[derive(Serialize, Deserialize)]
struct WrittenServer {
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

impl WrittenServer {
    fn of(server: &Server) -> Self {
        let names = |proofs: &Vec<Proof>| proofs.iter().map(|proof| proof.as_str().to_owned()).collect();
        Self {
            issuer: server.issuer.clone(),
            token_endpoint: server.token_endpoint.clone(),
            revocation_endpoint: server.revocation_endpoint.clone(),
            grants: server.grants.clone(),
            proofs: server.proofs.as_ref().map(names),
            signing: server.signing.clone(),
            dpop: server.dpop.clone(),
            assumed: server.found == Found::Assumed,
        }
    }

    fn read(self) -> Server {
        let proofs = |names: Vec<String>| names.iter().filter_map(|name| Proof::named(name)).collect();
        Server {
            revocation_endpoint: self.revocation_endpoint,
            grants: self.grants,
            proofs: self.proofs.map(proofs),
            signing: self.signing,
            dpop: self.dpop,
            found: if self.assumed { Found::Assumed } else { Found::Described },
            // A new sign-in asks for the rest anew.
            ..Server::new(self.issuer, self.token_endpoint)
        }
    }
}
