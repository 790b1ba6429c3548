//! OAuth clients, registered or static, and their authentication in a request.

use super::form::{FormParameters, percent_decode};
use super::{OAuthReply, State, jwt};
use crate::http::request::HttpRequest;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mcparley_testkit::{Lie, STATIC_CLIENT, STATIC_SECRET};
use serde_json::{Value, json};
use std::collections::HashMap;

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The registered clients, with their secret if they have one.
#[derive(Debug, Default)]
pub(crate) struct RegisteredClients(HashMap<String, Option<String>>);

/// The client credentials in a request.
#[derive(Debug)]
pub(crate) struct ClientCredentials {
    pub(crate) id: String,
    pub(crate) method: &'static str,
    secret: Option<String>,
}

impl State {
    pub(super) fn register_client(&mut self, request: &HttpRequest) -> OAuthReply {
        self.book.count_request("register");
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        self.book.store_parameters("register", asked.clone());
        match self.lies.text(Lie::Register).as_str() {
            "absent" => return OAuthReply::error(404, "not_found"),
            "refused" => return OAuthReply::error(400, "invalid_client_metadata"),
            "500" => return OAuthReply::error(500, "server_error"),
            _ => {}
        }
        let told = self.lies.text(Lie::RegisterMethod);
        let wanted = asked["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
        let method = if told.is_empty() { wanted.to_owned() } else { told };
        let id = self.tokens.unique_name("client");
        let secret = method.starts_with("client_secret").then(|| self.tokens.unique_name("secret"));
        self.clients.0.insert(id.clone(), secret.clone());
        let mut body = asked;
        if !body.is_object() {
            return OAuthReply::error(400, "invalid_client_metadata");
        }
        body["client_id"] = json!(id);
        body["token_endpoint_auth_method"] = json!(method);
        if let Some(secret) = secret {
            body["client_secret"] = json!(secret);
            body["client_secret_expires_at"] = json!(0);
        }
        OAuthReply::json(201, body)
    }

    /// Whether an authorization request may come from this client.
    pub(super) fn is_known(&self, id: &str) -> bool {
        let document = self.lies.is_word(Lie::Cimd, "yes") && id.starts_with("https://");
        id == STATIC_CLIENT || document || self.clients.0.contains_key(id)
    }

    /// The client a request claims to come from, and its authentication method.
    pub(super) fn client_credentials(
        &self,
        request: &HttpRequest,
        form: &FormParameters,
    ) -> ClientCredentials {
        let named = form.parameter("client_id").unwrap_or_default().to_owned();
        if let Some((id, secret)) = request.header("authorization").and_then(parse_basic_credentials) {
            return ClientCredentials { id, method: "client_secret_basic", secret: Some(secret) };
        }
        if form.parameter("client_assertion_type") == Some(ASSERTION) {
            let claims = jwt::claims(form.parameter("client_assertion").unwrap_or_default());
            let subject = claims.filter(|claims| claims["iss"] == claims["sub"]);
            let id = subject.and_then(|claims| claims["sub"].as_str().map(str::to_owned));
            return ClientCredentials { id: id.unwrap_or_default(), method: "private_key_jwt", secret: None };
        }
        match form.parameter("client_secret") {
            Some(secret) => {
                ClientCredentials { id: named, method: "client_secret_post", secret: Some(secret.to_owned()) }
            }
            None => ClientCredentials { id: named, method: "none", secret: None },
        }
    }

    /// Whether the client is authenticated by an allowed method.
    pub(super) fn is_authentic(&self, shown: &ClientCredentials) -> bool {
        let methods = self.lies.text(Lie::AuthMethods);
        let allowed = methods.split(',').any(|method| method == shown.method);
        let secret = match shown.id.as_str() {
            STATIC_CLIENT => Some(STATIC_SECRET),
            id => self.clients.0.get(id).and_then(Option::as_deref),
        };
        let fits = match &shown.secret {
            Some(said) => secret == Some(said.as_str()),
            None => true,
        };
        allowed && fits && self.is_known(&shown.id)
    }
}

fn parse_basic_credentials(header: &str) -> Option<(String, String)> {
    let bytes = BASE64_STANDARD.decode(header.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((percent_decode(id), percent_decode(secret)))
}
