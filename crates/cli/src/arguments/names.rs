//! Finds the property a person means, however it is spelt.

use super::schema::Schema;

/// At most this many suggestions; more is a list nobody reads.
const SUGGESTIONS: usize = 3;

/// What a word may mean.
pub(super) enum Found<'s> {
    One(&'s str, Schema<'s>),
    /// It fits these alike.
    Several(Vec<&'s str>),
    None,
}

/// The property of this name: written exactly so, or else in the manner of options (`filePath` as `file-path`).
pub(super) fn find<'s>(schema: Schema<'s>, word: &str) -> Found<'s> {
    let properties = schema.properties();
    if let Some((name, exact)) = properties.iter().find(|(name, _)| *name == word) {
        return Found::One(name, *exact);
    }
    let wanted = kebab(word);
    let alike: Vec<_> = properties.into_iter().filter(|(name, _)| kebab(name) == wanted).collect();
    match alike.as_slice() {
        [] => Found::None,
        [(name, schema)] => Found::One(name, *schema),
        several => Found::Several(several.iter().map(|(name, _)| *name).collect()),
    }
}

/// The name in the manner of options: small letters with dashes between the words.
pub(super) fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut before: Option<char> = None;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        // `filePath` breaks before `P`, `HTMLPage` too.
        let breaks = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_numeric() || (before.is_uppercase() && next_is_small)
            });
        if breaks {
            out.push('-');
        }
        match character {
            '_' | ' ' => out.push('-'),
            character => out.extend(character.to_lowercase()),
        }
        before = Some(character);
    }
    out
}

/// The known names nearest to `wanted`.
pub(crate) fn similar<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = kebab(wanted);
    let mut near: Vec<(usize, &str)> = known
        .map(|name| (strsim::damerau_levenshtein(&wanted, &kebab(name)), name))
        .filter(|(far, name)| *far <= wanted.len().max(name.len()) / 3)
        .collect();
    near.sort_unstable();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}
