//! Finds the property for a word, in exact spelling or in kebab case.

use mcparley::model::similar::similar_names_by;

use super::schema::ToolSchema;

/// The properties that match a word.
pub(super) enum PropertyMatch<'s> {
    One(&'s str, ToolSchema<'s>),
    /// Several properties match the word.
    Several(Vec<&'s str>),
    None,
}

/// The property of this name, in exact spelling or else in kebab case (`filePath` as `file-path`).
pub(super) fn find_property<'s>(schema: ToolSchema<'s>, word: &str) -> PropertyMatch<'s> {
    let properties = schema.properties();
    if let Some((name, exact)) = properties.iter().find(|(name, _)| *name == word) {
        return PropertyMatch::One(name, *exact);
    }
    let wanted = to_kebab_case(word);
    let alike: Vec<_> = properties.into_iter().filter(|(name, _)| to_kebab_case(name) == wanted).collect();
    match alike.as_slice() {
        [] => PropertyMatch::None,
        [(name, schema)] => PropertyMatch::One(name, *schema),
        several => PropertyMatch::Several(several.iter().map(|(name, _)| *name).collect()),
    }
}

/// The name in kebab case: lowercase words joined by dashes.
pub(super) fn to_kebab_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut before: Option<char> = None;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        // A new word begins before `P` in `filePath` and in `HTMLPage`.
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

/// The known names most similar to `wanted`, compared in kebab case.
pub fn similar_spellings<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    similar_names_by(wanted, known, |name| to_kebab_case(name).into())
}
