//! Parses the challenge of a server that refused a request: its `WWW-Authenticate` header, as far as sign-in
//! needs it.
//!
//! The parser accepts every input and returns the usable part, or `None`. Servers send several challenges in
//! one line, forget commas and quotes, and repeat parameters. Whether a request is retried is decided
//! elsewhere.

mod tokenizer;

use mcparley_model::limits::{CHALLENGE_CHARS, OAUTH_NAMES};
use mcparley_model::text::Untrusted;

use crate::scopes::split_scopes;
use crate::tokens::Kind;
use tokenizer::{ChallengeParser, ChallengePart};

/// The longest error code that is kept; those of RFC 6750 and RFC 9449 have twenty characters.
const ERROR_CHARS: usize = 100;

/// A challenge of a server: the token it demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenChallenge {
    /// The scheme of the token.
    pub scheme: Kind,
    /// Whether it accepts the other scheme too.
    pub takes_either: bool,
    /// The error code: `invalid_token`, `insufficient_scope`, `use_dpop_nonce`.
    pub error: Option<String>,
    /// The scopes the request needs, in the server's order.
    pub scope: Vec<String>,
    /// The address of the server's metadata as the server sent it, unchecked.
    pub resource_metadata: Option<String>,
    /// The error description for the user.
    pub description: Option<Untrusted>,
}

impl TokenChallenge {
    /// Parses a `WWW-Authenticate` header, or several joined by commas. `None` when it has no challenge for a
    /// token.
    ///
    /// Of several challenges, the one with an error says the most about the refused request, then the one
    /// with metadata; values it leaves out are taken from the others.
    #[must_use]
    pub fn parse(words: &str) -> Option<Self> {
        // A character has at most four bytes.
        if words.len() > CHALLENGE_CHARS * 4 {
            return None;
        }
        let all = parse_challenges(words);
        let best = all.iter().enumerate().min_by_key(|(index, asked)| {
            (asked.error.is_none(), asked.resource_metadata.is_none(), asked.scope.is_empty(), *index)
        });
        let mut chosen = best.map(|(_, asked)| asked.clone())?;
        for other in all {
            chosen.fill_missing(other);
        }
        Some(chosen)
    }

    /// Whether the request needs more scopes.
    #[must_use]
    pub fn wants_more_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Whether the proof of possession lacks a nonce (RFC 9449, 9).
    #[must_use]
    pub fn wants_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }

    fn new(scheme: Kind) -> Self {
        let (error, resource_metadata, description) = (None, None, None);
        Self { scheme, takes_either: false, error, scope: Vec::new(), resource_metadata, description }
    }

    /// Sets a parameter. The first value counts: a name must not occur twice (RFC 9110, 11.2).
    fn set_parameter(&mut self, name: &str, value: &str) {
        match name {
            "error" if self.error.is_none() && is_error_code(value) => self.error = Some(value.to_owned()),
            "scope" if self.scope.is_empty() => self.scope = split_scopes(value).take(OAUTH_NAMES).collect(),
            "resource_metadata" if self.resource_metadata.is_none() && !value.is_empty() => {
                self.resource_metadata = Some(value.to_owned());
            }
            "error_description" if self.description.is_none() && !value.is_empty() => {
                self.description = Some(Untrusted::new(value));
            }
            _ => {}
        }
    }

    /// Fills missing values from another challenge. The error stays with the challenge that has it.
    fn fill_missing(&mut self, other: Self) {
        self.takes_either |= other.scheme != self.scheme;
        if self.scope.is_empty() {
            self.scope = other.scope;
        }
        self.resource_metadata = self.resource_metadata.take().or(other.resource_metadata);
    }
}

/// Every challenge with a bearer or DPoP scheme.
fn parse_challenges(words: &str) -> Vec<TokenChallenge> {
    let mut all: Vec<TokenChallenge> = Vec::new();
    let mut is_ours = false;
    for part in ChallengeParser::new(words) {
        match part {
            ChallengePart::Scheme(scheme) => {
                let kind = [Kind::Bearer, Kind::Dpop].into_iter();
                let kind = kind.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(scheme));
                is_ours = kind.is_some();
                all.extend(kind.map(TokenChallenge::new));
            }
            ChallengePart::Parameter { name, value } if is_ours => {
                if let Some(asked) = all.last_mut() {
                    asked.set_parameter(&name, &value);
                }
            }
            ChallengePart::Parameter { .. } => {}
        }
    }
    all
}

/// Whether the text has only characters that an error code may have (RFC 6749, 5.2).
fn is_error_code(text: &str) -> bool {
    let allowed = |byte| matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~');
    (1..=ERROR_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests;
