//! Tests of results in the forms of the model APIs, as tables.

use mcparley_json::RawJson;
use serde_json::{Value, json};

use super::*;
use crate::outcome::ContentBlock;
use crate::shape::shape_outcome;

fn outcome(answer: &Value) -> CallOutcome {
    shape_outcome(RawJson::from_value(answer).unwrap()).unwrap()
}

fn of<'r>(id: &'r str, outcome: &'r CallOutcome) -> ModelCallResult<'r> {
    ModelCallResult { id, name: "mcp__s__t", answer: ModelCallAnswer::Outcome(outcome) }
}

fn text_and_image(mime: &str) -> CallOutcome {
    outcome(&json!({ "content": [
        { "type": "text", "text": "a picture" },
        { "type": "image", "mimeType": mime, "data": "AAAA" },
    ] }))
}

// N13 R1 R3
#[test]
fn image_goes_to_anthropic_inside_the_tool_result() {
    let outcome = text_and_image("image/png");
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "AAAA" });
    let content = json!([{ "type": "text", "text": "a picture" }, { "type": "image", "source": source }]);
    assert_eq!(
        anthropic_tool_results(&[of("toolu_1", &outcome)]),
        [json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": content })]
    );
}

// N13 R1: the API refuses an error with an image.
#[test]
fn error_with_an_image_goes_to_anthropic_as_text_only() {
    let mut outcome = text_and_image("image/png");
    outcome.is_error = true;
    let content = json!([
        { "type": "text", "text": "a picture" },
        { "type": "text", "text": "[image image/png, 3 bytes]" },
    ]);
    assert_eq!(
        anthropic_tool_results(&[of("toolu_1", &outcome)]),
        [json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": true })]
    );
}

// N13 R3
#[test]
fn images_of_all_calls_follow_the_tool_messages_of_open_ai() {
    let picture = text_and_image("image/jpg");
    let plain = outcome(&json!({ "content": [{ "type": "text", "text": "42" }] }));
    let messages = open_ai_chat_messages(&[of("call_1", &picture), of("call_2", &plain)]);
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/jpeg;base64,AAAA" } });
    let label = "Image 1 of the result of mcp__s__t (call_1):";
    assert_eq!(
        messages,
        [
            json!({ "role": "tool", "tool_call_id": "call_1", "content": "a picture\n[image 1, attached below]" }),
            json!({ "role": "tool", "tool_call_id": "call_2", "content": "42" }),
            json!({ "role": "user", "content": [{ "type": "text", "text": label }, image] }),
        ]
    );
}

// N13 R1
#[test]
fn open_ai_reads_errors_in_the_text() {
    let result = ModelCallResult { id: "call_1", name: "t", answer: ModelCallAnswer::Error("it was denied") };
    assert_eq!(
        open_ai_chat_messages(&[result]),
        [json!({ "role": "tool", "tool_call_id": "call_1", "content": "Error: it was denied" })]
    );
    let output = json!([{ "type": "input_text", "text": "Error:" }, { "type": "input_text", "text": "it was denied" }]);
    assert_eq!(
        open_ai_function_outputs(&[result]),
        [json!({ "type": "function_call_output", "call_id": "call_1", "output": output })]
    );
}

// N13 R3
#[test]
fn media_follow_the_function_responses_of_gemini() {
    let picture = text_and_image("image/png");
    let failed = ModelCallResult { id: "c2", name: "u", answer: ModelCallAnswer::Error("no") };
    let response =
        json!({ "name": "mcp__s__t", "response": { "output": "a picture\n[attachment 1, below]" } });
    let media = json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } });
    assert_eq!(
        gemini_function_responses(&[of("c1", &picture), failed], false),
        [
            json!({ "functionResponse": response }),
            json!({ "functionResponse": { "name": "u", "response": { "error": "no" } } }),
            media,
        ]
    );
    assert_eq!(gemini_function_responses(&[failed], true)[0]["functionResponse"]["id"], "c2");
}

// N13 R3: one image of another type would make the API refuse the whole request.
#[test]
fn media_that_an_api_does_not_accept_become_a_line_of_text() {
    let table =
        [("image/bmp", [false, false, false]), ("image/gif", [true, true, false]), ("image/webp", [true; 3])];
    for (mime, accepted) in table {
        let outcome = text_and_image(mime);
        let results = [of("x", &outcome)];
        let forms = [
            json!(anthropic_tool_results(&results)),
            json!(open_ai_chat_messages(&results)),
            json!(gemini_function_responses(&results, false)),
        ];
        for (form, accepted) in forms.iter().zip(accepted) {
            let text = form.to_string();
            assert_eq!(text.contains("AAAA"), accepted, "{mime}: {text}");
            assert_eq!(text.contains(&format!("[image {mime}, 3 bytes]")), !accepted, "{mime}: {text}");
        }
    }
}

// N13 R1
#[test]
fn structured_content_is_added_once_and_empty_content_says_so() {
    let both = outcome(
        &json!({ "content": [{ "type": "text", "text": "summary" }], "structuredContent": { "a": 1 } }),
    );
    let blocks = anthropic_tool_results(&[of("x", &both)]);
    assert_eq!(blocks[0]["content"][1]["text"], "{\"a\":1}");
    let repeated = outcome(
        &json!({ "content": [{ "type": "text", "text": "{\"a\":1}" }], "structuredContent": { "a": 1 } }),
    );
    assert_eq!(anthropic_tool_results(&[of("x", &repeated)])[0]["content"].as_array().unwrap().len(), 1);
    for blank in [json!({ "content": [] }), json!({ "content": [{ "type": "text", "text": " \n" }] })] {
        let blank = outcome(&blank);
        let results = [of("x", &blank)];
        assert_eq!(anthropic_tool_results(&results)[0]["content"][0]["text"], "(no content)");
        assert_eq!(open_ai_chat_messages(&results)[0]["content"], "(no content)");
        assert_eq!(
            gemini_function_responses(&results, false)[0]["functionResponse"]["response"]["output"],
            "(no content)"
        );
    }
}

// N13 X5
#[test]
fn blocks_of_a_user_message_have_the_same_forms() {
    let blocks = [
        ContentBlock::Text("look".into()),
        ContentBlock::Image { mime: "image/png".into(), data: "AAAA".into() },
        ContentBlock::Text("  ".into()),
    ];
    assert_eq!(anthropic_content(&blocks).len(), 2);
    assert_eq!(open_ai_chat_content(&blocks)[1]["image_url"]["url"], "data:image/png;base64,AAAA");
    assert_eq!(gemini_parts(&blocks)[0], json!({ "text": "look" }));
}
