//! Checks a response for errors, and classifies a refusal (RFC 6749, 5.2).
//!
//! A success status with an `error` in the body is a refusal: some servers answer every request with 200.

use std::time::Duration;

use mcparley_model::limits::REFUSAL_CHARS;
use mcparley_model::secret::MASK;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};

use super::TokenError;
use super::form::OAuthParameter;
use crate::web::WebResponse;

/// An error response of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRefusal {
    /// The status of the response.
    pub status: u16,
    /// The error code.
    pub code: OAuthErrorCode,
    /// The server's description, with the sent parameters masked.
    pub description: Option<Untrusted>,
}

/// The error code of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuthErrorCode {
    /// `invalid_request`
    InvalidRequest,
    /// `invalid_client`: the client is unknown, or did not authenticate.
    InvalidClient,
    /// `invalid_grant`: the grant has expired, or never was valid.
    InvalidGrant,
    /// `unauthorized_client`: this client may not use this grant.
    UnauthorizedClient,
    /// `unsupported_grant_type`
    UnsupportedGrant,
    /// `invalid_scope`
    InvalidScope,
    /// `invalid_target`: the resource is unknown (RFC 8707).
    InvalidTarget,
    /// `access_denied`: the user denied it.
    AccessDenied,
    /// `authorization_pending`: the user has not answered yet (RFC 8628).
    AuthorizationPending,
    /// `slow_down`: the user has not answered yet, and we poll too often.
    SlowDown,
    /// `expired_token`: the user has not answered in time.
    ExpiredToken,
    /// `use_dpop_nonce`: the proof of possession lacks a nonce (RFC 9449).
    UseDpopNonce,
    /// `invalid_dpop_proof`
    InvalidDpopProof,
    /// `invalid_redirect_uri`: a registration has a redirect address that is not allowed (RFC 7591).
    InvalidRedirect,
    /// `invalid_client_metadata`: a registration has another value that is not allowed.
    InvalidMetadata,
    /// `unsupported_token_type`: such tokens cannot be revoked (RFC 7009).
    UnsupportedToken,
    /// `interaction_required` and similar codes: the user must sign in again first.
    InteractionRequired,
    /// Another code.
    Other(Untrusted),
    /// The response has no code.
    Missing,
}

const KNOWN: [(&str, OAuthErrorCode); 19] = [
    ("invalid_request", OAuthErrorCode::InvalidRequest),
    ("invalid_client", OAuthErrorCode::InvalidClient),
    ("invalid_grant", OAuthErrorCode::InvalidGrant),
    ("unauthorized_client", OAuthErrorCode::UnauthorizedClient),
    ("unsupported_grant_type", OAuthErrorCode::UnsupportedGrant),
    ("invalid_scope", OAuthErrorCode::InvalidScope),
    ("invalid_target", OAuthErrorCode::InvalidTarget),
    ("access_denied", OAuthErrorCode::AccessDenied),
    ("authorization_pending", OAuthErrorCode::AuthorizationPending),
    ("slow_down", OAuthErrorCode::SlowDown),
    ("expired_token", OAuthErrorCode::ExpiredToken),
    ("use_dpop_nonce", OAuthErrorCode::UseDpopNonce),
    ("invalid_dpop_proof", OAuthErrorCode::InvalidDpopProof),
    ("invalid_redirect_uri", OAuthErrorCode::InvalidRedirect),
    ("invalid_client_metadata", OAuthErrorCode::InvalidMetadata),
    ("unsupported_token_type", OAuthErrorCode::UnsupportedToken),
    ("interaction_required", OAuthErrorCode::InteractionRequired),
    ("login_required", OAuthErrorCode::InteractionRequired),
    ("consent_required", OAuthErrorCode::InteractionRequired),
];

/// Error codes of a temporary server failure, whatever the status.
const TROUBLE: [&str; 2] = ["temporarily_unavailable", "server_error"];

/// Parameters that are not masked: the user needs to see which address or scope was refused.
const PLAIN: [&str; 9] = [
    "audience",
    "client_assertion_type",
    "client_id",
    "grant_type",
    "redirect_uri",
    "requested_token_type",
    "resource",
    "scope",
    "subject_token_type",
];

impl OAuthErrorCode {
    /// The code of this name.
    fn from_name(name: &str) -> Self {
        let known = KNOWN.into_iter().find(|(known, _)| *known == name);
        known.map_or_else(|| Self::Other(Untrusted::new(truncate_text(name))), |(_, code)| code)
    }
}

impl std::fmt::Display for OAuthErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Other(name) => write!(f, "`{}`", name.display_line()),
            Self::Missing => f.write_str("no reason given"),
            known => {
                let name = KNOWN.iter().find(|(_, code)| code == known).map_or("", |(name, _)| name);
                write!(f, "`{name}`")
            }
        }
    }
}

impl std::fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.code.fmt(f)?;
        match &self.description {
            Some(description) => write!(f, ": {}", description.display_line()),
            None => Ok(()),
        }
    }
}

/// Checks that `page` is a success. Sent parameters are masked in the description of a refusal, because some
/// servers repeat them.
pub(crate) fn check_response(page: &WebResponse, sent: &[OAuthParameter]) -> Result<(), TokenError> {
    let body: Option<Map<String, Value>> = serde_json::from_slice(&page.body).ok();
    let word = |name| body.as_ref().and_then(|body| body.get(name)).and_then(Value::as_str);
    let code = word("error");
    // An `error` of another type is a refusal too.
    let says_no = body.as_ref().and_then(|body| body.get("error")).is_some_and(|error| !error.is_null());
    if matches!(page.status, 200..=299) && !says_no {
        return Ok(());
    }
    if is_server_failure(page.status, code) {
        return Err(TokenError::Unavailable { status: page.status, retry_after: retry_after(page) });
    }
    Err(TokenError::Refused(TokenRefusal {
        status: page.status,
        code: code.map_or(OAuthErrorCode::Missing, OAuthErrorCode::from_name),
        description: word("error_description")
            .map(|text| Untrusted::new(truncate_text(&mask_secrets(text, sent)))),
    }))
}

/// Whether the server failed, rather than refused: then the grant may still be valid.
fn is_server_failure(status: u16, code: Option<&str>) -> bool {
    match status {
        500.. => true,
        408 | 429 => code != Some("slow_down"),
        _ => code.is_some_and(|code| TROUBLE.contains(&code)),
    }
}

fn retry_after(page: &WebResponse) -> Option<Duration> {
    page.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

/// Masks all sent parameters except the public ones; masking a very short value would hide half of the text.
fn mask_secrets(text: &str, sent: &[OAuthParameter]) -> String {
    let secrets = sent.iter().filter(|(name, value)| !PLAIN.contains(name) && value.expose().len() >= 4);
    secrets.fold(text.to_owned(), |text, (_, secret)| text.replace(secret.expose().as_str(), MASK))
}

fn truncate_text(text: &str) -> String {
    text.chars().take(REFUSAL_CHARS).collect()
}
