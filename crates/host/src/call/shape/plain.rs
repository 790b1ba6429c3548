//! Reads an answer that is one text and nothing else, in the forms in which most servers write it.
//!
//! Small calls are mostly such answers, and looking each member up costs more than the text itself. Whatever is
//! written otherwise is read as a whole.

use std::borrow::Cow;

use super::piece::Text;

/// From this length on a text is read in a way that needs memory for it once, and not twice.
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

/// The only text of an answer.
pub(super) fn text(answer: &[u8]) -> Option<Text<'_>> {
    let rest = BEGINNINGS.iter().find_map(|beginning| answer.strip_prefix(*beginning))?;
    let text = ENDS.iter().find_map(|end| rest.strip_suffix(*end))?;
    // Only if all that is left is one string are the two ends those of one answer.
    let long = if text.len() >= LONG { unescaped(text).map(|text| Text(Cow::Owned(text))) } else { None };
    long.or_else(|| serde_json::from_slice(text).ok())
}

/// The text that a JSON string stands for; nothing if it is none, or an odd one that others read better.
fn unescaped(json: &[u8]) -> Option<String> {
    let mut rest = std::str::from_utf8(json).ok()?.strip_prefix('"')?.strip_suffix('"')?;
    if rest.as_bytes().chunks(64).any(|chunk| chunk.iter().fold(false, |found, byte| found | (*byte < b' ')))
    {
        return None;
    }
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) {
        let (plain, marked) = rest.split_at(at);
        text.push_str(plain);
        let (character, length) = escape(marked.strip_prefix('\\')?)?;
        text.push(character);
        rest = marked.get(1 + length..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// What stands behind a backslash, and how long it is. Halves of surrogate pairs are for others to put together.
fn escape(behind: &str) -> Option<(char, usize)> {
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
    //! The quick way reads what the usual way reads, or leaves it to that.
    use proptest::prelude::*;

    use super::*;

    // R1
    #[test]
    fn what_is_odd_is_left_to_the_usual_way() {
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
            assert_eq!(unescaped(json.as_bytes()), None, "{json}");
        }
        assert_eq!(unescaped(br#""\"\\\/\b\f\n\r\t\u00e9""#).unwrap(), "\"\\/\u{8}\u{c}\n\r\t\u{e9}");
        assert_eq!(unescaped(b"\"\xff\""), None);
    }

    proptest! {
        // R1
        #[test]
        fn both_ways_read_the_same(text in any::<String>(), odd in "[\"\\\\u0-9a-f]{0,12}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescaped(json.as_bytes()), Some(text));
            let odd = format!("\"{odd}\"");
            if let Some(read) = unescaped(odd.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<String>(&odd).unwrap(), read);
            }
        }
    }
}
