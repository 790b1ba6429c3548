//! Estimates what a tool's definition takes of a model's context.
//!
//! Providers do not publish how they count, and asking them takes a request. The vocabularies that are known agree on
//! what costs a token in JSON, though: a word, the long end of a word, a run of signs, three digits. See decision 019.

use super::Entry;

/// An estimate is counted in sixths of a token.
const TOKEN: u64 = 6;

/// As many letters of a word as one token holds; each further letter costs a sixth.
const WORD_LETTERS: u64 = 8;

/// As many signs as stand together in one token.
const SIGNS: u64 = 3;

/// As many digits as one token holds.
const DIGITS: u64 = 3;

/// What a byte costs that is not ASCII: a character of Chinese takes three of them, and about a token.
const FOREIGN_BYTE: u64 = TOKEN / 3;

/// What names the three parts of a definition to a model.
const FRAME: &str = r#"{"name":"","description":"","input_schema":}"#;

/// The tokens of a tool's name, description and schema of arguments, as a model's API takes them.
pub(super) fn of_definition(entry: &Entry) -> u64 {
    let Entry { name, tool, .. } = entry;
    let parts = [FRAME, name.as_str(), &tool.description, tool.input_schema.get()];
    (parts.into_iter().map(sixths).sum::<u64>()).div_ceil(TOKEN)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Capital,
    Small,
    Digit,
    Space,
    Sign,
    Foreign,
}

impl Kind {
    fn of(byte: u8) -> Self {
        match byte {
            b'A'..=b'Z' => Self::Capital,
            b'a'..=b'z' => Self::Small,
            b'0'..=b'9' => Self::Digit,
            0..=b' ' | 0x7f => Self::Space,
            0x80.. => Self::Foreign,
            _ => Self::Sign,
        }
    }

    /// What a run of it costs.
    fn cost(self, length: u64) -> u64 {
        match self {
            Self::Capital | Self::Small => TOKEN + length.saturating_sub(WORD_LETTERS),
            Self::Digit => length.div_ceil(DIGITS) * TOKEN,
            // One space belongs to the word behind it.
            Self::Space => TOKEN * u64::from(length > 1),
            Self::Sign => TOKEN + length.saturating_sub(SIGNS) * TOKEN / SIGNS,
            Self::Foreign => length * FOREIGN_BYTE,
        }
    }
}

fn sixths(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut total, mut at) = (0, 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = run(rest);
        total += kind.cost(length as u64);
        at += length;
    }
    total
}

/// The bytes in front that belong together. A word may begin with one capital; `readHTMLPage` has three words.
fn run(bytes: &[u8]) -> (Kind, usize) {
    let Some(first) = bytes.first().copied().map(Kind::of) else { return (Kind::Space, 0) };
    let count =
        |kind: Kind, from: usize| bytes.iter().skip(from).take_while(|byte| Kind::of(**byte) == kind).count();
    if first != Kind::Capital {
        return (first, count(first, 0));
    }
    let (capitals, small) = (count(Kind::Capital, 0), |from| count(Kind::Small, from));
    match (capitals, small(capitals)) {
        (capitals, 0) => (Kind::Capital, capitals),
        (1, letters) => (Kind::Small, 1 + letters),
        // The last capital is the first letter of the next word.
        (capitals, _) => (Kind::Capital, capitals - 1),
    }
}

#[cfg(test)]
mod tests;
