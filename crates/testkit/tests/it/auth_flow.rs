//! A correct client of the fake authorization server, step by step.

use crate::http_client::{Answer, post, request};
use crate::stdio_client::initialize;
use mcparley_testkit::{AuthServer, Browser, Page, percent_encode};
use serde_json::{Value, json};

/// The SHA-256 hash of `VERIFIER`.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REDIRECT: &str = "http://127.0.0.1:1/callback";

/// A client that has registered.
pub(crate) struct Client<'a> {
    server: &'a AuthServer,
    pub(crate) id: String,
}

impl<'a> Client<'a> {
    pub(crate) fn register(server: &'a AuthServer) -> Self {
        let asked = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
        let url = format!("{}/register", server.issuer());
        let page =
            Browser::new().send("POST", &url, &[("Content-Type", "application/json")], &asked.to_string());
        assert_eq!(page.status, 201);
        Self { server, id: page.json()["client_id"].as_str().unwrap().to_owned() }
    }

    /// The redirect that ends a user's sign-in.
    pub(crate) fn authorize(&self, scope: &str) -> Page {
        let query = [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT),
            ("state", "the state"),
            ("scope", scope),
            ("resource", self.server.url()),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        let url = format!("{}/authorize?{}", self.server.issuer(), query.join("&"));
        Browser::new().open_until(&url, REDIRECT)
    }

    pub(crate) fn token(&self, form: &[(&str, &str)]) -> Page {
        let form = [&[("client_id", self.id.as_str())], form].concat();
        Browser::new().post_form(&format!("{}/token", self.server.issuer()), &form)
    }

    pub(crate) fn redeem(&self, code: &str) -> Page {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ])
    }

    /// The tokens of a whole sign-in.
    pub(crate) fn sign_in(&self, scope: &str) -> Value {
        let page = self.authorize(scope);
        let answer = self.redeem(&parameter(&page.url, "code").unwrap());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    pub(crate) fn refresh(&self, token: &Value) -> Page {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token.as_str().unwrap())])
    }

    /// The status of a greeting with that access token.
    pub(crate) fn greeted(&self, token: &Value) -> u16 {
        greet(self.server, token.as_str().unwrap()).status
    }
}

/// A raw query parameter of a URL.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let pairs = url.split_once('?')?.1.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

/// A greeting with that access token.
pub(crate) fn greet(server: &AuthServer, token: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let message = request(1, "initialize", &initialize("2025-11-25"));
    post(server.server(), &[("Authorization", &bearer)], &message)
}
