//! What an entry says about signing in; every app has its own spelling for the same three things.

use serde_json::{Map, Value, json};
use url::Url;

use super::entry::Entry;
use super::reason::Reason;

/// What our format says about signing in.
#[derive(Default)]
pub(super) struct OAuth {
    pub(super) client_id: Option<String>,
    pub(super) callback_port: Option<u16>,
    pub(super) scopes: Vec<String>,
}

impl OAuth {
    /// Reads `field` of `entry`, where it is an object; otherwise it stays there and is noted as left over.
    pub(super) fn read(entry: &mut Entry<'_>, field: &str) -> Result<Self, Reason> {
        let Some(mut inner) = entry.open(field, "oauth.") else { return Ok(Self::default()) };
        let mut oauth = Self::default();
        for spelling in ["clientId", "client_id", "CLIENT_ID"] {
            oauth.client_id = oauth.client_id.or(inner.text(spelling)?);
        }
        for spelling in ["clientSecret", "client_secret", "CLIENT_SECRET"] {
            if inner.raw(spelling).is_some() {
                inner.note("the client's secret is not carried over; give it when signing in");
            }
        }
        oauth.callback_port = inner.word("redirectUri")?.as_deref().and_then(loopback_port);
        oauth.scopes = inner.texts("scopes")?.unwrap_or_default();
        if let Some(scope) = inner.text("scope")? {
            oauth.scopes.extend(scope.split_whitespace().map(str::to_owned));
        }
        // `enabled` only says what the presence of the object says here.
        inner.raw("enabled");
        entry.close(inner);
        Ok(oauth)
    }

    /// Itself, unless it says nothing.
    pub(super) fn unless_empty(self) -> Option<Self> {
        let Self { client_id, callback_port, scopes } = &self;
        let empty = client_id.is_none() && callback_port.is_none() && scopes.is_empty();
        (!empty).then_some(self)
    }

    /// The object we write; scopes are one string, as in a request (RFC 6749, section 3.3).
    pub(super) fn into_entry(self) -> Map<String, Value> {
        let Self { client_id, callback_port, scopes } = self;
        let mut entry = Map::new();
        entry.extend(client_id.map(|id| ("clientId".to_owned(), json!(id))));
        entry.extend(callback_port.map(|port| ("callbackPort".to_owned(), json!(port))));
        if !scopes.is_empty() {
            entry.insert("scopes".to_owned(), json!(scopes.join(" ")));
        }
        entry
    }
}

/// The port an authorization server was told to come back to, when it is on this machine.
fn loopback_port(uri: &str) -> Option<u16> {
    let uri = Url::parse(uri).ok()?;
    matches!(uri.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")).then(|| uri.port())?
}
