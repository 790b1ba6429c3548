//! Token estimate for a tool's definition.
//!
//! Providers do not publish their tokenizers, and asking them takes a request. The known vocabularies agree
//! on the cost of JSON, though: one token for a word, the end of a long word, a run of signs, or three
//! digits. See decision 019.

use mcparley_model::name::PublicName;
use mcparley_model::tool::Tool;

/// The unit of the estimate: sixths of a token.
const TOKEN: u64 = 6;

/// The letters of a word that one token covers; each further letter costs a sixth.
const WORD_LETTERS: u64 = 8;

/// The adjacent signs that one token covers.
const SIGNS: u64 = 3;

/// The digits that one token covers.
const DIGITS: u64 = 3;

/// The cost of a byte that is not ASCII: a Chinese character has three bytes and costs about a token.
const FOREIGN_BYTE: u64 = TOKEN / 3;

/// The JSON around the three parts of a definition.
const FRAME: &str = r#"{"name":"","description":"","input_schema":}"#;

/// Estimates the tokens of a tool's name, description and argument schema in a model's API.
pub(crate) fn estimate_definition(name: &PublicName, tool: &Tool) -> u64 {
    let parts = [FRAME, name.as_str(), &tool.description, tool.input_schema.get()];
    (parts.into_iter().map(count_sixths).sum::<u64>()).div_ceil(TOKEN)
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
    fn from_byte(byte: u8) -> Self {
        match byte {
            b'A'..=b'Z' => Self::Capital,
            b'a'..=b'z' => Self::Small,
            b'0'..=b'9' => Self::Digit,
            0..=b' ' | 0x7f => Self::Space,
            0x80.. => Self::Foreign,
            _ => Self::Sign,
        }
    }

    /// The cost of a run of this length.
    fn run_cost(self, length: u64) -> u64 {
        match self {
            Self::Capital | Self::Small => TOKEN + length.saturating_sub(WORD_LETTERS),
            Self::Digit => length.div_ceil(DIGITS) * TOKEN,
            // A single space belongs to the word behind it.
            Self::Space => TOKEN * u64::from(length > 1),
            Self::Sign => TOKEN + length.saturating_sub(SIGNS) * TOKEN / SIGNS,
            Self::Foreign => length * FOREIGN_BYTE,
        }
    }
}

fn count_sixths(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut total, mut at) = (0, 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = next_run(rest);
        total += kind.run_cost(length as u64);
        at += length;
    }
    total
}

/// The first run of bytes that belong together. A word may begin with one capital; `readHTMLPage` has three
/// words.
fn next_run(bytes: &[u8]) -> (Kind, usize) {
    let Some(first) = bytes.first().copied().map(Kind::from_byte) else { return (Kind::Space, 0) };
    let count = |kind: Kind, from: usize| {
        bytes.iter().skip(from).take_while(|byte| Kind::from_byte(**byte) == kind).count()
    };
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
