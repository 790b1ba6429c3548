//! Shows that all of an answer survives but what is damaged, and that nothing hidden does.

use std::sync::atomic::{AtomicU32, Ordering};

use mcparley_wire::{Damage, Failure, RawJson};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::shape;
use crate::call::outcome::{Block, Body, Outcome};

fn raw(text: &str) -> RawJson {
    RawJson::of(&RawValue::from_string(text.to_owned()).unwrap()).unwrap()
}

fn shaped(answer: &Value) -> Outcome {
    shape(raw(&answer.to_string())).unwrap()
}

/// The one block that the block makes.
fn block(block: &Value) -> Block {
    let mut content = shaped(&json!({ "content": [block] })).content;
    assert_eq!(content.len(), 1);
    content.pop().unwrap()
}

fn note(text: &str) -> Block {
    Block::Note(format!("{text} was left out"))
}

fn text(text: &str) -> Block {
    Block::Text(text.into())
}

// R1 B09
#[test]
fn half_a_surrogate_pair_costs_one_character_and_nothing_else() {
    for (written, expected) in [
        (r#""cut \ud83d""#, "cut \u{fffd}"),
        (r#""\udc00\ud83d\ude00\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}\u{fffd}\u{1f600}"),
        (r#""\\ud800 \n\u00e9 \ud800x é""#, "\\ud800 \né \u{fffd}x é"),
        (r#""\ud800\n""#, "\u{fffd}\n"),
    ] {
        let answer = format!(r#"{{"content":[{{"type":"text","text":{written}}}]}}"#);
        assert_eq!(shape(raw(&answer)).unwrap().content, [text(expected)], "{written}");
    }
}

#[test]
fn every_kind_of_block_is_read() {
    // R1
    let some = |text: &str| Some(text.to_owned());
    for (written, expected) in [
        (json!({ "type": "text", "text": "a \"b\"\n" }), text("a \"b\"\n")),
        (
            json!({ "type": "image", "data": "iVBORw0K", "mimeType": "image/png" }),
            Block::Image { mime: "image/png".into(), data: "iVBORw0K".into() },
        ),
        (
            json!({ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav", "annotations": { "audience": ["robot"] } }),
            Block::Audio { mime: "audio/wav".into(), data: "UklGRg==".into() },
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "x" } }),
            Block::Resource {
                uri: "file:///a".into(),
                mime: some("text/plain"),
                body: Body::Text("x".into()),
            },
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///b", "blob": "AAAA" } }),
            Block::Resource { uri: "file:///b".into(), mime: None, body: Body::Blob("AAAA".into()) },
        ),
        (
            json!({ "type": "resource_link", "uri": "file:///c", "name": "c", "title": "C", "description": "see", "mimeType": "a/b", "size": 3 }),
            Block::Link {
                uri: "file:///c".into(),
                name: "c".into(),
                title: some("C"),
                description: some("see"),
                mime: some("a/b"),
            },
        ),
        // What the official SDK gives up on.
        (
            json!({ "type": "resource_link", "uri": "file:///d" }),
            Block::Link {
                uri: "file:///d".into(),
                name: "file:///d".into(),
                title: None,
                description: None,
                mime: None,
            },
        ),
        (
            json!({ "type": "image", "data": "/9j/4AAQ" }),
            Block::Image { mime: "image/jpeg".into(), data: "/9j/4AAQ".into() },
        ),
    ] {
        assert_eq!(block(&written), expected, "{written}");
    }
}

#[test]
fn a_damaged_or_unknown_block_becomes_a_note() {
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
fn a_field_of_the_wrong_type_that_does_not_matter_is_ignored() {
    // R1
    assert_eq!(block(&json!({ "type": "text", "text": "a", "title": 5, "resource": [] })), text("a"));
    let twice = raw(r#"{"content":[{"type":"text","text":"a","text":"b"}],"content2":1}"#);
    assert_eq!(shape(twice).unwrap().content, [text("b")]);
}

#[test]
fn nothing_hidden_reaches_a_model() {
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
            Block::Resource {
                uri: clean.clone(),
                mime: Some(clean.clone()),
                body: Body::Text(clean.clone())
            },
            Block::Link {
                uri: clean.clone(),
                name: "x ab[2J".into(),
                title: Some(clean.clone()),
                description: Some(clean.clone()),
                mime: None
            },
            Block::Image { mime: clean, data: "AAAA".into() },
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
    let outcome = shape(answer.clone()).unwrap();
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{ "b":1.0, "a" : 1e400,"a":"\u00e9" }"#);
    assert_eq!((outcome.content, outcome.raw), (vec![text("x")], answer));
}

#[test]
fn an_error_is_passed_on_however_it_is_written() {
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
        // A member that says nothing is an absent one.
        (json!(null), false),
    ] {
        let outcome = shaped(&json!({ "content": [{ "type": "text", "text": "a" }], "isError": written }));
        assert_eq!((outcome.is_error, outcome.content), (expected, vec![text("a")]), "{written}");
    }
}

#[test]
fn an_answer_in_an_unusual_form_is_understood() {
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
fn an_answer_without_any_result_is_damaged() {
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
        let failure = shape(raw(answer)).unwrap_err();
        assert!(matches!(failure, Failure::Damaged(Damage::Shape)), "{answer}");
    }
}

#[test]
fn an_outcome_reads_as_one_text() {
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
    assert_eq!(shaped(&json!({ "content": content })).text(), read);
    assert_eq!(
        shaped(&json!({ "content": content, "structuredContent": { "a": 1 } })).text(),
        format!("{read}\n{{\"a\":1}}"),
    );
}

#[test]
fn text_that_only_repeats_the_data_is_told_once_and_nothing_is_called_nothing() {
    // R1 R7
    let said = |text: &str| {
        shaped(&json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "a": [1] } }))
            .text()
    };
    assert_eq!(said("{\"a\":[1]}"), "{\"a\":[1]}");
    assert_eq!(said("{\n  \"a\": [ 1 ]\n}"), "{\n  \"a\": [ 1 ]\n}");
    assert_eq!(said("{\"a\":[2]}"), "{\"a\":[2]}\n{\"a\":[1]}");
    assert_eq!(said("one"), "one\n{\"a\":[1]}");
    assert_eq!(shaped(&json!({ "structuredContent": { "a": [1] } })).text(), "{\"a\":[1]}");
    assert_eq!(shaped(&json!({ "content": [] })).text(), "(no content)");
    assert_eq!(shaped(&json!({ "content": [{ "type": "text", "text": "" }] })).text(), "(no content)");
}

#[test]
fn the_json_of_an_outcome_is_stable() {
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

/// Any JSON, made of the words that answers are made of.
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

    fn check_no_answer_makes_it_panic(answer in answers()) {
        if let Ok(outcome) = shape(raw(&answer.to_string())) {
            SHAPED.fetch_add(1, Ordering::Relaxed);
            let hides = outcome.text().contains('\u{202e}');
            prop_assert!(!hides);
            let json = serde_json::to_value(&outcome).unwrap();
            prop_assert_eq!(json["content"].as_array().unwrap().len(), outcome.content.len());
        }
    }

    #[test]
    fn a_bad_block_costs_nothing_but_itself(
        texts in prop::collection::vec("[a-zé\"\n]{1,12}", 0..6),
        bad in answers(),
        at in any::<prop::sample::Index>(),
    ) {
        // R1
        let mut blocks: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        let at = at.index(blocks.len() + 1);
        blocks.insert(at, json!({ "type": "text", "text": { "bad": bad } }));
        let mut expected: Vec<Block> = texts.iter().map(|text| Block::Text(text.clone())).collect();
        expected.insert(at, note("a text block without `text`"));
        prop_assert_eq!(shaped(&json!({ "content": blocks })).content, expected);
    }
}

/// How many cases came that far.
static SHAPED: AtomicU32 = AtomicU32::new(0);

// R1 N7
#[test]
fn no_answer_makes_it_panic() {
    check_no_answer_makes_it_panic();
    assert!(SHAPED.load(Ordering::Relaxed) > 0, "no answer was shaped");
}

// B03
#[test]
fn data_nested_too_deep_is_damage_and_brackets_in_texts_are_not() {
    let nested =
        |depth: usize| format!(r#"{{"structuredContent":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(shape(RawJson::parse(&nested(128)).unwrap()).is_ok());
    assert!(shape(RawJson::parse(&nested(129)).unwrap()).is_err());
    let text = format!(r#"{{"structuredContent":["{}\"["]}}"#, "[".repeat(500));
    assert!(shape(RawJson::parse(&text).unwrap()).is_ok());
}

// R1
#[test]
fn an_answer_that_is_one_text_is_read_alike_however_it_is_written() {
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
            assert!(super::plain::text(answer.as_bytes()).is_some(), "{answer}");
            let outcome = shape(RawJson::parse(&answer).unwrap()).unwrap();
            assert_eq!(
                outcome.content,
                [Block::Text(mcparley_model::text::clean(&expected).into_owned())],
                "{answer}"
            );
        }
    }
    // What only looks so at both ends is read as a whole.
    let two = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
    assert!(super::plain::text(two.as_bytes()).is_none());
    let hidden =
        r#"{"content":[{"type":"text","text":"a"}],"isError":true,"content":[{"type":"text","text":"b"}]}"#;
    assert!(super::plain::text(hidden.as_bytes()).is_none());
    assert!(
        shape(RawJson::parse(r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#).unwrap())
            .unwrap()
            .is_error
    );
}

// R1: base64 that cannot be decoded is told, wherever it stands.
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
    let mut expected: Vec<Block> = notes.iter().map(|it| Block::Note(format!("{it} was left out"))).collect();
    expected.push(Block::Image { mime: "image/png".into(), data: "AAAA".into() });
    assert_eq!(outcome.content, expected);
}

// R1 B09: neither the text nor the data nor what is passed on has halves of surrogate pairs.
#[test]
fn lone_surrogates_never_leave() {
    let answer = r#"{"content":[{"type":"text","text":"a\ud83d"}],"structuredContent":{"b":"\udc00c","d":1},"_meta":{"e":"\ud800"}}"#;
    let outcome = shape(RawJson::parse(answer).unwrap()).unwrap();
    assert_eq!(outcome.content, [text("a\u{fffd}")]);
    let data: Value = outcome.structured.as_ref().unwrap().decode().unwrap();
    assert_eq!(data, json!({ "b": "\u{fffd}c", "d": 1 }));
    let raw: Value = outcome.raw.decode().unwrap();
    assert_eq!(raw["_meta"]["e"], "\u{fffd}");
}
