//! Tokenizer: splits texts into words, including names like `getUserById` and `list_issues`.

/// The maximum length of a word; longer ones are cut.
const LONGEST: usize = 48;

/// Stop words, which do not describe a tool. A query of only stop words is used as it is.
const EMPTY: &str = "\
    a about again am an and another any anything are as at be been both by can could did do does each else \
    everything for from give go goes had has have he help her here him his how i if in into is it its just let \
    like me mine more most my need no not of off on once onto or other our out over own please say says she should \
    so some something than that the their them then there these they thing this those to too tool try up us use \
    using very want was way we were what when where whether why will with would you your";

/// Whether a word of a query is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    EMPTY.split_ascii_whitespace().any(|empty| empty == word)
}

/// Calls `take` for every word of a text, in lower case and not stemmed.
///
/// Words end at every character that is not a letter or digit, between lower and upper case, and between
/// letters and digits.
pub(crate) fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut last = Kind::Other;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let kind = Kind::from_char(character);
        let is_next_small = characters.peek().is_some_and(|next| Kind::from_char(*next) == Kind::Small);
        if kind.begins_word(last, is_next_small) && !word.is_empty() {
            take(&word);
            word.clear();
        }
        if kind != Kind::Other && word.len() < LONGEST {
            word.extend(character.to_lowercase());
        }
        last = kind;
    }
    if !word.is_empty() {
        take(&word);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Capital,
    Digit,
    /// A character that is a word by itself, as in Chinese.
    Whole,
    Other,
}

impl Kind {
    fn from_char(character: char) -> Self {
        match character {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => Self::Whole,
            _ if character.is_uppercase() => Self::Capital,
            _ if character.is_alphabetic() => Self::Small,
            _ => Self::Other,
        }
    }

    /// Whether a word ends before a character of this kind. In `HTMLPage` the last capital begins the next
    /// word.
    fn begins_word(self, last: Self, is_next_small: bool) -> bool {
        match (last, self) {
            (Self::Small, Self::Small) | (Self::Capital, Self::Small) | (Self::Digit, Self::Digit) => false,
            (Self::Capital, Self::Capital) => is_next_small,
            _ => true,
        }
    }
}

/// The stem of a word, as [`stem_word`] makes it.
pub(crate) fn stem_of(word: &str) -> String {
    let mut stem = word.to_owned();
    stem_word(&mut stem);
    stem
}

/// Stems a word: `issues` and `issue` become one, and so do `creating`, `creation` and `create`.
///
/// The stem need not be a word. The rules are for English; words of other languages are changed alike in
/// queries and documents.
fn stem_word(word: &mut String) {
    if !word.is_ascii() || word.len() < 4 {
        return;
    }
    strip_plural(word);
    if !strip_ending(word, "ing") {
        strip_ending(word, "ed");
    }
    if word.len() > 5 && (word.ends_with("tion") || word.ends_with("sion")) {
        word.truncate(word.len() - 3);
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
}

fn strip_plural(word: &mut String) {
    let length = word.len();
    if word.ends_with("ies") && length > 4 {
        word.truncate(length - 3);
        word.push('y');
    } else if ["sses", "xes", "ches", "shes", "zes"].iter().any(|end| word.ends_with(end)) {
        word.truncate(length - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.pop();
    }
}

/// Strips the ending if the rest has a vowel: `string` stays.
fn strip_ending(word: &mut String, ending: &str) -> bool {
    let Some(rest) = word.strip_suffix(ending) else { return false };
    if rest.len() < 3 || !rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
        return false;
    }
    let mut rest = rest.to_owned();
    let doubled = rest.as_bytes().last_chunk().is_some_and(|[one, other]: &[u8; 2]| one == other);
    if doubled && rest.len() > 3 && !rest.ends_with(['l', 's', 'z']) {
        rest.pop();
    }
    *word = rest;
    true
}

#[cfg(test)]
mod tests {
    //! Tests of splitting and stemming.
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    // N10
    #[test]
    fn names_are_split_at_signs_capitals_and_digits() {
        let cases: [(&str, &[&str]); 9] = [
            ("list_issues", &["list", "issues"]),
            ("get-tiny-image", &["get", "tiny", "image"]),
            ("files.read", &["files", "read"]),
            ("getUserById", &["get", "user", "by", "id"]),
            ("readHTMLPage", &["read", "html", "page"]),
            ("base64Encode2", &["base", "64", "encode", "2"]),
            ("Größe_ÄNDERN", &["größe", "ändern"]),
            ("検索 file", &["検", "索", "file"]),
            ("--- ", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    // N10
    #[test]
    fn forms_of_a_word_share_a_stem_and_other_words_do_not() {
        let groups = [
            &["create", "creates", "creating", "created", "creation"][..],
            &["delete", "deletes", "deleting", "deletion"],
            &["directory", "directories"],
            &["branch", "branches"],
            &["process", "processes", "processing"],
            &["run", "running", "runs"],
            &["add", "adds", "adding", "added"],
            &["string", "strings"],
            &["status"],
            &["number"],
        ];
        let stems: Vec<String> = groups.iter().map(|group| one_stem(group)).collect();
        let apart: std::collections::HashSet<&String> = stems.iter().collect();
        assert_eq!(apart.len(), stems.len(), "{stems:?}");
    }

    fn one_stem(group: &[&str]) -> String {
        let mut stems: Vec<String> = group
            .iter()
            .map(|word| {
                let mut word = (*word).to_owned();
                stem_word(&mut word);
                word
            })
            .collect();
        stems.dedup();
        assert_eq!(stems.len(), 1, "{group:?}: {stems:?}");
        stems.remove(0)
    }

    #[test]
    fn stop_words_are_recognized() {
        assert!(["a", "the", "your"].into_iter().all(is_stop_word));
        assert!(!["time", "th", "the a", ""].into_iter().any(is_stop_word));
    }
}
