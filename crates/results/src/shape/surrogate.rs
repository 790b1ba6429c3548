//! Replaces lone UTF-16 surrogates in JSON.
//!
//! Servers that cut a text in the middle of an emoji write half a surrogate pair as an escape. Most JSON
//! parsers reject the whole message for it, so the escapes are replaced before the message goes further.

use mcparley_json::RawJson;
use memchr::memmem;

/// Replaces every lone surrogate in the JSON by the replacement character U+FFFD.
#[must_use]
pub fn mend(json: RawJson) -> RawJson {
    let bytes = json.as_bytes();
    // Few answers have surrogates at all, and even fewer have lone ones.
    if memmem::find(bytes, b"\\ud").is_none() && memmem::find(bytes, b"\\uD").is_none() {
        return json;
    }
    let mended = mend_text(json.as_str()).filter(|mended| mended != json.as_str());
    mended.and_then(|mended| RawJson::parse(&mended).ok()).unwrap_or(json)
}

/// Replaces lone surrogates in JSON text; `None` if an escape is incomplete.
fn mend_text(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let is_half = matches!(parse_utf16_escape(escape), Some(0xd800..=0xdfff));
        let length = match (parse_utf16_escape(escape), escape.get(6..).and_then(parse_utf16_escape)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let written = escape.get(..length)?;
        out.push_str(if is_half && length == 6 { "\\ufffd" } else { written });
        rest = escape.get(length..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Parses a `\uXXXX` escape at the start of the text into its UTF-16 code unit.
fn parse_utf16_escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` would accept a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    // R1 B09
    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        let table = [
            (r#""a\ud83db""#, r#""a\ufffdb""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\uD83D\uDE00""#, r#""\uD83D\uDE00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#"{"\udc00":["\ud800",1]}"#, r#"{"\ufffd":["\ufffd",1]}"#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
        ];
        for (written, expected) in table {
            let mended = mend(RawJson::parse(written).unwrap());
            assert_eq!(mended.as_str(), expected, "{written}");
            assert!(mended.decode::<serde_json::Value>().is_ok(), "{written}");
        }
    }
}
