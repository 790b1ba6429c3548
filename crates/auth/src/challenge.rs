//! What a server asks for when it refuses: its `WWW-Authenticate`, read as far as sign-in needs it.
//!
//! Total: whatever stands in the header, something sensible or nothing comes out. Servers send several challenges in one
//! line, forget commas and quotes, and repeat themselves. How far a request may be repeated is decided elsewhere.

mod words;

use mcparley_model::limits::{CHALLENGE_CHARS, OAUTH_NAMES};
use mcparley_model::text::Untrusted;

use crate::scopes::split;
use crate::tokens::Kind;
use words::{Part, Words};

/// How long the name of an error may be; those of RFC 6750 and RFC 9449 have twenty characters.
const ERROR_CHARS: usize = 100;

/// What a server asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// How it wants a token carried.
    pub scheme: Kind,
    /// Whether it would take the other scheme too.
    pub takes_either: bool,
    /// What was wrong, by its name: `invalid_token`, `insufficient_scope`, `use_dpop_nonce`.
    pub error: Option<String>,
    /// The scopes the request needs, in the server's order.
    pub scope: Vec<String>,
    /// Where it says that it describes itself; not checked in any way.
    pub resource_metadata: Option<String>,
    /// What it says about it to people.
    pub description: Option<Untrusted>,
}

impl Asked {
    /// Reads a `WWW-Authenticate`, or several with commas between. `None` when no challenge in it is about tokens.
    ///
    /// Of several, the one that names an error says the most about the request that was refused, and then the one that
    /// names the description; what the chosen one leaves out is taken from the others.
    #[must_use]
    pub fn read(words: &str) -> Option<Self> {
        // A character has four bytes at most.
        if words.len() > CHALLENGE_CHARS * 4 {
            return None;
        }
        let all = challenges(words);
        let best = all.iter().enumerate().min_by_key(|(index, asked)| {
            (asked.error.is_none(), asked.resource_metadata.is_none(), asked.scope.is_empty(), *index)
        });
        let mut chosen = best.map(|(_, asked)| asked.clone())?;
        for other in all {
            chosen.fill(other);
        }
        Some(chosen)
    }

    /// Whether more rights would help.
    #[must_use]
    pub fn wants_more_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Whether the proof of possession lacks a nonce (RFC 9449, 9).
    #[must_use]
    pub fn wants_a_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }

    fn new(scheme: Kind) -> Self {
        let (error, resource_metadata, description) = (None, None, None);
        Self { scheme, takes_either: false, error, scope: Vec::new(), resource_metadata, description }
    }

    /// What stands first, counts: a name must not stand twice (RFC 9110, 11.2).
    fn take(&mut self, name: &str, value: &str) {
        match name {
            "error" if self.error.is_none() && is_error(value) => self.error = Some(value.to_owned()),
            "scope" if self.scope.is_empty() => self.scope = split(value).take(OAUTH_NAMES).collect(),
            "resource_metadata" if self.resource_metadata.is_none() && !value.is_empty() => {
                self.resource_metadata = Some(value.to_owned());
            }
            "error_description" if self.description.is_none() && !value.is_empty() => {
                self.description = Some(Untrusted::new(value));
            }
            _ => {}
        }
    }

    /// What it was that went wrong stays with the challenge that says it.
    fn fill(&mut self, other: Self) {
        self.takes_either |= other.scheme != self.scheme;
        if self.scope.is_empty() {
            self.scope = other.scope;
        }
        self.resource_metadata = self.resource_metadata.take().or(other.resource_metadata);
    }
}

/// Every challenge about tokens.
fn challenges(words: &str) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let mut is_ours = false;
    for part in Words::new(words) {
        match part {
            Part::Scheme(scheme) => {
                let kind = [Kind::Bearer, Kind::Dpop].into_iter();
                let kind = kind.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(scheme));
                is_ours = kind.is_some();
                all.extend(kind.map(Asked::new));
            }
            Part::Parameter { name, value } if is_ours => {
                if let Some(asked) = all.last_mut() {
                    asked.take(&name, &value);
                }
            }
            Part::Parameter { .. } => {}
        }
    }
    all
}

/// Whether it is made of what names of errors are made of (RFC 6749, 5.2).
fn is_error(text: &str) -> bool {
    let allowed = |byte| matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~');
    (1..=ERROR_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests;
