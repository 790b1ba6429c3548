//! A correct client of the real provider, step by step.

use mcparley_testkit::{Browser, OpenIdProvider, Page, percent_encode};
use serde_json::{Value, json};

/// The SHA-256 hash of `VERIFIER`.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REDIRECT: &str = "http://127.0.0.1:1/callback";

/// A user with a browser and a registered client.
pub(crate) struct Person<'a> {
    provider: &'a OpenIdProvider,
    pub(crate) browser: Browser,
    metadata: Value,
    pub(crate) client: String,
}

impl<'a> Person<'a> {
    /// Reads the metadata and registers.
    pub(crate) fn registered(provider: &'a OpenIdProvider) -> Self {
        let mut person = Self::with_client(provider, "");
        let asked = json!({
            "client_name": "test", "application_type": "native", "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
        });
        let url = person.endpoint("registration_endpoint");
        let json = [("Content-Type", "application/json")];
        let page = person.browser.send("POST", &url, &json, &asked.to_string());
        assert_eq!(page.status, 201, "{}", page.text());
        person.client = page.json()["client_id"].as_str().unwrap().to_owned();
        person
    }

    /// Reads the metadata, with a client that needs no registration.
    pub(crate) fn with_client(provider: &'a OpenIdProvider, client: &str) -> Self {
        let mut browser = Browser::new();
        let url = format!("{}/.well-known/oauth-authorization-server", provider.issuer());
        let metadata = browser.open(&url).json();
        assert_eq!(metadata["issuer"], provider.issuer());
        Self { provider, browser, metadata, client: client.to_owned() }
    }

    pub(crate) fn endpoint(&self, name: &str) -> String {
        self.metadata[name].as_str().unwrap().to_owned()
    }

    /// A whole sign-in for `scope` at `resource`.
    pub(crate) fn sign_in(&mut self, scope: &str, resource: Option<&str>) -> Value {
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", REDIRECT),
            ("state", "s"),
            ("scope", scope),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        query.extend(resource.map(|resource| ("resource", resource)));
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        let url = format!("{}?{}", self.endpoint("authorization_endpoint"), query.join("&"));
        let page = self.browser.open_until(&url, REDIRECT);
        let issuer = format!("iss={}", percent_encode(self.provider.issuer()));
        assert!(page.url.contains(&issuer), "{} {}", page.url, page.text());
        let code = crate::auth_flow::parameter(&page.url, "code").unwrap();
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        form.extend(resource.map(|resource| ("resource", resource)));
        let page = self.token(&form);
        assert_eq!(page.status, 200, "{}", page.text());
        page.json()
    }

    /// A token request of the client, without client authentication.
    pub(crate) fn token(&mut self, form: &[(&str, &str)]) -> Page {
        let url = self.endpoint("token_endpoint");
        let form = [form, &[("client_id", self.client.as_str())]].concat();
        self.browser.post_form(&url, &form)
    }
}

/// Calls a tool with a token.
pub(crate) fn call(url: &str, token: &Value, tool: &str) -> Page {
    let bearer = format!("Bearer {}", token.as_str().unwrap_or_default());
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } });
    Browser::new().send("POST", url, &headers, &message.to_string())
}
