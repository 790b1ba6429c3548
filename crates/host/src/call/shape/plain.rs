//! Reads an answer that is one text and nothing else, in the forms in which most servers write it.
//!
//! Small calls are mostly such answers, and looking each member up costs more than the text itself. Whatever is
//! written otherwise is read as a whole.

use super::piece::Text;

const BEGINNINGS: [&[u8]; 2] = [
    br#"{"content":[{"type":"text","text":"#,
    br#"{"resultType":"complete","content":[{"type":"text","text":"#,
];

const ENDS: [&[u8]; 5] = [
    b"}]}",
    br#"}],"isError":false}"#,
    br#"}],"resultType":"complete"}"#,
    br#"}],"isError":false,"resultType":"complete"}"#,
    br#"}],"resultType":"complete","isError":false}"#,
];

/// The only text of an answer.
pub(super) fn text(answer: &[u8]) -> Option<Text<'_>> {
    let rest = BEGINNINGS.iter().find_map(|beginning| answer.strip_prefix(*beginning))?;
    let text = ENDS.iter().find_map(|end| rest.strip_suffix(*end))?;
    // Only if all that is left is one string are the two ends those of one answer.
    serde_json::from_slice(text).ok()
}
