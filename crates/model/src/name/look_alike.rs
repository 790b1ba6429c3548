//! Detects server names that look alike.
//!
//! Letters of other alphabets and digits that look like Latin letters are folded onto them. Names that look
//! alike are never merged; the user is only warned.

/// Letters that look like another one, with that one: Cyrillic, Greek, Armenian and a few digits.
const ALIKE: &[(&str, char)] = &[
    ("аɑα", 'a'),
    ("вьЬ", 'b'),
    ("сϲ", 'c'),
    ("ԁ", 'd'),
    ("еёє", 'e'),
    ("ɡց", 'g'),
    ("һн", 'h'),
    ("іιї1l|ӏ", 'i'),
    ("јϳ", 'j'),
    ("кκ", 'k'),
    ("м", 'm'),
    ("пո", 'n'),
    ("оοօ0", 'o'),
    ("рρ", 'p'),
    ("ԛ", 'q'),
    ("гᴦ", 'r'),
    ("ѕ", 's'),
    ("тτ", 't'),
    ("ցυսи", 'u'),
    ("ѵν", 'v'),
    ("ԝω", 'w'),
    ("хχ", 'x'),
    ("уγү", 'y'),
    ("ᴢ", 'z'),
];

/// The visual skeleton of a name: in lower case, with look-alike letters folded and without separators.
#[must_use]
pub fn name_skeleton(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).filter_map(fold_character).collect()
}

/// Whether the name has both Latin letters and letters of another alphabet that look like Latin ones.
#[must_use]
pub fn mixes_alphabets(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_alphabetic()) && name.chars().any(is_foreign)
}

/// Whether a letter of another alphabet looks like a Latin one.
pub(super) fn is_foreign(letter: char) -> bool {
    let looks_latin = |c: char| fold_character(c).is_some_and(|folded| folded.is_ascii_alphanumeric());
    !letter.is_ascii() && letter.to_lowercase().any(looks_latin)
}

/// Whether a character separates the words of a name.
pub(super) fn is_separator(sign: char) -> bool {
    matches!(sign, '-' | '_' | '.' | ' ')
}

fn fold_character(character: char) -> Option<char> {
    if is_separator(character) {
        return None;
    }
    // Full-width forms of ASCII.
    let code = u32::from(character);
    let character = match code {
        0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0).unwrap_or(character),
        _ => character,
    };
    let alike = ALIKE.iter().find(|(letters, _)| letters.contains(character));
    Some(alike.map_or(character, |(_, letter)| *letter))
}
