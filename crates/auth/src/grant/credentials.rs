//! What a request shows of the client that sends it (RFC 6749, 2.3; RFC 7523, 2.2).

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley_model::explain::Explain;
use mcparley_model::limits::CLIENT_ASSERTION_TIME;
use mcparley_model::secret::Secret;
use serde_json::json;
use url::form_urlencoded::byte_serialize;

use super::form::Pair;
use crate::client::{Client, Proof};
use crate::jwt::{self, SignError, SigningKey};
use crate::metadata::Server;

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Why a client cannot prove who it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It is to show a secret and has none.
    #[error("the client has no secret to show")]
    NoSecret,
    /// It is to sign and has no key.
    #[error("the client has no key to sign with")]
    NoKey,
    /// The server does not take what the key can sign.
    #[error("the authorization server takes no signature by `{ours}`")]
    Algorithm {
        /// What the key signs with.
        ours: &'static str,
    },
    /// Signing failed.
    #[error("nothing could be signed")]
    Sign(#[from] SignError),
}

/// What is added to a request.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// To its form.
    pub(super) pairs: Vec<Pair>,
    /// As `Authorization`.
    pub(super) header: Option<Secret<String>>,
}

/// What `client` shows to `server`; new for each request, because what is signed may be shown only once.
///
/// `client_id` always stands in the form, also beside HTTP Basic and an assertion: the Python SDK, and FastMCP with it,
/// look for it nowhere else.
pub(super) fn shown(
    client: &Client,
    server: &Server,
    key: Option<&SigningKey>,
    now: SystemTime,
) -> Result<Shown, ProofError> {
    let mut pairs = vec![("client_id", Secret::new(client.id.clone()))];
    let secret = || client.secret.as_ref().ok_or(ProofError::NoSecret);
    let mut header = None;
    match client.proof {
        Proof::Nothing => {}
        Proof::Basic => header = Some(basic(&client.id, secret()?)),
        Proof::Post => pairs.push(("client_secret", secret()?.clone())),
        Proof::Signature => {
            let assertion = assertion(client, server, key.ok_or(ProofError::NoKey)?, now)?;
            pairs.push(("client_assertion_type", Secret::new(JWT_BEARER.to_owned())));
            pairs.push(("client_assertion", assertion));
        }
    }
    Ok(Shown { pairs, header })
}

/// Both halves are encoded as in a form first, so that a colon in an id stays one (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &Secret<String>) -> Secret<String> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret.expose()));
    Secret::new(format!("Basic {}", STANDARD.encode(pair)))
}

/// Addressed to the issuer and to nobody else: one addressed to an endpoint could be carried on by a server that has
/// given us another's endpoint as its own.
fn assertion(
    client: &Client,
    server: &Server,
    key: &SigningKey,
    now: SystemTime,
) -> Result<Secret<String>, ProofError> {
    let algorithm = key.algorithm_among(server.signing.as_deref());
    let ours = key.algorithms().first().map_or("none", |algorithm| algorithm.as_str());
    let algorithm = algorithm.ok_or(ProofError::Algorithm { ours })?;
    let issued = jwt::seconds(now);
    let claims = json!({
        "iss": client.id,
        "sub": client.id,
        "aud": server.issuer,
        "iat": issued,
        "exp": issued + CLIENT_ASSERTION_TIME.as_secs(),
        "jti": jwt::unique()?,
    });
    let header = json!({"alg": algorithm.as_str(), "typ": "JWT"});
    Ok(jwt::signed(&header, &claims, |message| key.sign(algorithm, message))?)
}

impl Explain for ProofError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSecret => Some("give the client's secret: `oauth.clientSecret`".to_owned()),
            Self::NoKey => {
                Some("give the client's key: `oauth.privateKey` or `oauth.privateKeyFile`".to_owned())
            }
            Self::Algorithm { .. } => Some(
                "register a key of a kind the authorization server takes, and give it instead".to_owned(),
            ),
            Self::Sign(_) => None,
        }
    }
}
