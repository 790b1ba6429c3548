//! The record of a sign-in to one server: our client, its tokens, and their issuer.
//!
//! A record belongs to one [`SignInSlot`]: a server's name with the address and client of its entry. Another
//! URL or another client under the same name is another slot, so that no token is sent to a server it was not
//! issued for.

mod written;

use mcparley_model::config::{OauthConfig, RemoteConfig};
use mcparley_model::hex::Hex;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::client::OAuthClient;
use crate::metadata::AuthServerMetadata;
use crate::tokens::Tokens;
use crate::vault::EntryId;

/// The kind of vault entry for records.
pub(crate) const SERVERS: &str = "server";

/// The kind of vault entry for client secrets.
pub(crate) const SECRETS: &str = "secret";

/// The key of a sign-in: one server, as its entry describes it, of one principal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SignInSlot {
    /// The digest of the server and its principal.
    record: [u8; 32],
    /// The digest of the server: the client's secret is that of all principals.
    server: [u8; 32],
}

impl SignInSlot {
    /// The slot of a server's entry: of this principal of a gateway, or of the user. Scopes, ports and secrets may
    /// change without losing the sign-in.
    pub(crate) fn for_server(server: &ServerName, remote: &RemoteConfig, principal: Option<&str>) -> Self {
        let none = OauthConfig::default();
        let oauth = remote.oauth.as_ref().unwrap_or(&none);
        let metadata = oauth.auth_server_metadata_url.as_ref().map_or("", Url::as_str);
        let document = oauth.client_metadata_url.as_ref().map_or("", Url::as_str);
        let client = oauth.client_id.as_deref().unwrap_or_default();
        let kind = if oauth.xaa { "xaa" } else { oauth.grant.as_str() };
        let parts = [server.as_str(), remote.url.expose().as_str(), client, document, metadata, kind];
        let server = hash_parts(&parts);
        let record = match principal {
            Some(principal) => hash_parts(&[&Hex(&server).to_string(), principal]),
            None => server,
        };
        Self { record, server }
    }

    /// The vault entry of its record.
    pub(crate) fn record_entry(&self) -> EntryId {
        EntryId::new(SERVERS, Hex(&self.record))
    }

    /// The vault entry of a client secret that is in no configuration file.
    pub(crate) fn secret_entry(&self) -> EntryId {
        EntryId::new(SECRETS, Hex(&self.server))
    }
}

fn hash_parts(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        // The length prefix makes the hash input unambiguous.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// The record of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignInRecord {
    /// The server's name, for display.
    pub(crate) server: String,
    /// The resource the tokens are for (RFC 8707).
    pub(crate) resource: String,
    /// The metadata of the issuer at the time. Tokens are sent to no other authorization server.
    pub(crate) issuer: AuthServerMetadata,
    /// Our client there.
    pub(crate) client: OAuthClient,
    /// The tokens; `None` after they were invalidated.
    pub(crate) tokens: Option<Tokens>,
    /// Scopes that the server has asked for since.
    pub(crate) wanted: Vec<String>,
    /// The DPoP key that tokens are bound to, in PKCS #8.
    pub(crate) key: Option<Secret<Vec<u8>>>,
}

#[cfg(test)]
pub(crate) mod tests;
