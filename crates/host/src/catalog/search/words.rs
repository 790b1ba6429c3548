//! Takes texts apart into the words that are compared, names like `getUserById` and `list_issues` too.

/// A longer word is no word; its beginning stands for it.
const LONGEST: usize = 48;

/// Words that say nothing about a tool. A query of nothing else is taken as it is.
const EMPTY: &str = "\
    a about again am an and another any anything are as at be been both by can could did do does each else \
    everything for from give go goes had has have he help her here him his how i if in into is it its just let \
    like me mine more most my need no not of off on once onto or other our out over own please say says she should \
    so some something than that the their them then there these they thing this those to too tool try up us use \
    using very want was way we were what when where whether why will with would you your";

/// Whether a word of a query says nothing.
pub(super) fn is_empty(word: &str) -> bool {
    EMPTY.split_ascii_whitespace().any(|empty| empty == word)
}

/// Every word of a text, in small letters and not stemmed: at everything but letters and digits, where small letters turn
/// to capitals, and between letters and digits.
pub(super) fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut last = Kind::Other;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let kind = Kind::of(character);
        let is_next_small = characters.peek().is_some_and(|next| Kind::of(*next) == Kind::Small);
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
    /// A character that is a word, as in Chinese.
    Whole,
    Other,
}

impl Kind {
    fn of(character: char) -> Self {
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

    /// Whether a word ends before a character of this kind. In `HTMLPage` the last capital begins the next word.
    fn begins_word(self, last: Self, is_next_small: bool) -> bool {
        match (last, self) {
            (Self::Small, Self::Small) | (Self::Capital, Self::Small) | (Self::Digit, Self::Digit) => false,
            (Self::Capital, Self::Capital) => is_next_small,
            _ => true,
        }
    }
}

/// Makes the forms of a word one: `issues` and `issue`, `creating`, `creation` and `create`.
///
/// What is left need not be a word. English only; what it does to others it does to both sides.
pub(super) fn stem(word: &mut String) {
    if !word.is_ascii() || word.len() < 4 {
        return;
    }
    singular(word);
    if !shorten(word, "ing") {
        shorten(word, "ed");
    }
    if word.len() > 5 && (word.ends_with("tion") || word.ends_with("sion")) {
        word.truncate(word.len() - 3);
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
}

fn singular(word: &mut String) {
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

/// Takes the ending away if something that can be spoken is left: `string` stays.
fn shorten(word: &mut String, ending: &str) -> bool {
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
    //! What belongs together, and what does not.
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words
    }

    // N10
    #[test]
    fn names_are_taken_apart_at_signs_capitals_and_digits() {
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
    fn the_forms_of_a_word_are_one_and_other_words_stay_others() {
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
                stem(&mut word);
                word
            })
            .collect();
        stems.dedup();
        assert_eq!(stems.len(), 1, "{group:?}: {stems:?}");
        stems.remove(0)
    }

    #[test]
    fn words_that_say_nothing_are_told_from_those_that_do() {
        assert!(["a", "the", "your"].into_iter().all(is_empty));
        assert!(!["time", "th", "the a", ""].into_iter().any(is_empty));
    }
}
