//! OAuth fields of a foreign entry: client id, callback port and scopes, which every app spells differently.

use serde_json::{Map, Value, json};
use url::Url;

use super::entry::ForeignEntry;
use super::reason::ImportRefusal;

/// The OAuth fields of our format.
#[derive(Default)]
pub(super) struct DraftOAuth {
    pub(super) client_id: Option<String>,
    pub(super) callback_port: Option<u16>,
    pub(super) scopes: Vec<String>,
}

impl DraftOAuth {
    /// Takes `field` of `entry` if it is an object; otherwise the field stays and is noted as not imported.
    pub(super) fn from_field(entry: &mut ForeignEntry<'_>, field: &str) -> Result<Self, ImportRefusal> {
        let Some(mut inner) = entry.take_object(field, "oauth.") else { return Ok(Self::default()) };
        let mut oauth = Self::default();
        for spelling in ["clientId", "client_id", "CLIENT_ID"] {
            oauth.client_id = oauth.client_id.or(inner.take_text(spelling)?);
        }
        for spelling in ["clientSecret", "client_secret", "CLIENT_SECRET"] {
            if inner.take_value(spelling).is_some() {
                inner.add_note("the client's secret is not carried over; give it when signing in");
            }
        }
        oauth.callback_port = inner.take_word("redirectUri")?.as_deref().and_then(loopback_port);
        oauth.scopes = inner.take_texts("scopes")?.unwrap_or_default();
        if let Some(scope) = inner.take_text("scope")? {
            oauth.scopes.extend(scope.split_whitespace().map(str::to_owned));
        }
        // `enabled` is redundant: in our format the presence of the object means the same.
        inner.take_value("enabled");
        entry.absorb_notes(inner);
        Ok(oauth)
    }

    /// Returns `None` if no field is set.
    pub(super) fn unless_empty(self) -> Option<Self> {
        let Self { client_id, callback_port, scopes } = &self;
        let empty = client_id.is_none() && callback_port.is_none() && scopes.is_empty();
        (!empty).then_some(self)
    }

    /// The JSON object in our format; scopes are one string, as in a request (RFC 6749, section 3.3).
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

/// The port of a redirect URI on this machine.
fn loopback_port(uri: &str) -> Option<u16> {
    let uri = Url::parse(uri).ok()?;
    matches!(uri.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")).then(|| uri.port())?
}
