//! The notes of a scan against the results of full parsers.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use mcparley_model::text::clean_json;

fn scan(text: &str) -> Option<ResultScan> {
    ResultScan::of_result(text.as_bytes())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,30}",
        "[a-z\\\\\"/\n\t\r\u{8}\u{c}\u{7f}]{0,12}",
        ".{0,12}",
        "[a\u{200d}\u{ad}\u{202e}\u{fe0f}\u{1f600}\u{e0041}é日]{0,6}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![Just("uri".to_owned()), Just("ui/resourceUri".to_owned()), any_text()];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name, inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn any_block() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["text", "image", "audio", "resource", "resource_link", "odd"]);
    let block = (kind, any_value(), any_value())
        .prop_map(|(kind, text, more)| json!({ "type": kind, "text": text, "more": more }));
    prop_oneof![4 => block, 1 => any_value()]
}

fn any_result() -> impl Strategy<Value = Value> {
    let member = prop_oneof![
        vec(any_block(), 0..4).prop_map(|blocks| ("content".to_owned(), Value::from(blocks))),
        any_value().prop_map(|value| ("structuredContent".to_owned(), value)),
        any_value().prop_map(|value| ("isError".to_owned(), value)),
        (any_text(), any_value()),
    ];
    vec(member, 0..6).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Writes JSON with all characters beyond ASCII as escapes, like many libraries.
fn to_ascii(value: &Value) -> String {
    let escape = |unit: u16| match u8::try_from(unit).ok().filter(u8::is_ascii) {
        Some(byte) => char::from(byte).to_string(),
        None => format!("\\u{unit:04x}"),
    };
    value.to_string().encode_utf16().map(escape).collect()
}

/// The kinds of blocks, by the full parser.
fn slow_kinds(content: &[Value]) -> BlockKinds {
    let mut kinds = BlockKinds::default();
    for block in content {
        let kind = match block["type"].as_str() {
            Some("text") if block["text"].is_string() => &mut kinds.text,
            Some("image") => &mut kinds.image,
            Some("audio") => &mut kinds.audio,
            Some("resource") => &mut kinds.resource,
            Some("resource_link") => &mut kinds.link,
            Some(_) | None => &mut kinds.other,
        };
        *kind = true;
    }
    kinds
}

fn has_address(value: &Value) -> bool {
    let is_address =
        |(name, value): (&String, &Value)| name.contains("uri") || name.contains("Uri") || has_address(value);
    match value {
        Value::Object(members) => members.iter().any(is_address),
        Value::Array(elements) => elements.iter().any(has_address),
        _ => false,
    }
}

/// The number of characters of all strings of a value.
fn count_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(elements) => elements.iter().map(count_chars).sum(),
        Value::Object(members) => members.values().map(count_chars).sum(),
        _ => 0,
    }
}

proptest! {
    // G7
    #[test]
    fn scan_flags_equal_those_of_full_parsers(result in any_result()) {
        for text in [result.to_string(), to_ascii(&result)] {
            let Some(scan) = scan(&text) else {
                // Only escaped names and many members are left to the full parser.
                prop_assert!(text.contains('\\'), "{text}");
                continue;
            };
            let members = serde_json::from_str::<Map<String, Value>>(&text).unwrap();
            let found: Vec<_> = scan.members().map(|(name, value)| (&text[name], &text[value])).collect();
            prop_assert_eq!(found.len(), members.len());
            for ((name, value), (slow_name, slow_value)) in found.into_iter().zip(&members) {
                prop_assert_eq!(name, slow_name);
                prop_assert_eq!(&serde_json::from_str::<Value>(value).unwrap(), slow_value);
            }
            let content = members.get("content").and_then(Value::as_array);
            prop_assert_eq!(scan.blocks, content.map(|content| slow_kinds(content)));
            let is_changed = matches!(clean_json(&text), std::borrow::Cow::Owned(_));
            prop_assert!(scan.may_hide || !is_changed, "{}", text);
            prop_assert!(scan.may_have_address || !has_address(&result), "{}", text);
            if let Some(chars) = scan.ascii_chars {
                prop_assert!(chars >= count_chars(&result), "{}", text);
            }
        }
    }

    // G7
    #[test]
    fn scan_never_accepts_invalid_json(
        result in any_result(),
        changes in vec((any::<prop::sample::Index>(), prop::sample::select(b"\"\\,}{][:0 tu\x01\xff".to_vec())), 1..4),
    ) {
        let mut bytes = result.to_string().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let is_object = serde_json::from_slice::<Map<String, Value>>(&bytes).is_ok();
        prop_assert!(ResultScan::of_result(&bytes).is_none() || is_object, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

// G7
#[test]
fn unusual_results_are_left_to_the_full_parser() {
    let many: String = (0..9).map(|number| format!("\"m{number}\":0,")).collect();
    for text in [
        "[]",
        "1",
        "",
        "{\"a\":1}x",
        "{\"a\":1,\"a\":2}",
        "{\"\\u0061\":1}",
        "{\"a\":\n1}",
        "{\"content\":[{\"type\":\"text\",\"text\":\"\",\"text\":\"\"}]}",
        "{\"content\":[{\"t\\u0079pe\":\"text\"}]}",
        &format!("{{{many}\"z\":0}}"),
    ] {
        assert_eq!(scan(text), None, "{text}");
    }
    assert!(scan("{}").is_some_and(|scan| scan.members().next().is_none()));
}

// G7
#[test]
fn scan_notes_blocks_and_members() {
    let text = r#"{ "content" : [ { "type": "text", "text": "a\"b" } , {"type":"audio"}], "_meta":{}}"#;
    let found = scan(text).unwrap();
    assert_eq!(found.blocks, Some(BlockKinds { text: true, audio: true, ..BlockKinds::default() }));
    assert_eq!(found.member(text.as_bytes(), "_meta"), Some(&b"{}"[..]));
    assert_eq!(found.member(text.as_bytes(), "meta"), None);
    assert!(!found.may_hide && !found.may_have_address);
    assert_eq!(found.ascii_chars, Some(text.len() - 1));
    assert!(scan(r#"{"content":[{"type":"text","text":"\r"}]}"#).unwrap().may_hide);
    assert!(!scan(r#"{"content":[{"type":"text","text":"\u00e9\n"}]}"#).unwrap().may_hide);
    assert!(scan(r#"{"content":[{"type":"text","text":"\ud83d\ude00"}]}"#).unwrap().may_hide);
    assert_eq!(
        scan(r#"{"content":[{"type":"text","text":1}]}"#).unwrap().blocks.map(|it| it.other),
        Some(true)
    );
}
