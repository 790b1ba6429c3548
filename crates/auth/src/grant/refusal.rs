//! Decides whether an answer says yes, and what one that says no means (RFC 6749, 5.2).
//!
//! A status that says yes around a body that says no is a no: some servers answer every request with 200.

use std::time::Duration;

use mcparley_model::limits::REFUSAL_CHARS;
use mcparley_model::secret::MASK;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};

use super::TokenError;
use super::form::Pair;
use crate::web::Page;

/// What an authorization server says when it says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of its answer.
    pub status: u16,
    /// Why.
    pub code: ErrorCode,
    /// Why, in its words. What we had sent is masked in them.
    pub description: Option<Untrusted>,
}

/// Why an authorization server says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// `invalid_request`
    InvalidRequest,
    /// `invalid_client`: it does not know the client, or the client did not prove who it is.
    InvalidClient,
    /// `invalid_grant`: what was shown is not good any more, or never was.
    InvalidGrant,
    /// `unauthorized_client`: this client may not use this grant.
    UnauthorizedClient,
    /// `unsupported_grant_type`
    UnsupportedGrant,
    /// `invalid_scope`
    InvalidScope,
    /// `invalid_target`: it knows no such resource (RFC 8707).
    InvalidTarget,
    /// `access_denied`: the person said no.
    AccessDenied,
    /// `authorization_pending`: the person has not answered yet (RFC 8628).
    AuthorizationPending,
    /// `slow_down`: the same, and we ask too often.
    SlowDown,
    /// `expired_token`: the person has not answered in time.
    ExpiredToken,
    /// `use_dpop_nonce`: the proof of possession lacks a nonce (RFC 9449).
    UseDpopNonce,
    /// `invalid_dpop_proof`
    InvalidDpopProof,
    /// `invalid_redirect_uri`: a registration names a way back that is not allowed (RFC 7591).
    InvalidRedirect,
    /// `invalid_client_metadata`: a registration says something else that is not allowed.
    InvalidMetadata,
    /// `unsupported_token_type`: such tokens cannot be given back (RFC 7009).
    UnsupportedToken,
    /// `interaction_required` and its like: a person must sign in again first.
    PersonNeeded,
    /// Another.
    Other(Untrusted),
    /// It did not say.
    Unsaid,
}

const KNOWN: [(&str, ErrorCode); 19] = [
    ("invalid_request", ErrorCode::InvalidRequest),
    ("invalid_client", ErrorCode::InvalidClient),
    ("invalid_grant", ErrorCode::InvalidGrant),
    ("unauthorized_client", ErrorCode::UnauthorizedClient),
    ("unsupported_grant_type", ErrorCode::UnsupportedGrant),
    ("invalid_scope", ErrorCode::InvalidScope),
    ("invalid_target", ErrorCode::InvalidTarget),
    ("access_denied", ErrorCode::AccessDenied),
    ("authorization_pending", ErrorCode::AuthorizationPending),
    ("slow_down", ErrorCode::SlowDown),
    ("expired_token", ErrorCode::ExpiredToken),
    ("use_dpop_nonce", ErrorCode::UseDpopNonce),
    ("invalid_dpop_proof", ErrorCode::InvalidDpopProof),
    ("invalid_redirect_uri", ErrorCode::InvalidRedirect),
    ("invalid_client_metadata", ErrorCode::InvalidMetadata),
    ("unsupported_token_type", ErrorCode::UnsupportedToken),
    ("interaction_required", ErrorCode::PersonNeeded),
    ("login_required", ErrorCode::PersonNeeded),
    ("consent_required", ErrorCode::PersonNeeded),
];

/// Codes of servers that are in trouble themselves, whatever the status.
const TROUBLE: [&str; 2] = ["temporarily_unavailable", "server_error"];

/// What may be repeated: without it a person would not learn which address or scope was refused.
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

impl ErrorCode {
    /// The one of this name.
    fn named(name: &str) -> Self {
        let known = KNOWN.into_iter().find(|(known, _)| *known == name);
        known.map_or_else(|| Self::Other(Untrusted::new(short(name))), |(_, code)| code)
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Other(name) => write!(f, "`{}`", name.display()),
            Self::Unsaid => f.write_str("it does not say why"),
            known => {
                let name = KNOWN.iter().find(|(_, code)| code == known).map_or("", |(name, _)| name);
                write!(f, "`{name}`")
            }
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.code.fmt(f)?;
        match &self.description {
            Some(description) => write!(f, ": {}", description.display()),
            None => Ok(()),
        }
    }
}

/// Whether `page` says yes. What was `sent` is masked in the words of a refusal: some servers repeat it there.
pub(crate) fn judge(page: &Page, sent: &[Pair]) -> Result<(), TokenError> {
    let body: Option<Map<String, Value>> = serde_json::from_slice(&page.body).ok();
    let word = |name| body.as_ref().and_then(|body| body.get(name)).and_then(Value::as_str);
    let code = word("error");
    // A present `error` of any other type says no as well.
    let says_no = body.as_ref().and_then(|body| body.get("error")).is_some_and(|error| !error.is_null());
    if matches!(page.status, 200..=299) && !says_no {
        return Ok(());
    }
    if is_trouble(page.status, code) {
        return Err(TokenError::Unavailable { status: page.status, retry_after: retry_after(page) });
    }
    Err(TokenError::Refused(Refusal {
        status: page.status,
        code: code.map_or(ErrorCode::Unsaid, ErrorCode::named),
        description: word("error_description").map(|text| Untrusted::new(short(&masked(text, sent)))),
    }))
}

/// Whether the server is in trouble rather than of another opinion: then nothing it was shown is known to be bad.
fn is_trouble(status: u16, code: Option<&str>) -> bool {
    match status {
        500.. => true,
        408 | 429 => code != Some("slow_down"),
        _ => code.is_some_and(|code| TROUBLE.contains(&code)),
    }
}

fn retry_after(page: &Page) -> Option<Duration> {
    page.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

/// Everything that was sent but for what is known to be no secret; a short one would mask half of the text.
fn masked(text: &str, sent: &[Pair]) -> String {
    let secrets = sent.iter().filter(|(name, value)| !PLAIN.contains(name) && value.expose().len() >= 4);
    secrets.fold(text.to_owned(), |text, (_, secret)| text.replace(secret.expose().as_str(), MASK))
}

fn short(text: &str) -> String {
    text.chars().take(REFUSAL_CHARS).collect()
}
