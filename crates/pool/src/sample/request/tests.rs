//! Parsing of sampling requests, valid and malformed.

use serde_json::json;

use super::*;

fn read(params: &Value) -> Result<SamplingRequest, String> {
    SamplingRequest::parse(&ServerName::new("s"), &RawJson::from_value(params).unwrap())
}

// X6 N7
#[test]
fn request_is_parsed_completely_and_its_texts_are_cleaned() {
    let asked = json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "Hel\u{202e}lo" } },
            { "role": "assistant", "content": [
                { "type": "tool_use", "id": "1", "name": "a\u{200b}b", "input": {} },
                { "type": "text", "text": "one" }, { "type": "text", "text": "two" },
            ] },
            { "role": "user", "content": "plain" },
        ],
        "systemPrompt": "Be\u{7} brief.", "maxTokens": 10, "temperature": 0.5, "includeContext": "none",
        "stopSequences": ["END", 7],
        "modelPreferences": { "hints": [{ "name": "claude" }, {}], "speedPriority": 1, "costPriority": "much" },
        "tools": [{ "name": "weather", "inputSchema": { "type": "object" } }], "toolChoice": { "mode": "required" },
    });
    let question = read(&asked).unwrap();
    assert_eq!(question.messages[0].content, [SamplingPart::Text("Hello".into())]);
    let tool_use = json!({ "type": "tool_use", "id": "1", "name": "ab", "input": {} });
    assert_eq!(question.messages[1].content[0], SamplingPart::Block(tool_use));
    assert_eq!(
        (question.messages[1].role, question.messages[1].text()),
        (Role::Assistant, "one\ntwo".into())
    );
    assert_eq!(question.messages[2].text(), "plain");
    assert_eq!(question.system_prompt.as_deref(), Some("Be brief."));
    assert_eq!((question.max_tokens, question.temperature), (Some(10), Some(0.5)));
    assert_eq!(
        (question.stop_sequences, question.include_context),
        (vec!["END".to_owned()], Some("none".into()))
    );
    let preferences =
        ModelPreferences { hints: vec!["claude".into()], speed: Some(1.0), ..ModelPreferences::default() };
    assert_eq!(question.preferences, preferences);
    assert_eq!((question.tools[0].name.as_str(), question.tool_choice), ("weather", ToolChoice::Required));
    assert_eq!(question.raw.decode::<Value>().unwrap(), asked, "what came is kept");
}

// X6: optional members may be malformed.
#[test]
fn malformed_optional_members_are_ignored() {
    let message = json!({ "role": "user", "content": [] });
    let odd = json!({ "messages": [message], "maxTokens": "many", "temperature": [], "toolChoice": 7, "tools": null });
    let question = read(&odd).unwrap();
    assert_eq!((question.max_tokens, question.temperature, question.tools.len()), (None, None, 0));
    assert_eq!(question.tool_choice, ToolChoice::Auto);
}

// X6
#[test]
fn malformed_or_too_large_request_is_rejected() {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "hi" } });
    let long = json!({ "role": "user", "content": "x".repeat(SAMPLE_BYTES) });
    for params in [
        json!({}),
        json!({ "messages": "hi" }),
        json!({ "messages": [] }),
        json!({ "messages": [{ "role": "system", "content": "x" }] }),
        json!({ "messages": [{ "role": "user" }] }),
        json!({ "messages": vec![message.clone(); SAMPLE_MESSAGES + 1] }),
        json!({ "messages": [message], "tools": [{ "name": "no schema" }] }),
        json!({ "messages": [long] }),
    ] {
        assert!(read(&params).is_err(), "{:.200}", params.to_string());
    }
}
