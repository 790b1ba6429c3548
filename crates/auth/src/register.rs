//! Dynamic client registration at an authorization server (RFC 7591).
//!
//! `identity` chooses the client; this file registers a new one.

mod identity;

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use serde_json::{Map, Value, json};
use url::Url;

pub use identity::{ClientCandidates, ClientChoice, ConfiguredClient, choose_client};

use crate::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use crate::grant::{
    self, HeldCredentials, OAuthErrorCode, TokenError, TokenResponseError, choose_auth_method,
};
use crate::metadata::AuthServerMetadata;
use crate::web::{Web, WebBody};

/// The parameters of a registration.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationRequest<'r> {
    /// The server's name as the user wrote it: it is shown when the user is asked for consent.
    pub name: &'r str,
    /// The redirect address. It must be bound already: the registered address must be used.
    pub redirect: Option<&'r Url>,
    /// The scopes to request later.
    pub scopes: &'r [String],
    /// Whether sign-in on another device is wanted too.
    pub device: bool,
}

/// A successful registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRegistration {
    /// The registered client.
    pub client: OAuthClient,
    /// The expiry of its secret, if it has one.
    pub secret_ends: Option<SystemTime>,
}

/// The reason why there is no client.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The authorization server accepts only clients it knows already.
    #[error("the authorization server does not support client registration")]
    Unsupported,
    /// The registration request failed.
    #[error("client registration failed")]
    Failed(#[source] TokenError),
}

impl RegisterError {
    /// Whether the response does not come from a registration endpoint: it is neither a registration nor an
    /// error code.
    pub(crate) fn is_missing_endpoint(&self) -> bool {
        match self {
            Self::Unsupported | Self::Failed(TokenError::Malformed(_)) => true,
            Self::Failed(TokenError::Refused(refusal)) => {
                refusal.code == OAuthErrorCode::Missing || matches!(refusal.status, 404 | 405)
            }
            Self::Failed(_) => false,
        }
    }
}

/// Registers this program as a client.
///
/// # Errors
/// A [`RegisterError`].
pub async fn register_client(
    web: &Web,
    server: &AuthServerMetadata,
    registration: &RegistrationRequest<'_>,
) -> Result<ClientRegistration, RegisterError> {
    let endpoint = server.registration_endpoint.as_ref().ok_or(RegisterError::Unsupported)?;
    let body = request_body(server, registration);
    let answered = async {
        let page = web.post_body(endpoint, WebBody::Json(&body), &[]).await.map_err(TokenError::Web)?;
        grant::check_response(&page, &[])?;
        Ok(parse_registration(&grant::parse_object(&page)?, server, registration)?)
    };
    answered.await.map_err(RegisterError::Failed)
}

/// The registration request. Only a native application may have a redirect address on this machine (SEP-837), and
/// only a web application one elsewhere.
fn request_body(server: &AuthServerMetadata, registration: &RegistrationRequest<'_>) -> Value {
    let RegistrationRequest { name, redirect, scopes, device } = registration;
    let is_elsewhere = redirect.is_some_and(|url| url.scheme() == "https");
    let mut body = json!({
        "client_name": format!("mcparley ({name})"),
        "redirect_uris": redirect.iter().map(|url| url.as_str()).collect::<Vec<_>>(),
        "grant_types": grants_to_register(server, redirect.is_some(), *device),
        "response_types": if redirect.is_some() { vec!["code"] } else { Vec::new() },
        "token_endpoint_auth_method": method_to_register(server.proofs.as_deref()).as_str(),
        "application_type": if is_elsewhere { "web" } else { "native" },
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.join(" ").into();
    }
    body
}

/// The grants to register, without those the server does not list: strict servers refuse a registration for
/// them.
fn grants_to_register(server: &AuthServerMetadata, browser: bool, device: bool) -> Vec<&'static str> {
    let has = |name: &str| server.grants.as_ref().is_none_or(|known| known.iter().any(|grant| grant == name));
    let wanted = [
        (browser, "authorization_code"),
        (device, "urn:ietf:params:oauth:grant-type:device_code"),
        (has("refresh_token"), "refresh_token"),
    ];
    wanted.into_iter().filter_map(|(is_wanted, name)| is_wanted.then_some(name)).collect()
}

/// The client authentication method to register. A program on the user's machine cannot keep a secret from
/// the user, so it asks for none unless the server insists.
fn method_to_register(offered: Option<&[ClientAuthMethod]>) -> ClientAuthMethod {
    let Some(offered) = offered else { return ClientAuthMethod::Nothing };
    let order = [ClientAuthMethod::Nothing, ClientAuthMethod::Post, ClientAuthMethod::Basic];
    order.into_iter().find(|proof| offered.contains(proof)).unwrap_or(ClientAuthMethod::Nothing)
}

fn parse_registration(
    answer: &Map<String, Value>,
    server: &AuthServerMetadata,
    registration: &RegistrationRequest<'_>,
) -> Result<ClientRegistration, TokenResponseError> {
    let is_visible = |text: &&str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let id = grant::text_field(answer, "client_id").filter(is_visible);
    let id = id.ok_or(TokenResponseError::Missing { field: "client_id" })?;
    let secret = grant::text_field(answer, "client_secret");
    let agreed =
        grant::text_field(answer, "token_endpoint_auth_method").and_then(ClientAuthMethod::from_name);
    let held = HeldCredentials { secret: secret.is_some(), key: false };
    let proof = choose_auth_method(server.proofs.as_deref(), held, agreed);
    let client = OAuthClient {
        id: id.to_owned(),
        // Stored even for the method `none`: some servers return a secret with `none` and then demand it.
        secret: secret.map(|secret| Secret::new(secret.to_owned())),
        proof,
        redirect: registration.redirect.cloned(),
        origin: ClientIdOrigin::Registered,
        // A server that registers other scopes than requested says so (RFC 7591, 3.2.1).
        scopes: grant::parse_scopes(answer).unwrap_or_else(|| registration.scopes.to_vec()),
    };
    let ends = answer.get("client_secret_expires_at").and_then(Value::as_u64).filter(|&seconds| seconds > 0);
    let secret_ends = ends.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    Ok(ClientRegistration { secret_ends: secret_ends.filter(|_| client.secret.is_some()), client })
}

impl Explain for RegisterError {
    fn hint(&self) -> Option<String> {
        let passing = match self {
            Self::Unsupported => None,
            Self::Failed(error) => error.is_transient().then(|| error.hint()).flatten(),
        };
        let known = "register a client with the authorization server's operator, and set `oauth.clientId`";
        Some(passing.unwrap_or_else(|| known.to_owned()))
    }
}
