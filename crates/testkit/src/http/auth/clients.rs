//! Who the clients are: registered ones, one that always was, and how a request shows which it is.

use super::form::{Form, decoded};
use super::{Reply, State, jwt};
use crate::http::request::HttpRequest;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mcparley_testkit::{Lie, STATIC_CLIENT, STATIC_SECRET};
use serde_json::{Value, json};
use std::collections::HashMap;

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The clients that registered: their secret, if they have one.
#[derive(Debug, Default)]
pub(crate) struct Clients(HashMap<String, Option<String>>);

/// What a request shows of its client.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) method: &'static str,
    secret: Option<String>,
}

impl State {
    pub(super) fn register(&mut self, request: &HttpRequest) -> Reply {
        self.book.request("register");
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        self.book.keep("register", asked.clone());
        match self.lies.text(Lie::Register).as_str() {
            "absent" => return Reply::error(404, "not_found"),
            "refused" => return Reply::error(400, "invalid_client_metadata"),
            "500" => return Reply::error(500, "server_error"),
            _ => {}
        }
        let told = self.lies.text(Lie::RegisterMethod);
        let wanted = asked["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
        let method = if told.is_empty() { wanted.to_owned() } else { told };
        let id = self.tokens.name("client");
        let secret = method.starts_with("client_secret").then(|| self.tokens.name("secret"));
        self.clients.0.insert(id.clone(), secret.clone());
        let mut body = asked;
        if !body.is_object() {
            return Reply::error(400, "invalid_client_metadata");
        }
        body["client_id"] = json!(id);
        body["token_endpoint_auth_method"] = json!(method);
        if let Some(secret) = secret {
            body["client_secret"] = json!(secret);
            body["client_secret_expires_at"] = json!(0);
        }
        Reply::json(201, body)
    }

    /// Whether an authorization request may come from this client.
    pub(super) fn is_known(&self, id: &str) -> bool {
        let document = self.lies.is(Lie::Cimd, "yes") && id.starts_with("https://");
        id == STATIC_CLIENT || document || self.clients.0.contains_key(id)
    }

    /// Which client a request says it comes from, and how it shows it.
    pub(super) fn identify(&self, request: &HttpRequest, form: &Form) -> Shown {
        let named = form.get("client_id").unwrap_or_default().to_owned();
        if let Some((id, secret)) = request.header("authorization").and_then(basic) {
            return Shown { id, method: "client_secret_basic", secret: Some(secret) };
        }
        if form.get("client_assertion_type") == Some(ASSERTION) {
            let claims = jwt::claims(form.get("client_assertion").unwrap_or_default());
            let subject = claims.filter(|claims| claims["iss"] == claims["sub"]);
            let id = subject.and_then(|claims| claims["sub"].as_str().map(str::to_owned));
            return Shown { id: id.unwrap_or_default(), method: "private_key_jwt", secret: None };
        }
        match form.get("client_secret") {
            Some(secret) => {
                Shown { id: named, method: "client_secret_post", secret: Some(secret.to_owned()) }
            }
            None => Shown { id: named, method: "none", secret: None },
        }
    }

    /// Whether it is the client it says, by a method that is allowed.
    pub(super) fn is_authentic(&self, shown: &Shown) -> bool {
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

fn basic(header: &str) -> Option<(String, String)> {
    let bytes = BASE64_STANDARD.decode(header.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((decoded(id), decoded(secret)))
}
