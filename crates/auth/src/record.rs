//! What is remembered of the sign-in to one server: who we are there, what we were given, and by whom.
//!
//! A record belongs to one [`Slot`]: a server's name with what its entry says about where it is and who we are to it.
//! Another URL or another client under the same name is another slot, so nothing is ever shown to a server it was not
//! given for (A2, B78).

mod written;

use mcparley_model::config::{Oauth, Remote};
use mcparley_model::hex::Hex;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::client::Client;
use crate::metadata::Server;
use crate::tokens::Tokens;
use crate::vault::EntryId;

/// The kind of entry that records are kept under.
pub(crate) const SERVERS: &str = "server";

/// The kind of entry that client secrets are kept under.
pub(crate) const SECRETS: &str = "secret";

/// Which sign-in: one server, as its entry describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot([u8; 32]);

impl Slot {
    /// The slot of a server's entry. Scopes, ports and secrets may change without losing the sign-in.
    pub(crate) fn of(server: &ServerName, remote: &Remote) -> Self {
        let none = Oauth::default();
        let oauth = remote.oauth.as_ref().unwrap_or(&none);
        let metadata = oauth.auth_server_metadata_url.as_ref().map_or("", Url::as_str);
        let document = oauth.client_metadata_url.as_ref().map_or("", Url::as_str);
        let client = oauth.client_id.as_deref().unwrap_or_default();
        let kind = if oauth.xaa { "xaa" } else { oauth.grant.as_str() };
        let mut hash = Sha256::new();
        for part in [server.as_str(), remote.url.expose().as_str(), client, document, metadata, kind] {
            // With its length in front, no other row of texts has the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// Where its record is kept.
    pub(crate) fn record(&self) -> EntryId {
        EntryId::new(SERVERS, Hex(&self.0))
    }

    /// Where a client secret that stands in no file is kept.
    pub(crate) fn secret(&self) -> EntryId {
        EntryId::new(SECRETS, Hex(&self.0))
    }
}

/// What is remembered of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The server's name, for people.
    pub(crate) server: String,
    /// What the tokens are for (RFC 8707).
    pub(crate) resource: String,
    /// Who gave them, as it described itself then. They are shown to nobody else.
    pub(crate) issuer: Server,
    /// Who we are to it.
    pub(crate) client: Client,
    /// What it gave; nothing when it was taken back.
    pub(crate) tokens: Option<Tokens>,
    /// Scopes the server has asked for since.
    pub(crate) wanted: Vec<String>,
    /// The key that tokens are bound to, in PKCS #8.
    pub(crate) key: Option<Secret<Vec<u8>>>,
}

#[cfg(test)]
pub(crate) mod tests;
