//! Client authentication of a request (RFC 6749, 2.3; RFC 7523, 2.2).

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley_model::explain::Explain;
use mcparley_model::limits::CLIENT_ASSERTION_TIME;
use mcparley_model::secret::Secret;
use mcparley_model::time::unix_seconds;
use serde_json::json;
use url::form_urlencoded::byte_serialize;

use super::form::OAuthParameter;
use crate::client::{ClientAuthMethod, OAuthClient};
use crate::jwt::{self, SignError, SigningKey};
use crate::metadata::AuthServerMetadata;

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The reason why a client cannot authenticate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientAuthError {
    /// The method needs a secret, and there is none.
    #[error("the client has no secret")]
    NoSecret,
    /// The method needs a key, and there is none.
    #[error("the client has no private key")]
    NoKey,
    /// The server does not accept the algorithm of the key.
    #[error("the authorization server does not accept `{ours}` signatures")]
    Algorithm {
        /// The algorithm of the key.
        ours: &'static str,
    },
    /// Signing failed.
    #[error("signing failed")]
    Sign(#[from] SignError),
}

/// The parameters and headers that authenticate a client.
#[derive(Debug, Default)]
pub(super) struct ClientAuthentication {
    /// The form parameters.
    pub(super) pairs: Vec<OAuthParameter>,
    /// The `Authorization` header.
    pub(super) header: Option<Secret<String>>,
}

/// Creates the authentication of `client` for `server`; new for each request, because an assertion may be
/// used only once.
///
/// `client_id` is always in the form, even with HTTP Basic and an assertion: the Python SDK, and FastMCP with
/// it, accept it nowhere else.
pub(super) fn authenticate_client(
    client: &OAuthClient,
    server: &AuthServerMetadata,
    key: Option<&SigningKey>,
    now: SystemTime,
) -> Result<ClientAuthentication, ClientAuthError> {
    let mut pairs = vec![("client_id", Secret::new(client.id.clone()))];
    let secret = || client.secret.as_ref().ok_or(ClientAuthError::NoSecret);
    let mut header = None;
    match client.proof {
        ClientAuthMethod::Nothing => {}
        ClientAuthMethod::Basic => header = Some(basic_header(&client.id, secret()?)),
        ClientAuthMethod::Post => pairs.push(("client_secret", secret()?.clone())),
        ClientAuthMethod::Signature => {
            let assertion = sign_assertion(client, server, key.ok_or(ClientAuthError::NoKey)?, now)?;
            pairs.push(("client_assertion_type", Secret::new(JWT_BEARER.to_owned())));
            pairs.push(("client_assertion", assertion));
        }
    }
    Ok(ClientAuthentication { pairs, header })
}

/// The HTTP Basic header. Both halves are form-encoded first, so that a colon in an id is unambiguous (RFC
/// 6749, 2.3.1).
fn basic_header(id: &str, secret: &Secret<String>) -> Secret<String> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret.expose()));
    Secret::new(format!("Basic {}", STANDARD.encode(pair)))
}

/// Signs a client assertion. Its audience is the issuer: a server that passes off another's endpoint as its
/// own could replay an assertion whose audience is the endpoint.
fn sign_assertion(
    client: &OAuthClient,
    server: &AuthServerMetadata,
    key: &SigningKey,
    now: SystemTime,
) -> Result<Secret<String>, ClientAuthError> {
    let algorithm = key.choose_algorithm(server.signing.as_deref());
    let ours = key.algorithms().first().map_or("none", |algorithm| algorithm.as_str());
    let algorithm = algorithm.ok_or(ClientAuthError::Algorithm { ours })?;
    let issued = unix_seconds(now);
    let claims = json!({
        "iss": client.id,
        "sub": client.id,
        "aud": server.issuer,
        "iat": issued,
        "exp": issued + CLIENT_ASSERTION_TIME.as_secs(),
        "jti": jwt::random_id()?,
    });
    let header = json!({"alg": algorithm.as_str(), "typ": "JWT"});
    Ok(jwt::sign_token(&header, &claims, |message| key.sign_message(algorithm, message))?)
}

impl Explain for ClientAuthError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSecret => Some("set the client's secret: `oauth.clientSecret`".to_owned()),
            Self::NoKey => {
                Some("set the client's key: `oauth.privateKey` or `oauth.privateKeyFile`".to_owned())
            }
            Self::Algorithm { .. } => {
                Some("register and set a key of a type that the authorization server accepts".to_owned())
            }
            Self::Sign(_) => None,
        }
    }
}
