//! Names that an API accepts, derived from names that it rejects, the same ones every time.

use std::collections::HashSet;

use mcparley_model::limits::{ARGUMENT_NAME_LIMIT, PUBLIC_NAME_LIMIT};
use sha2::{Digest as _, Sha256};

use super::Dialect;

/// The number of characters kept of a name that is too long; the rest is a hash.
const KEPT: usize = ARGUMENT_NAME_LIMIT - 1 - HASH_DIGITS;
const HASH_DIGITS: usize = 8;

impl Dialect {
    /// Whether the API accepts a property of this name.
    pub(super) fn takes_property(self, name: &str) -> bool {
        let is_short = !name.is_empty() && name.len() <= ARGUMENT_NAME_LIMIT;
        is_short && self.may_begin(name) && name.chars().all(|character| self.may_hold(character))
    }

    /// The name of a tool for the API. Public names are valid in all APIs except for the first character in
    /// Gemini's.
    pub(super) fn tool_name(self, public: &str) -> String {
        match self {
            Self::Anthropic | Self::OpenAi | Self::OpenAiChat => public.to_owned(),
            Self::Gemini if self.may_begin(public) => public.to_owned(),
            Self::Gemini if public.len() < PUBLIC_NAME_LIMIT => format!("_{public}"),
            Self::Gemini => shorten_name(&format!("_{public}"), public),
        }
    }

    fn may_begin(self, name: &str) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi | Self::OpenAiChat => true,
            Self::Gemini => name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'),
        }
    }

    fn may_hold(self, character: char) -> bool {
        let marks: &[char] = match self {
            Self::Anthropic | Self::OpenAi | Self::OpenAiChat => &['_', '-', '.'],
            Self::Gemini => &['_'],
        };
        character.is_ascii_alphanumeric() || marks.contains(&character)
    }

    /// A name that the API accepts, derived from one that it rejects.
    fn property_name(self, name: &str) -> String {
        let fitting = |character: char| if self.may_hold(character) { character } else { '_' };
        let mut fit: String = name.chars().map(fitting).collect();
        if fit.is_empty() || !self.may_begin(&fit) {
            fit.insert(0, '_');
        }
        // A name without letters or digits left would look like any other.
        let has_letters = fit.chars().any(|character| character.is_ascii_alphanumeric());
        if has_letters && fit.len() <= ARGUMENT_NAME_LIMIT { fit } else { shorten_name(&fit, name) }
    }
}

/// The names of these properties for the API, in the same order, without duplicates.
pub(super) fn property_names<'n>(
    dialect: Dialect,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Vec<String> {
    let mut taken: HashSet<String> =
        names.clone().filter(|name| dialect.takes_property(name)).map(str::to_owned).collect();
    let shown = |name: &str| {
        if dialect.takes_property(name) {
            return name.to_owned();
        }
        let mut fit = dialect.property_name(name);
        if taken.contains(&fit) {
            fit = shorten_name(&fit, name);
        }
        taken.insert(fit.clone());
        fit
    };
    names.map(shown).collect()
}

/// Shortens a name and appends a hash of the whole name.
fn shorten_name(name: &str, whole: &str) -> String {
    let kept: String = name.chars().take(KEPT).collect();
    let digest = Sha256::digest(whole.as_bytes());
    let digits: String = digest.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    format!("{kept}_{digits}")
}
