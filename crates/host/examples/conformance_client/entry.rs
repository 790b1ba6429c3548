//! From the environment of the suite to the entry of a server.

use mcparley::auth::IdentitySettings;
use mcparley::model::secret::Secret;
use serde_json::{Map, Value, json};

/// The name the server goes by.
pub(crate) const SERVER: &str = "suite";

/// Where this client is described, for authorization servers that take the address for its id.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The JSON in `MCP_CONFORMANCE_CONTEXT`.
#[derive(Debug, Default)]
pub(crate) struct Context(Map<String, Value>);

impl Context {
    /// Reads it; absent is empty.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, serde_json::Error> {
        text.map_or(Ok(Self::default()), |text| serde_json::from_str(text).map(Self))
    }

    /// The entry of the server at `url`, as a configuration file would have it.
    pub(crate) fn server_entry(&self, url: &str) -> Value {
        json!({ "type": "http", "url": url, "required": true, "oauth": self.oauth() })
    }

    /// The credentials of the suite. The grant they are for is in the authorization server's metadata.
    fn oauth(&self) -> Value {
        let mut oauth = json!({ "clientMetadataUrl": DOCUMENT, "xaa": self.0.contains_key("idp_issuer") });
        let known = [
            ("client_id", "clientId"),
            ("client_secret", "clientSecret"),
            ("private_key_pem", "privateKey"),
            ("valid_jwt", "assertion"),
        ];
        for (given, field) in known {
            if let Some(value) = self.0.get(given) {
                oauth[field] = value.clone();
            }
        }
        oauth
    }

    /// The identity provider, if the suite has one.
    pub(crate) fn identity(&self) -> Option<IdentitySettings> {
        let text = |name: &str| self.0.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(IdentitySettings {
            issuer: text("idp_issuer")?,
            client_id: text("idp_client_id")?,
            client_secret: text("idp_client_secret").map(Secret::new),
            callback_port: None,
            id_token: text("idp_id_token").map(Secret::new),
        })
    }

    /// The calls to make, if it names any.
    pub(crate) fn calls(&self) -> Option<Vec<(String, Value)>> {
        let calls = self.0.get("toolCalls")?.as_array()?;
        let call = |call: &Value| {
            let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
            Some((call.get("name")?.as_str()?.to_owned(), arguments))
        };
        Some(calls.iter().filter_map(call).collect())
    }
}
