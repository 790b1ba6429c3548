//! Undamaged parts of an answer survive, and hidden characters do not.

use std::sync::atomic::{AtomicU32, Ordering};

use mcparley_json::{RawJson, UnexpectedShape};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::shape_outcome;
use crate::outcome::{CallOutcome, ContentBlock, ResourceBody};

fn raw(text: &str) -> RawJson {
    RawJson::from_value(&RawValue::from_string(text.to_owned()).unwrap()).unwrap()
}

fn shaped(answer: &Value) -> CallOutcome {
    shape_outcome(raw(&answer.to_string())).unwrap()
}

/// The outcome block for one raw block.
fn block(block: &Value) -> ContentBlock {
    let mut content = shaped(&json!({ "content": [block] })).content;
    assert_eq!(content.len(), 1);
    content.pop().unwrap()
}

fn note(text: &str) -> ContentBlock {
    ContentBlock::Note(format!("{text} was left out"))
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text(text.into())
}

// R1 B09
#[test]
fn lone_surrogate_costs_one_character_only() {
    for (written, expected) in [
        (r#""cut \ud83d""#, "cut \u{fffd}"),
        (r#""\udc00\ud83d\ude00\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}\u{fffd}\u{1f600}"),
        (r#""\\ud800 \n\u00e9 \ud800x é""#, "\\ud800 \né \u{fffd}x é"),
        (r#""\ud800\n""#, "\u{fffd}\n"),
    ] {
        let answer = format!(r#"{{"content":[{{"type":"text","text":{written}}}]}}"#);
        assert_eq!(shape_outcome(raw(&answer)).unwrap().content, [text(expected)], "{written}");
    }
}

#[test]
fn every_block_type_is_parsed() {
    // R1
    let some = |text: &str| Some(text.to_owned());
    for (written, expected) in [
        (json!({ "type": "text", "text": "a \"b\"\n" }), text("a \"b\"\n")),
        (
            json!({ "type": "image", "data": "iVBORw0K", "mimeType": "image/png" }),
            ContentBlock::Image { mime: "image/png".into(), data: "iVBORw0K".into() },
        ),
        (
            json!({ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav", "annotations": { "audience": ["robot"] } }),
            ContentBlock::Audio { mime: "audio/wav".into(), data: "UklGRg==".into() },
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "x" } }),
            ContentBlock::Resource {
                uri: "file:///a".into(),
                mime: some("text/plain"),
                body: ResourceBody::Text("x".into()),
            },
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///b", "blob": "AAAA" } }),
            ContentBlock::Resource {
                uri: "file:///b".into(),
                mime: None,
                body: ResourceBody::Blob("AAAA".into()),
            },
        ),
        (
            json!({ "type": "resource_link", "uri": "file:///c", "name": "c", "title": "C", "description": "see", "mimeType": "a/b", "size": 3 }),
            ContentBlock::Link {
                uri: "file:///c".into(),
                name: "c".into(),
                title: some("C"),
                description: some("see"),
                mime: some("a/b"),
            },
        ),
        // Answers that the official SDK rejects.
        (
            json!({ "type": "resource_link", "uri": "file:///d" }),
            ContentBlock::Link {
                uri: "file:///d".into(),
                name: "file:///d".into(),
                title: None,
                description: None,
                mime: None,
            },
        ),
        (
            json!({ "type": "image", "data": "/9j/4AAQ" }),
            ContentBlock::Image { mime: "image/jpeg".into(), data: "/9j/4AAQ".into() },
        ),
    ] {
        assert_eq!(block(&written), expected, "{written}");
    }
}

#[test]
fn damaged_or_unknown_block_becomes_a_note() {
    // R1 B17
    for (written, expected) in [
        (json!({ "type": "video", "data": "AAAA" }), note("a block of the unknown type `video`")),
        (json!({ "type": "te\u{200b}xt\n!" }), note("a block of the unknown type `text !`")),
        (json!({ "type": "text" }), note("a text block without `text`")),
        (json!({ "type": "text", "text": 5 }), note("a text block without `text`")),
        (json!({ "type": "text", "text": null }), note("a text block without `text`")),
        (json!({ "type": "image", "mimeType": "image/png" }), note("an image without `data`")),
        (
            json!({ "type": "image", "mimeType": "image/png", "data": "no base64!" }),
            note("an image that is not base64"),
        ),
        (json!({ "type": "image", "data": "AAAA" }), note("an image of unknown type")),
        (json!({ "type": "audio", "data": [] }), note("a sound without `data`")),
        (json!({ "type": "resource" }), note("a resource block without `resource`")),
        (json!({ "type": "resource", "resource": 5 }), note("a resource without `uri`")),
        (
            json!({ "type": "resource", "resource": { "uri": "a:b" } }),
            note("a resource without `text` or `blob`"),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "é" } }),
            note("a resource that is not base64"),
        ),
        (json!({ "type": "resource_link", "name": "c" }), note("a resource link without `uri`")),
        (json!({ "type": 5 }), note("a block without a type")),
        (json!({}), note("a block without a type")),
        (json!("text"), note("a block without a type")),
        (json!(null), note("a block without a type")),
    ] {
        assert_eq!(block(&written), expected, "{written}");
    }
}

#[test]
fn optional_field_of_the_wrong_type_is_ignored() {
    // R1
    assert_eq!(block(&json!({ "type": "text", "text": "a", "title": 5, "resource": [] })), text("a"));
    let twice = raw(r#"{"content":[{"type":"text","text":"a","text":"b"}],"content2":1}"#);
    assert_eq!(shape_outcome(twice).unwrap().content, [text("b")]);
}

#[test]
fn hidden_characters_never_reach_a_model() {
    // N7 B41 B42 B43
    let dirty = "a\u{e0041}\u{202e}\u{200b}b\u{1b}[2J";
    let outcome = shaped(&json!({
        "content": [
            { "type": "text", "text": format!("{dirty} 👩‍👩‍👧 ❤️‍🔥") },
            { "type": "resource", "resource": { "uri": dirty, "mimeType": dirty, "text": dirty } },
            { "type": "resource_link", "uri": dirty, "name": format!("x\n{dirty}"), "title": dirty, "description": dirty },
            { "type": "image", "data": "AAAA", "mimeType": dirty },
        ],
        "structuredContent": { dirty: [{ "deep": dirty }], "n": 1.50 },
    }));
    let clean = "ab[2J".to_owned();
    assert_eq!(
        outcome.content,
        [
            text("ab[2J 👩‍👩‍👧 ❤️‍🔥"),
            ContentBlock::Resource {
                uri: clean.clone(),
                mime: Some(clean.clone()),
                body: ResourceBody::Text(clean.clone())
            },
            ContentBlock::Link {
                uri: clean.clone(),
                name: "x ab[2J".into(),
                title: Some(clean.clone()),
                description: Some(clean.clone()),
                mime: None
            },
            ContentBlock::Image { mime: clean, data: "AAAA".into() },
        ]
    );
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{"ab[2J":[{"deep":"ab[2J"}],"n":1.5}"#);
}

#[test]
fn clean_structured_content_is_kept_byte_for_byte() {
    // R1
    let answer = raw(
        r#"{"structuredContent":{ "b":1.0, "a" : 1e400,"a":"\u00e9" },"content":[{"type":"text","text":"x"}]}"#,
    );
    let outcome = shape_outcome(answer.clone()).unwrap();
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{ "b":1.0, "a" : 1e400,"a":"\u00e9" }"#);
    assert_eq!((outcome.content, outcome.raw), (vec![text("x")], answer));
}

#[test]
fn tool_error_is_recognized_in_every_form() {
    // R1
    for (written, expected) in [
        (json!(true), true),
        (json!("true"), true),
        (json!("True"), true),
        (json!("yes"), true),
        (json!(1), true),
        (json!(0), true),
        (json!("false"), true),
        (json!({}), true),
        (json!([]), true),
        (json!(false), false),
        // A `null` member counts as absent.
        (json!(null), false),
    ] {
        let outcome = shaped(&json!({ "content": [{ "type": "text", "text": "a" }], "isError": written }));
        assert_eq!((outcome.is_error, outcome.content), (expected, vec![text("a")]), "{written}");
    }
}

#[test]
fn answer_in_an_unusual_form_is_parsed() {
    // R1
    let five = Some("5");
    for (answer, content, structured) in [
        (json!({ "content": [] }), vec![], None),
        (json!({}), vec![], None),
        (json!({ "content": null, "_meta": {} }), vec![], None),
        (json!({ "structuredContent": 5 }), vec![], five),
        (json!({ "structuredContent": 5, "content": "no array" }), vec![], five),
        (
            json!({ "structuredContent": null, "content": [{ "type": "text", "text": "a" }] }),
            vec![text("a")],
            None,
        ),
        (json!({ "toolResult": 5 }), vec![], five),
        (json!({ "toolResult": 6, "structuredContent": 5 }), vec![], five),
        (
            json!({ "messages": [1], "contents": {}, "content": [{ "type": "text", "text": "a" }] }),
            vec![text("a")],
            None,
        ),
    ] {
        let outcome = shaped(&answer);
        let found = outcome.structured.as_ref().map(RawJson::as_str);
        assert_eq!((outcome.content, found), (content, structured), "{answer}");
    }
}

#[test]
fn answer_without_a_result_is_rejected() {
    // R1 K7
    for answer in [
        "5",
        "null",
        "\"text\"",
        "[]",
        "[[],null,null,null]",
        r#"{"content":"text"}"#,
        r#"{"content":{},"isError":true}"#,
    ] {
        let failure = shape_outcome(raw(answer)).unwrap_err();
        assert_eq!(failure, UnexpectedShape, "{answer}");
    }
}

#[test]
fn outcome_renders_as_one_text() {
    // R1 R7
    let content = json!([
        { "type": "text", "text": "first" },
        { "type": "image", "data": "A".repeat(16_000), "mimeType": "image/png" },
        { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "file:///a", "text": "body" } },
        { "type": "resource", "resource": { "uri": "file:///b", "mimeType": "a/b", "blob": "A".repeat(4_000_000) } },
        { "type": "resource_link", "uri": "file:///c", "name": "c", "description": "two\nlines" },
        { "type": "video" },
    ]);
    let read = "first\n[image image/png, 12 kB]\n[audio audio/wav, 3 bytes]\n[resource file:///a]\nbody\n\
        [resource file:///b a/b, 3.0 MB]\n[link c file:///c: two lines]\n\
        [a block of the unknown type `video` was left out]";
    assert_eq!(shaped(&json!({ "content": content })).to_text(), read);
    assert_eq!(
        shaped(&json!({ "content": content, "structuredContent": { "a": 1 } })).to_text(),
        format!("{read}\n{{\"a\":1}}"),
    );
}

#[test]
fn repeated_structured_content_is_rendered_once_and_empty_outcome_is_named() {
    // R1 R7
    let said = |text: &str| {
        shaped(&json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "a": [1] } }))
            .to_text()
    };
    assert_eq!(said("{\"a\":[1]}"), "{\"a\":[1]}");
    assert_eq!(said("{\n  \"a\": [ 1 ]\n}"), "{\n  \"a\": [ 1 ]\n}");
    assert_eq!(said("{\"a\":[2]}"), "{\"a\":[2]}\n{\"a\":[1]}");
    assert_eq!(said("one"), "one\n{\"a\":[1]}");
    assert_eq!(shaped(&json!({ "structuredContent": { "a": [1] } })).to_text(), "{\"a\":[1]}");
    assert_eq!(shaped(&json!({ "content": [] })).to_text(), "(no content)");
    assert_eq!(shaped(&json!({ "content": [{ "type": "text", "text": "" }] })).to_text(), "(no content)");
}

#[test]
fn json_of_an_outcome_is_stable() {
    // R1 U2
    let outcome = shaped(&json!({
        "isError": "true",
        "content": [
            { "type": "text", "text": "a", "_meta": { "x": 1 } },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "a:b", "mimeType": "a/b", "blob": "AAAA" } },
            { "type": "resource", "resource": { "uri": "a:b", "text": "x" } },
            { "type": "resource_link", "uri": "a:b", "name": "n", "mimeType": "a/b" },
            { "type": "video" },
        ],
        "structuredContent": { "b": 1, "a": 2 },
    }));
    let expected = concat!(
        r#"{"isError":true,"content":[{"type":"text","text":"a"},"#,
        r#"{"type":"image","mimeType":"image/png","data":"AAAA"},"#,
        r#"{"type":"audio","mimeType":"audio/wav","data":"AAAA"},"#,
        r#"{"type":"resource","resource":{"uri":"a:b","mimeType":"a/b","blob":"AAAA"}},"#,
        r#"{"type":"resource","resource":{"uri":"a:b","text":"x"}},"#,
        r#"{"type":"resource_link","uri":"a:b","name":"n","mimeType":"a/b"},"#,
        r#"{"type":"note","text":"a block of the unknown type `video` was left out"}],"#,
        r#""structuredContent":{"b":1,"a":2}}"#,
    );
    assert_eq!(serde_json::to_string(&outcome).unwrap(), expected);
    assert_eq!(serde_json::to_string(&shaped(&json!({}))).unwrap(), r#"{"isError":false,"content":[]}"#);
}

/// Strategy for JSON made of the member names and values of answers.
fn answers() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "content",
        "structuredContent",
        "toolResult",
        "isError",
        "type",
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "data",
        "mimeType",
        "uri",
        "blob",
        "name",
        "true",
        "AAAA",
        "\u{202e}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let member = (word.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(member, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    fn check_no_answer_makes_parsing_panic(answer in answers()) {
        if let Ok(outcome) = shape_outcome(raw(&answer.to_string())) {
            SHAPED.fetch_add(1, Ordering::Relaxed);
            let hides = outcome.to_text().contains('\u{202e}');
            prop_assert!(!hides);
            let json = serde_json::to_value(&outcome).unwrap();
            prop_assert_eq!(json["content"].as_array().unwrap().len(), outcome.content.len());
        }
    }

    #[test]
    fn bad_block_does_not_affect_the_others(
        texts in prop::collection::vec("[a-zé\"\n]{1,12}", 0..6),
        bad in answers(),
        at in any::<prop::sample::Index>(),
    ) {
        // R1
        let mut blocks: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        let at = at.index(blocks.len() + 1);
        blocks.insert(at, json!({ "type": "text", "text": { "bad": bad } }));
        let mut expected: Vec<ContentBlock> = texts.iter().map(|text| ContentBlock::Text(text.clone())).collect();
        expected.insert(at, note("a text block without `text`"));
        prop_assert_eq!(shaped(&json!({ "content": blocks })).content, expected);
    }
}

/// The number of cases that were parsed, to prove that the property is not vacuous.
static SHAPED: AtomicU32 = AtomicU32::new(0);

// R1 N7
#[test]
fn no_answer_makes_parsing_panic() {
    check_no_answer_makes_parsing_panic();
    assert!(SHAPED.load(Ordering::Relaxed) > 0, "no answer was shaped");
}

// B03
#[test]
fn too_deep_structured_content_is_rejected_and_brackets_in_strings_are_not() {
    let nested =
        |depth: usize| format!(r#"{{"structuredContent":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(shape_outcome(RawJson::parse(&nested(128)).unwrap()).is_ok());
    assert!(shape_outcome(RawJson::parse(&nested(129)).unwrap()).is_err());
    let text = format!(r#"{{"structuredContent":["{}\"["]}}"#, "[".repeat(500));
    assert!(shape_outcome(RawJson::parse(&text).unwrap()).is_ok());
}

// R1
#[test]
fn single_text_answer_is_parsed_alike_in_every_form() {
    let texts = [r#"a\n\"b\" \u202e"#, "", r#"}]}"#, r#"x\"}],\"isError\":false}"#];
    for text in texts {
        let expected: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        let quick = [
            format!(r#"{{"content":[{block}]}}"#),
            format!(r#"{{"content":[{block}],"isError":false}}"#),
            format!(r#"{{"resultType":"complete","content":[{block}]}}"#),
        ];
        for answer in quick {
            assert!(super::fast_path::single_text(answer.as_bytes()).is_some(), "{answer}");
            let outcome = shape_outcome(RawJson::parse(&answer).unwrap()).unwrap();
            assert_eq!(
                outcome.content,
                [ContentBlock::Text(mcparley_model::text::clean_text(&expected).into_owned())],
                "{answer}"
            );
        }
    }
    // An answer that only matches at both ends is parsed in full.
    let two = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
    assert!(super::fast_path::single_text(two.as_bytes()).is_none());
    let hidden =
        r#"{"content":[{"type":"text","text":"a"}],"isError":true,"content":[{"type":"text","text":"b"}]}"#;
    assert!(super::fast_path::single_text(hidden.as_bytes()).is_none());
    assert!(
        shape_outcome(RawJson::parse(r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#).unwrap())
            .unwrap()
            .is_error
    );
}

// R1: invalid base64 becomes a note in every block type.
#[test]
fn broken_base64_becomes_a_note() {
    let outcome = shaped(&json!({ "content": [
        { "type": "image", "data": "AAAAA", "mimeType": "image/png" },
        { "type": "audio", "data": "AA=A", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "a:b", "blob": "+_AA" } },
        { "type": "image", "data": "AAAA", "mimeType": "image/png" },
    ] }));
    let notes =
        ["an image that is not base64", "a sound that is not base64", "a resource that is not base64"];
    let mut expected: Vec<ContentBlock> =
        notes.iter().map(|it| ContentBlock::Note(format!("{it} was left out"))).collect();
    expected.push(ContentBlock::Image { mime: "image/png".into(), data: "AAAA".into() });
    assert_eq!(outcome.content, expected);
}

// R1 B09: neither the text nor the structured content nor the raw answer has lone surrogates.
#[test]
fn lone_surrogates_are_removed_everywhere() {
    let answer = r#"{"content":[{"type":"text","text":"a\ud83d"}],"structuredContent":{"b":"\udc00c","d":1},"_meta":{"e":"\ud800"}}"#;
    let outcome = shape_outcome(RawJson::parse(answer).unwrap()).unwrap();
    assert_eq!(outcome.content, [text("a\u{fffd}")]);
    let data: Value = outcome.structured.as_ref().unwrap().decode().unwrap();
    assert_eq!(data, json!({ "b": "\u{fffd}c", "d": 1 }));
    let raw: Value = outcome.raw.decode().unwrap();
    assert_eq!(raw["_meta"]["e"], "\u{fffd}");
}
