//! Who we are to an authorization server, and how one that has never heard of us gets to know us (RFC 7591).
//!
//! Which identity is used is decided in `identity`; this file asks for a new one and reads what is given.

mod identity;

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use serde_json::{Map, Value, json};
use url::Url;

pub use identity::{Configured, Identity, Known, identify};

use crate::client::{Client, Origin, Proof};
use crate::grant::{self, AnswerError, ErrorCode, Held, TokenError, choose};
use crate::metadata::Server;
use crate::web::{Body, Web};

/// What we say about ourselves.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'r> {
    /// The name of the server we sign in for, as its owner wrote it: a person reads it when asked for consent.
    pub name: &'r str,
    /// Where browsers are sent back to. It must be bound already: what is registered must be used.
    pub redirect: Option<&'r Url>,
    /// The scopes we shall ask for.
    pub scopes: &'r [String],
    /// Whether we want to sign in from another device too.
    pub device: bool,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Who we are from now on.
    pub client: Client,
    /// When its secret ends, if it does.
    pub secret_ends: Option<SystemTime>,
}

/// Why we are nobody to an authorization server.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RegisterError {
    /// It takes only clients that are known to it beforehand.
    #[error("the authorization server does not let programs register themselves")]
    NoWay,
    /// It was asked, and we are nobody still.
    #[error("the authorization server did not register this program")]
    Asked(#[source] TokenError),
}

impl RegisterError {
    /// Whether what answered does not look like a registration endpoint at all: it neither registered nor said why not.
    pub(crate) fn is_no_endpoint(&self) -> bool {
        match self {
            Self::NoWay | Self::Asked(TokenError::Malformed(_)) => true,
            Self::Asked(TokenError::Refused(refusal)) => {
                refusal.code == ErrorCode::Unsaid || matches!(refusal.status, 404 | 405)
            }
            Self::Asked(_) => false,
        }
    }
}

/// Registers this program.
///
/// # Errors
/// A [`RegisterError`].
pub async fn register(
    web: &Web,
    server: &Server,
    registration: &Registration<'_>,
) -> Result<Registered, RegisterError> {
    let endpoint = server.registration_endpoint.as_ref().ok_or(RegisterError::NoWay)?;
    let body = body(server, registration);
    let answered = async {
        let page = web.post(endpoint, Body::Json(&body), &[]).await.map_err(TokenError::Web)?;
        grant::judge(&page, &[])?;
        Ok(registered(&grant::object(&page)?, server, registration)?)
    };
    answered.await.map_err(RegisterError::Asked)
}

/// A native program: its way back is this machine, which servers allow to no other kind (SEP-837).
fn body(server: &Server, registration: &Registration<'_>) -> Value {
    let Registration { name, redirect, scopes, device } = registration;
    let mut body = json!({
        "client_name": format!("mcparley ({name})"),
        "redirect_uris": redirect.iter().map(|url| url.as_str()).collect::<Vec<_>>(),
        "grant_types": grants(server, redirect.is_some(), *device),
        "response_types": if redirect.is_some() { vec!["code"] } else { Vec::new() },
        "token_endpoint_auth_method": proof_asked_for(server.proofs.as_deref()).as_str(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.join(" ").into();
    }
    body
}

/// The grants we want to use, but for those the server says it does not have: strict ones refuse a registration for them.
fn grants(server: &Server, browser: bool, device: bool) -> Vec<&'static str> {
    let has = |name: &str| server.grants.as_ref().is_none_or(|known| known.iter().any(|grant| grant == name));
    let wanted = [
        (browser, "authorization_code"),
        (device, "urn:ietf:params:oauth:grant-type:device_code"),
        (has("refresh_token"), "refresh_token"),
    ];
    wanted.into_iter().filter_map(|(is_wanted, name)| is_wanted.then_some(name)).collect()
}

/// A program on somebody's machine can keep no secret from them, so it asks for none unless the server insists.
fn proof_asked_for(offered: Option<&[Proof]>) -> Proof {
    let Some(offered) = offered else { return Proof::Nothing };
    let order = [Proof::Nothing, Proof::Post, Proof::Basic];
    order.into_iter().find(|proof| offered.contains(proof)).unwrap_or(Proof::Nothing)
}

fn registered(
    answer: &Map<String, Value>,
    server: &Server,
    registration: &Registration<'_>,
) -> Result<Registered, AnswerError> {
    let is_visible = |text: &&str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let id = grant::text(answer, "client_id").filter(is_visible);
    let id = id.ok_or(AnswerError::Missing { field: "client_id" })?;
    let secret = grant::text(answer, "client_secret");
    let agreed = grant::text(answer, "token_endpoint_auth_method").and_then(Proof::named);
    let held = Held { secret: secret.is_some(), key: false };
    let proof = choose(server.proofs.as_deref(), held, agreed);
    let client = Client {
        id: id.to_owned(),
        // Also where none is to be shown: some servers give one, say `none`, and want it all the same.
        secret: secret.map(|secret| Secret::new(secret.to_owned())),
        proof,
        redirect: registration.redirect.cloned(),
        origin: Origin::Registered,
        // A server that registers us for other scopes than we named says so (RFC 7591, 3.2.1).
        scopes: grant::scopes_in(answer).unwrap_or_else(|| registration.scopes.to_vec()),
    };
    let ends = answer.get("client_secret_expires_at").and_then(Value::as_u64).filter(|&seconds| seconds > 0);
    let secret_ends = ends.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    Ok(Registered { secret_ends: secret_ends.filter(|_| client.secret.is_some()), client })
}

impl Explain for RegisterError {
    fn hint(&self) -> Option<String> {
        let passing = match self {
            Self::NoWay => None,
            Self::Asked(error) => error.is_passing().then(|| error.hint()).flatten(),
        };
        let known = "register a client with the operator of the authorization server, and give its id: `oauth.clientId`";
        Some(passing.unwrap_or_else(|| known.to_owned()))
    }
}
