//! Error responses of an authorization endpoint (RFC 6749 4.1.2.1, RFC 8707 2, OpenID Connect Core 3.1.2.6).

use std::fmt;

use mcparley_model::limits::EXCERPT_CHARS;
use mcparley_model::text::{Untrusted, truncate_text};

/// A refusal of the authorization server, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRefusal {
    /// The error code.
    pub kind: RefusalKind,
    /// The server's description, shortened.
    pub description: Option<Untrusted>,
}

/// The error code of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// `access_denied`: the user, or the server for the user, denied it.
    Denied,
    /// `invalid_scope`: the scope does not exist, or not for this client.
    Scope,
    /// `invalid_target`: there are no tokens for this resource.
    Target,
    /// `invalid_request`: the request is malformed.
    Request,
    /// `unauthorized_client`: the client may not use this grant.
    Client,
    /// `unsupported_response_type`: the server returns no codes.
    ResponseType,
    /// The user would have to act, and cannot now.
    Interaction,
    /// `server_error`.
    Broken,
    /// `temporarily_unavailable`.
    Busy,
    /// Another error code, shortened.
    Other(Untrusted),
}

impl AuthorizationRefusal {
    pub(super) fn new(error: &str, description: Option<&str>) -> Self {
        let short = |text: &str| Untrusted::new(truncate_text(text, EXCERPT_CHARS));
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
        Self { kind, description: description.map(short) }
    }

    /// The hint for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self.kind {
            RefusalKind::Scope => "set the scopes in the entry's `oauth.scopes`",
            RefusalKind::Client => {
                "this client may not sign users in: check `oauth.clientId` and its registration"
            }
            RefusalKind::Request => "register the redirect address for your own `oauth.clientId`",
            RefusalKind::Interaction | RefusalKind::Busy | RefusalKind::Broken => "sign in again later",
            RefusalKind::Denied | RefusalKind::Target | RefusalKind::ResponseType | RefusalKind::Other(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

impl fmt::Display for AuthorizationRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RefusalKind::Denied => f.write_str("access was denied")?,
            RefusalKind::Scope => f.write_str("it does not grant these scopes")?,
            RefusalKind::Target => f.write_str("it issues no tokens for this server")?,
            RefusalKind::Request => f.write_str("it does not accept the request")?,
            RefusalKind::Client => f.write_str("this client is not allowed")?,
            RefusalKind::ResponseType => f.write_str("it issues no authorization codes")?,
            RefusalKind::Interaction => f.write_str("the sign-in needs more steps in the browser")?,
            RefusalKind::Broken => f.write_str("it has an internal error")?,
            RefusalKind::Busy => f.write_str("it is busy")?,
            RefusalKind::Other(word) => write!(f, "`{}`", word.display_line())?,
        }
        match &self.description {
            Some(said) => write!(f, ": {}", said.display_line()),
            None => Ok(()),
        }
    }
}
