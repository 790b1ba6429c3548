//! Counts pronouns in comments: a comment that begins with "what" or "who" leaves its subject to the reader.

/// Pronouns that stand where a noun would say more.
const PRONOUNS: [&str; 14] = [
    "who",
    "whoever",
    "whom",
    "whose",
    "somebody",
    "nobody",
    "anybody",
    "everybody",
    "someone",
    "whatever",
    "what",
    "anything",
    "everything",
    "something",
];
/// Words that a doc comment does not begin with.
const VAGUE_STARTS: [&str; 14] = [
    "What",
    "Who",
    "Whom",
    "Whose",
    "How",
    "It",
    "That",
    "Those",
    "The same",
    "Somebody",
    "Nobody",
    "Anything",
    "Something",
    "Everything",
];

/// The comments of a tree, counted.
#[derive(Debug, Default)]
pub(super) struct CommentCount {
    pub(super) words: usize,
    pub(super) doc_comments: usize,
    /// Each pronoun with its place.
    pub(super) pronouns: Vec<String>,
    /// Each doc comment that begins with a pronoun, with its place.
    pub(super) pronoun_first: Vec<String>,
}

impl CommentCount {
    pub(super) fn add_text(&mut self, place: &str, text: &str) {
        let mut is_inside_doc = false;
        for line in text.lines().map(str::trim) {
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            if line.starts_with("//") {
                self.add_line(place, line);
            }
            if let Some(doc) = doc
                && !is_inside_doc
            {
                self.doc_comments += 1;
                if begins_vaguely(doc) {
                    self.pronoun_first.push(format!("{place}: {line}"));
                }
            }
            is_inside_doc = doc.is_some();
        }
    }

    fn add_line(&mut self, place: &str, line: &str) {
        let words =
            line.split(|c: char| !c.is_ascii_alphabetic() && c != '\'').filter(|word| !word.is_empty());
        for word in words {
            self.words += 1;
            if PRONOUNS.iter().any(|pronoun| pronoun.eq_ignore_ascii_case(word)) {
                self.pronouns.push(format!("{place}: {line}"));
            }
        }
    }
}

fn begins_vaguely(doc: &str) -> bool {
    let doc = doc.trim_start();
    VAGUE_STARTS.iter().any(|start| {
        doc.strip_prefix(start)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}
