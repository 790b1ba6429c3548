//! Selects the scopes to request (MCP 2026-07-28, "Scope Selection Strategy").
//!
//! Pure functions. The caller decides whether there is a sign-in at all.

use crate::challenge::TokenChallenge;
use crate::metadata::{AuthServerMetadata, ResourceMetadata};

/// The scope that OpenID Connect servers require before they issue a refresh token.
const OFFLINE: &str = "offline_access";

/// Whether a refresh token is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// A refresh token is wanted.
    Wanted,
    /// No refresh token is wanted: the client can request new tokens by itself.
    Unwanted,
}

/// The scopes to request; with none the parameter is left out.
///
/// Configured scopes take precedence, then those of the challenge, then all that the server's metadata lists.
/// `offline_access` is added where the authorization server lists it, but never as the only scope: an absent
/// scope means the default ones, and this scope without others means none of them.
#[must_use]
pub fn select_scopes(
    configured: &[String],
    asked: Option<&TokenChallenge>,
    resource: Option<&ResourceMetadata>,
    server: &AuthServerMetadata,
    renewal: Renewal,
) -> Vec<String> {
    let challenged = asked.map_or(&[][..], |asked| &asked.scope);
    let known = resource.map_or(&[][..], |resource| &resource.scopes);
    let first = [configured, challenged, known].into_iter().find(|scopes| !scopes.is_empty());
    let chosen = merge_scopes(&[], first.unwrap_or_default());
    let is_listed = server.scopes.iter().any(|scope| scope == OFFLINE);
    match renewal {
        Renewal::Wanted if is_listed && !chosen.is_empty() => merge_scopes(&chosen, &[OFFLINE.to_owned()]),
        Renewal::Wanted | Renewal::Unwanted => chosen,
    }
}

/// All scopes of `before`, then the new ones in `more`: scopes that were requested once are not lost by
/// requesting others.
#[must_use]
pub fn merge_scopes(before: &[String], more: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in before.iter().chain(more) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// Splits a list at its spaces; invalid scopes are left out (RFC 6749, 3.3).
pub(crate) fn split_scopes(list: &str) -> impl Iterator<Item = String> {
    list.split_ascii_whitespace().filter(|scope| is_scope(scope)).map(str::to_owned)
}

/// Whether the text has only characters that a scope may have.
pub(crate) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
}

#[cfg(test)]
mod tests;
