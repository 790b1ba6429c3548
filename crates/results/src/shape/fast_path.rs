//! Fast path for answers that are a single text block, in the byte forms that most servers write.
//!
//! Most small calls have such an answer, and looking up each member costs more than the text itself. All
//! other forms are parsed in full by [`super::shape_outcome`].

use std::borrow::Cow;

use super::block_fields::BorrowedText;

/// The length from which a text is unescaped by [`unescape_string`], which allocates it once and not twice.
const LONG: usize = 64 * 1024;

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

/// The text of an answer that is a single text block; `None` for every other form.
pub(super) fn single_text(answer: &[u8]) -> Option<BorrowedText<'_>> {
    let rest = BEGINNINGS.iter().find_map(|beginning| answer.strip_prefix(*beginning))?;
    let text = ENDS.iter().find_map(|end| rest.strip_suffix(*end))?;
    // Prefix and suffix belong to one answer only if the rest is exactly one JSON string.
    let long = if text.len() >= LONG {
        unescape_string(text).map(|text| BorrowedText(Cow::Owned(text)))
    } else {
        None
    };
    long.or_else(|| serde_json::from_slice(text).ok())
}

/// Unescapes a JSON string; `None` if it is invalid or has surrogate pairs, which the full parser handles.
fn unescape_string(json: &[u8]) -> Option<String> {
    let mut rest = std::str::from_utf8(json).ok()?.strip_prefix('"')?.strip_suffix('"')?;
    if rest.as_bytes().chunks(64).any(|chunk| chunk.iter().fold(false, |found, byte| found | (*byte < b' ')))
    {
        return None;
    }
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) {
        let (plain, marked) = rest.split_at(at);
        text.push_str(plain);
        let (character, length) = parse_escape(marked.strip_prefix('\\')?)?;
        text.push(character);
        rest = marked.get(1 + length..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// Parses the escape after a backslash: its character and length. `None` for surrogates, which the full
/// parser joins.
fn parse_escape(behind: &str) -> Option<(char, usize)> {
    let character = match behind.as_bytes().first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        plain @ (b'"' | b'\\' | b'/') => char::from(*plain),
        b'u' => {
            let digits =
                behind.get(1..5).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            return char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(|character| (character, 5));
        }
        _ => return None,
    };
    Some((character, 1))
}

#[cfg(test)]
mod tests {
    //! The fast path gives the same text as the full parser, or leaves the answer to it.
    use proptest::prelude::*;

    use super::*;

    // R1
    #[test]
    fn unusual_strings_are_left_to_the_full_parser() {
        for json in [
            r#""a"b""#,
            r#""a\""#,
            r#""\x""#,
            r#""\u12""#,
            r#""\u+123""#,
            r#""\ud83d\ude00""#,
            "\"a\nb\"",
            "a",
            "\"",
        ] {
            assert_eq!(unescape_string(json.as_bytes()), None, "{json}");
        }
        assert_eq!(unescape_string(br#""\"\\\/\b\f\n\r\t\u00e9""#).unwrap(), "\"\\/\u{8}\u{c}\n\r\t\u{e9}");
        assert_eq!(unescape_string(b"\"\xff\""), None);
    }

    proptest! {
        // R1
        #[test]
        fn fast_path_and_full_parser_agree(text in any::<String>(), odd in "[\"\\\\u0-9a-f]{0,12}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescape_string(json.as_bytes()), Some(text));
            let odd = format!("\"{odd}\"");
            if let Some(read) = unescape_string(odd.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<String>(&odd).unwrap(), read);
            }
        }
    }
}
