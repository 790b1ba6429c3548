//! How an authorization server says no (RFC 6749 4.1.2.1, RFC 8707 2, OpenID Connect Core 3.1.2.6).

use std::fmt;

use mcparley_model::limits::EXCERPT_CHARS;
use mcparley_model::text::{Untrusted, cut};

/// A no, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it is called.
    pub kind: RefusalKind,
    /// What is said about it, cut.
    pub said: Option<Untrusted>,
}

/// What a no is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The person, or the server for them, does not want it.
    Denied,
    /// There is no such scope, or not for us.
    Scope,
    /// There are no tokens for what we want to use.
    Target,
    /// The request is not understood.
    Request,
    /// We may not ask in this way.
    Client,
    /// Codes are not given.
    ResponseType,
    /// The person would have to do something that they cannot do now.
    Interaction,
    /// The server is broken.
    Broken,
    /// The server is busy.
    Busy,
    /// A word of its own, cut.
    Other(Untrusted),
}

impl Refusal {
    pub(super) fn new(error: &str, description: Option<&str>) -> Self {
        let short = |text: &str| Untrusted::new(cut(text, EXCERPT_CHARS));
        let kind = match error {
            "access_denied" => RefusalKind::Denied,
            "invalid_scope" => RefusalKind::Scope,
            "invalid_target" => RefusalKind::Target,
            "invalid_request" => RefusalKind::Request,
            "unauthorized_client" => RefusalKind::Client,
            "unsupported_response_type" => RefusalKind::ResponseType,
            "login_required" | "consent_required" | "interaction_required" | "account_selection_required" => {
                RefusalKind::Interaction
            }
            "server_error" => RefusalKind::Broken,
            "temporarily_unavailable" => RefusalKind::Busy,
            other => RefusalKind::Other(short(other)),
        };
        Self { kind, said: description.map(short) }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self.kind {
            RefusalKind::Scope => "name the scopes to ask for in the entry's `oauth.scopes`",
            RefusalKind::Client => {
                "the client id may not sign people in: check `oauth.clientId`, and what it was registered for"
            }
            RefusalKind::Request => {
                "with a client id of your own, the address to come back to must be registered for it"
            }
            RefusalKind::Interaction | RefusalKind::Busy | RefusalKind::Broken => "sign in again later",
            RefusalKind::Denied | RefusalKind::Target | RefusalKind::ResponseType | RefusalKind::Other(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RefusalKind::Denied => f.write_str("access was denied")?,
            RefusalKind::Scope => f.write_str("it does not give these scopes")?,
            RefusalKind::Target => f.write_str("it gives no tokens for this server")?,
            RefusalKind::Request => f.write_str("it does not accept the request")?,
            RefusalKind::Client => f.write_str("this client may not ask")?,
            RefusalKind::ResponseType => f.write_str("it gives no codes")?,
            RefusalKind::Interaction => f.write_str("something is left to do in the browser")?,
            RefusalKind::Broken => f.write_str("it is broken")?,
            RefusalKind::Busy => f.write_str("it is busy")?,
            RefusalKind::Other(word) => write!(f, "`{}`", word.display())?,
        }
        match &self.said {
            Some(said) => write!(f, ": {}", said.display()),
            None => Ok(()),
        }
    }
}
