//! Results as clients of each era get them.

use mcparley_wire::ProtocolVersion;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::client_abilities::Caller;

fn caller(version: &str) -> Caller {
    ProtocolVersion::parse_old(version).map_or_else(
        || Caller {
            spoken: mcparley_wire::AgreedProtocol::New,
            abilities: Default::default(),
            has_apps: false,
        },
        |version| Caller::from_initialize(version, None),
    )
}

fn result(raw: &str, version: &str) -> String {
    let outcome = RawJson::parse(raw).ok().and_then(|raw| CallOutcome::try_from(raw).ok());
    let (caller, mode) = (caller(version), crate::mode::GatewayMode::default());
    let form = ResultForm { caller: &caller, mode: &mode, tag: None, server_info: None, server_era: None };
    let result = outcome.and_then(|outcome| result_for_client(&outcome, &form).ok());
    result.map(|result| result.as_str().to_owned()).unwrap_or_default()
}

// G1 N7
#[test]
fn valid_result_is_forwarded_byte_for_byte() {
    let raw =
        r#"{"content":[{"type":"text","text":"a","x":1.50}],"unknown":{"z":1,"a":1e2},"isError":false}"#;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(result(raw, version), raw, "{version}");
    }
    let new = result(raw, "2026-07-28");
    assert!(
        new.starts_with(r#"{"resultType":"complete","content":[{"type":"text","text":"a","x":1.50}]"#),
        "{new}"
    );
    assert!(new.contains(r#""unknown":{"z":1,"a":1e2}"#), "{new}");
}

// G1
#[test]
fn old_client_gets_no_members_of_the_new_era() {
    let raw = r#"{"resultType":"complete","content":[{"type":"text","text":"a"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"1"},"k":1}}"#;
    assert_eq!(result(raw, "2025-11-25"), r#"{"content":[{"type":"text","text":"a"}],"_meta":{"k":1}}"#);
    let new: Value = serde_json::from_str(&result(raw, "2026-07-28")).unwrap_or_default();
    assert_eq!(new["_meta"]["k"], 1);
    assert_eq!(
        new["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcparley",
        "who passes it on is who says it"
    );
}

// N7 B41 B43
#[test]
fn hidden_characters_are_removed_and_the_rest_stays() {
    let raw = "{\"content\":[{\"type\":\"text\",\"text\":\"a\u{e0041}b\",\"x\":1}],\"y\":\"\\u202ec\"}";
    assert_eq!(result(raw, "2025-11-25"), r#"{"content":[{"type":"text","text":"ab","x":1}],"y":"c"}"#);
}

// R1 G1
#[test]
fn unsupported_block_becomes_text() {
    let raw = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram"},{"type":"resource_link","uri":"u://x"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}"#;
    let kinds = |version: &str| -> Vec<String> {
        let read: Value = serde_json::from_str(&result(raw, version)).unwrap_or_default();
        let content = read["content"].as_array().cloned().unwrap_or_default();
        content.iter().map(|block| block["type"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(kinds("2024-11-05"), ["text", "text", "text", "text"]);
    assert_eq!(kinds("2025-03-26"), ["text", "text", "text", "audio"]);
    assert_eq!(kinds("2025-06-18"), ["text", "text", "resource_link", "audio"]);
}

// R1 G1 G7
#[test]
fn blocks_beside_a_damaged_one_keep_their_bytes() {
    let good = r#"{"type":"text","text":"a","annotations":{"priority":1.50},"_meta":{"k":1e2},"own":[]}"#;
    let raw = format!(
        r#"{{"content":[{good},{{"type":"image","data":"AAAAA","mimeType":"image/png"}},{{"type":"hologram"}}],"structuredContent":{{"n":1.0}},"_meta":{{"m":2.50}}}}"#
    );
    let rebuilt = result(&raw, "2025-11-25");
    assert!(rebuilt.starts_with(&format!(r#"{{"content":[{good},{{"type":"text","#)), "{rebuilt}");
    assert!(rebuilt.contains(r#""structuredContent":{"n":1.0}"#), "{rebuilt}");
    assert!(rebuilt.ends_with(r#""_meta":{"m":2.50}}"#), "{rebuilt}");
    let read: Value = serde_json::from_str(&rebuilt).unwrap_or_default();
    assert_eq!(read["content"].as_array().map(Vec::len), Some(3), "{rebuilt}");
}

// R1 G1
#[test]
fn structured_content_is_never_lost() {
    let read = |raw: &str, version: &str| -> Value {
        serde_json::from_str(&result(raw, version)).unwrap_or_default()
    };
    let alone = r#"{"content":[],"structuredContent":{"a":1}}"#;
    let expected =
        json!({ "content": [{ "type": "text", "text": "{\"a\":1}" }], "structuredContent": { "a": 1 } });
    assert_eq!(read(alone, "2025-11-25"), expected);
    let list = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":[1,2]}"#;
    assert_eq!(
        read(list, "2025-11-25"),
        json!({ "content": [
        { "type": "text", "text": "x" }, { "type": "text", "text": "[1,2]" }
    ] })
    );
    assert_eq!(read(list, "2026-07-28")["structuredContent"], json!([1, 2]));
    assert_eq!(read(r#"{"content":[]}"#, "2025-11-25")["content"][0]["text"], "(no content)");
}

// R1 G1: a client would fail on it, or show nothing.
#[test]
fn broken_base64_and_lone_surrogates_reach_no_client() {
    let raw = r#"{"content":[{"type":"image","data":"AAAAA","mimeType":"image/png"},{"type":"text","text":"a\ud83d"}],"structuredContent":{"b":"\udc00","c":1}}"#;
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let read: Value = serde_json::from_str(&result(raw, version)).unwrap_or_default();
        let texts =
            [&read["content"][0], &read["content"][1]].map(|block| block["text"].as_str().unwrap_or(""));
        assert_eq!(texts, ["[an image that is not base64 was left out]", "a\u{fffd}"], "{version}");
        assert_eq!(read["structuredContent"], json!({ "b": "\u{fffd}", "c": 1 }), "{version}");
    }
}

// R1 R7 G1 B17: the client gets both, for its schema; one that takes no list is not told twice.
#[test]
fn text_and_structured_content_both_reach_a_client() {
    let raw =
        r#"{"content":[{"type":"text","text":"42"}],"structuredContent":{"result":42},"isError":"yes"}"#;
    let read: Value = serde_json::from_str(&result(raw, "2025-11-25")).unwrap_or_default();
    let content = json!([{ "type": "text", "text": "42" }]);
    let expected = json!({ "content": content, "structuredContent": { "result": 42 }, "isError": true });
    assert_eq!(read, expected);
    let list = r#"{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":[1,2]}"#;
    let read: Value = serde_json::from_str(&result(list, "2025-11-25")).unwrap_or_default();
    assert_eq!(read, json!({ "content": [{ "type": "text", "text": "[1,2]" }] }));
}

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Forwards a result with and without decoding it.
fn forward_both(raw: &RawJson, version: &str, mode: &crate::mode::GatewayMode) -> [Option<String>; 2] {
    let caller = caller(version);
    let server_info = Some(json!({ "name": "s" })).filter(|_| mode.raw);
    let form = ResultForm { caller: &caller, mode, tag: Some("tag"), server_info, server_era: None };
    let text = |result: RawJson| result.as_str().to_owned();
    let forwarded = ForwardableOutcome::from_answer(raw.clone()).ok();
    let forwarded = forwarded.and_then(|outcome| forward_outcome(outcome, &form).ok());
    let decoded = CallOutcome::try_from(raw.clone()).ok();
    let decoded = decoded.and_then(|outcome| result_for_client(&outcome, &form).ok());
    [forwarded.map(|pieces| text(pieces.into_json())), decoded.map(text)]
}

fn any_result() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[ -~\n\t]{0,20}", "[a-zé日\u{202e}\r]{0,6}"];
    let text = text.prop_map(|text| serde_json::to_string(&text).unwrap());
    let block = prop_oneof![
        4 => text.clone().prop_map(|text| format!(r#"{{"type":"text","text":{text}}}"#)),
        1 => text.clone().prop_map(|text| format!(r#"{{ "text" : {text} , "type" : "text", "annotations":{{}} }}"#)),
        1 => Just(r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#.to_owned()),
        1 => Just(r#"{"type":"audio","data":"AAAA","mimeType":"audio/wav"}"#.to_owned()),
        1 => Just(r#"{"type":"resource_link","uri":"file:///a","name":"a"}"#.to_owned()),
        1 => Just(r#"{"type":"resource","resource":{"uri":"file:///a","text":"a"}}"#.to_owned()),
        1 => prop::sample::select(vec!["7", "null", "{}", r#"{"type":"odd"}"#, r#"{"type":"text"}"#]).prop_map(str::to_owned),
    ];
    let content =
        prop::collection::vec(block, 0..4).prop_map(|blocks| format!(r#""content":[{}]"#, blocks.join(",")));
    let member = prop_oneof![
        3 => content,
        1 => prop::sample::select(vec![
            r#""resultType":"complete""#, r#""resultType" : "complete" "#, r#""ttlMs":7"#, r#""cacheScope":"public""#, r#""isError":false"#,
            r#""isError":true"#, r#""isError":null"#, r#""structuredContent":{"a":1}"#, r#""structuredContent":[1]"#,
            r#""structuredContent":null"#, r#""_meta":{}"#, r#""_meta":null"#, r#""_meta":{"a":1.50}"#,
            r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}"#, r#""_meta":{ "a" : 1 , "io.modelcontextprotocol/serverInfo":{}}"#,
            r#""_meta":{"ui/resourceUri":"ui://a"}"#, r#""unknown":{"z":1e2}"#,
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(member, 0..6).prop_map(|members| {
        let mut seen = std::collections::HashSet::new();
        let is_new = |member: &String| seen.insert(member.split('"').nth(1).unwrap_or_default().to_owned());
        let members: Vec<String> = members.into_iter().filter(is_new).collect();
        format!("{{{}}}", members.join(", "))
    })
}

proptest! {
    // G7
    #[test]
    fn forwarded_result_equals_the_decoded_edited_and_encoded_one(
        raw in any_result(),
        version in prop::sample::select(VERSIONS.to_vec()),
        for_model in any::<bool>(),
        is_raw in any::<bool>(),
    ) {
        let mode = crate::mode::GatewayMode { for_model, raw: is_raw, ..Default::default() };
        let raw = RawJson::parse(&raw).unwrap();
        let [forwarded, decoded] = forward_both(&raw, version, &mode);
        prop_assert_eq!(forwarded, decoded);
    }
}

// G7
#[test]
fn forwarded_result_shares_the_bytes_of_its_message() {
    let text = "x".repeat(10_000);
    let raw =
        format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}],"ttlMs":1}}"#);
    let raw = RawJson::parse(&raw).unwrap();
    let (caller, mode) = (caller("2025-11-25"), crate::mode::GatewayMode::default());
    let form =
        ResultForm { caller: &caller, mode: &mode, tag: Some("tag"), server_info: None, server_era: None };
    let outcome = ForwardableOutcome::from_answer(raw.clone()).unwrap();
    let pieces = forward_outcome(outcome, &form).unwrap();
    assert!(raw.as_bytes().as_ptr_range().contains(&pieces.body.as_ptr()));
    assert!(pieces.head.len() + pieces.tail.len() < 10, "{pieces:?}");
    assert_eq!(pieces.into_json().as_str(), format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#));
}
