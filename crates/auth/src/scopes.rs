//! Decides which scopes to ask for (MCP 2026-07-28, "Scope Selection Strategy").
//!
//! Pure. Whether there will be a sign-in at all is decided elsewhere.

use crate::challenge::Asked;
use crate::metadata::{Resource, Server};

/// The scope that authorization servers with OpenID Connect want named before they give a token for renewal.
const OFFLINE: &str = "offline_access";

/// Whether tokens are to be renewed without asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// They are.
    Wanted,
    /// They are not: whoever signs in can do so again by itself.
    Unwanted,
}

/// The scopes to ask for; none means that the parameter is left out.
///
/// What a person has configured wins, then what the server asks for, then all it knows. `offline_access` is added where the
/// authorization server lists it, but never alone: no scope means the usual ones, and this one by itself means none of them.
#[must_use]
pub fn select(
    configured: &[String],
    asked: Option<&Asked>,
    resource: Option<&Resource>,
    server: &Server,
    renewal: Renewal,
) -> Vec<String> {
    let challenged = asked.map_or(&[][..], |asked| &asked.scope);
    let known = resource.map_or(&[][..], |resource| &resource.scopes);
    let first = [configured, challenged, known].into_iter().find(|scopes| !scopes.is_empty());
    let chosen = union(&[], first.unwrap_or_default());
    let is_listed = server.scopes.iter().any(|scope| scope == OFFLINE);
    match renewal {
        Renewal::Wanted if is_listed && !chosen.is_empty() => union(&chosen, &[OFFLINE.to_owned()]),
        Renewal::Wanted | Renewal::Unwanted => chosen,
    }
}

/// All of `before`, then what is new in `more`: rights that were asked for once are not lost by asking for others (K4).
#[must_use]
pub fn union(before: &[String], more: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in before.iter().chain(more) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// The scopes of a list with spaces between; what cannot be one is left out (RFC 6749, 3.3).
pub(crate) fn split(list: &str) -> impl Iterator<Item = String> {
    list.split_ascii_whitespace().filter(|scope| is_scope(scope)).map(str::to_owned)
}

/// Whether it is made of what scopes are made of.
pub(crate) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
}

#[cfg(test)]
mod tests;
