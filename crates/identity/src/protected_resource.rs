//! The gateway as a protected resource: its URL, its metadata (RFC 9728), and the challenge that names them.

use serde_json::{Value, json};
use url::Url;

use crate::issuer_error::IssuerError;

/// The path below which metadata is served.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The endpoints of a gateway, as clients and their issuer know them.
#[derive(Clone, Debug)]
pub struct ProtectedResource {
    /// The URL of the main endpoint, byte for byte.
    main: String,
    origin: String,
    path: String,
    issuer: String,
    scopes: Vec<String>,
}

impl ProtectedResource {
    /// The resource at this URL, which is that of the main endpoint.
    pub(crate) fn new(main: &str, issuer: &str, scopes: &[String]) -> Result<Self, IssuerError> {
        let wrong = || IssuerError::Resource(main.to_owned());
        let url = Url::parse(main).map_err(|_| wrong())?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.has_host();
        if !is_plain || !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        Ok(Self {
            main: main.to_owned(),
            origin: url.origin().ascii_serialization(),
            path: url.path().trim_end_matches('/').to_owned(),
            issuer: issuer.to_owned(),
            scopes: scopes.to_vec(),
        })
    }

    /// The resource URL of an endpoint: the main one, or that of a view.
    #[must_use]
    pub fn url_of(&self, view: Option<&str>) -> String {
        match view {
            None => self.main.clone(),
            Some(view) => format!("{}/{view}", self.main.trim_end_matches('/')),
        }
    }

    /// Whether a token with these audiences is for an endpoint. One for the main endpoint is for its views too,
    /// because many issuers know one resource of a gateway only.
    pub(crate) fn is_among(&self, audiences: &[String], view: Option<&str>) -> bool {
        audiences.iter().any(|audience| *audience == self.main || *audience == self.url_of(view))
    }

    /// The metadata of an endpoint, as JSON.
    #[must_use]
    pub fn metadata_of(&self, view: Option<&str>) -> Value {
        let mut metadata = json!({
            "resource": self.url_of(view),
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            metadata["scopes_supported"] = json!(self.scopes);
        }
        metadata
    }

    /// The endpoint whose metadata is at this path; `Some(None)` is the main one. Both the path of the public
    /// URL and that of the endpoint itself are good, and the root is the main endpoint.
    #[must_use]
    pub fn metadata_endpoint<'p>(&self, path: &'p str) -> Option<Option<&'p str>> {
        let rest = path.strip_prefix(WELL_KNOWN)?;
        if rest.is_empty() || rest == "/" {
            return Some(None);
        }
        [self.path.as_str(), "/mcp"].into_iter().find_map(|main| match rest.strip_prefix(main)? {
            "" => Some(None),
            view => view.strip_prefix('/').filter(|view| is_view_name(view)).map(Some),
        })
    }

    /// The parameters of a challenge: the place of the metadata, and the scopes.
    #[must_use]
    pub fn challenge_of(&self, view: Option<&str>) -> String {
        let view = view.map(|view| format!("/{view}")).unwrap_or_default();
        let place = format!("resource_metadata=\"{}{WELL_KNOWN}{}{view}\"", self.origin, self.path);
        match self.scopes.is_empty() {
            true => place,
            false => format!("{place}, scope=\"{}\"", self.scopes.join(" ")),
        }
    }

    /// The scopes that every token needs.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }
}

/// Whether a text may be the name of a view.
#[must_use]
pub fn is_view_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(main: &str) -> ProtectedResource {
        ProtectedResource::new(main, "https://issuer.example", &["use".to_owned()]).unwrap()
    }

    // G4
    #[test]
    fn metadata_is_at_the_path_of_the_resource_and_names_it() {
        let ours = resource("https://a.example/team/mcp");
        for (path, expected) in [
            ("/.well-known/oauth-protected-resource", Some(None)),
            ("/.well-known/oauth-protected-resource/mcp", Some(None)),
            ("/.well-known/oauth-protected-resource/team/mcp", Some(None)),
            ("/.well-known/oauth-protected-resource/mcp/ops", Some(Some("ops"))),
            ("/.well-known/oauth-protected-resource/team/mcp/ops", Some(Some("ops"))),
            ("/.well-known/oauth-protected-resource/other", None),
            ("/.well-known/oauth-protected-resource/mcp/a/b", None),
            ("/.well-known/oauth-protected-resource/mcp/..", None),
            ("/.well-known/oauth-protected-resourcex", None),
            ("/mcp", None),
        ] {
            assert_eq!(ours.metadata_endpoint(path), expected, "{path}");
        }
        let metadata = ours.metadata_of(Some("ops"));
        assert_eq!(metadata["resource"], "https://a.example/team/mcp/ops");
        assert_eq!(metadata["authorization_servers"], json!(["https://issuer.example"]));
        assert_eq!(metadata["scopes_supported"], json!(["use"]));
        assert_eq!(
            ours.challenge_of(Some("ops")),
            "resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/team/mcp/ops\", scope=\"use\""
        );
    }

    // G4 B91
    #[test]
    fn audience_is_the_endpoint_or_the_main_one() {
        let ours = resource("https://a.example/mcp");
        let is_for = |audience: &str, view| ours.is_among(&["x".to_owned(), audience.to_owned()], view);
        assert!(is_for("https://a.example/mcp", None) && is_for("https://a.example/mcp", Some("ops")));
        assert!(is_for("https://a.example/mcp/ops", Some("ops")));
        assert!(
            !is_for("https://a.example/mcp/ops", None) && !is_for("https://a.example/mcp/ops", Some("dev"))
        );
        assert!(!is_for("https://a.example/mcp/", None) && !is_for("https://a.example", None));
    }

    // G4
    #[test]
    fn resource_is_a_plain_url() {
        for wrong in ["mcp", "https://a.example/mcp?x=1", "https://a.example/mcp#x", "file:///mcp", "urn:x"] {
            assert!(ProtectedResource::new(wrong, "https://issuer.example", &[]).is_err(), "{wrong}");
        }
    }
}
