//! Tests of the checks: valid requests pass, and each kind of error is found.

use super::*;
use serde_json::json;

fn problems(api: ModelApi, request: &Value) -> Vec<String> {
    [schema_problems(api, request), order_problems(api, request)].concat()
}

fn messages(messages: &Value) -> Value {
    let tool = json!({ "name": "t", "input_schema": { "type": "object" } });
    json!({ "model": "m", "max_tokens": 10, "tools": [tool], "messages": messages })
}

fn chat(messages: &Value) -> Value {
    json!({ "model": "m", "messages": messages })
}

// U4
#[test]
fn valid_requests_pass() {
    let call = json!({ "type": "tool_use", "id": "a", "name": "t", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "x" });
    let anthropic = messages(&json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": [call] },
        { "role": "user", "content": [result, { "type": "text", "text": "go on" }] },
    ]));
    assert_eq!(problems(ModelApi::Anthropic, &anthropic), Vec::<String>::new());
    let call = json!({ "id": "a", "type": "function", "function": { "name": "t", "arguments": "{}" } });
    let openai = chat(&json!([
        { "role": "system", "content": "s" },
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "a", "content": "x" },
    ]));
    assert_eq!(problems(ModelApi::OpenAiChat, &openai), Vec::<String>::new());
    let gemini = json!({ "contents": [
        { "role": "user", "parts": [{ "text": "hi" }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "t", "args": {} }, "thoughtSignature": "s" }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "t", "response": {} } }] },
    ] });
    assert_eq!(problems(ModelApi::Gemini, &gemini), Vec::<String>::new());
}

// U4
#[test]
fn errors_of_messages_requests_are_found() {
    let user = json!({ "role": "user", "content": "hi" });
    let call = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "t", "input": {} }] });
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/bmp", "data": "AAAA" } });
    let good =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } });
    let stray = json!({ "type": "tool_result", "tool_use_id": "zz", "content": "x" });
    let failed = json!({ "type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [good] });
    let thinking = json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": "s" }] });
    let table = [
        messages(&json!([])),
        messages(&json!([user, thinking, user])),
        messages(&json!([{ "role": "system", "content": "x" }])),
        messages(&json!([{ "role": "user", "content": "" }])),
        messages(&json!([{ "role": "user", "content": [{ "type": "text", "text": " " }] }])),
        messages(&json!([{ "role": "user", "content": [image] }])),
        messages(&json!([{ "role": "user", "content": [stray] }])),
        messages(&json!([call, user])),
        messages(&json!([user, call])),
        messages(&json!([user, call, user])),
        messages(&json!([user, call, { "role": "user", "content": [failed] }])),
        json!({ "model": "m", "messages": [user] }),
        json!({ "model": "m", "max_tokens": 1, "messages": [user], "unknown": 1 }),
        json!({ "model": "m", "max_tokens": 1, "messages": [user], "tools": [{ "name": "a".repeat(129), "input_schema": { "type": "object" } }] }),
        json!({ "model": "m", "max_tokens": 1, "messages": [user], "tools": [{ "name": "t", "input_schema": { "type": "string" } }] }),
    ];
    for request in table {
        assert_ne!(problems(ModelApi::Anthropic, &request), Vec::<String>::new(), "{request}");
    }
}

// U4
#[test]
fn errors_of_chat_requests_are_found() {
    let user = json!({ "role": "user", "content": "hi" });
    let call =
        |id: &str| json!({ "id": id, "type": "function", "function": { "name": "t", "arguments": "{}" } });
    let answer = json!({ "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] });
    let tool = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/bmp;base64,AAAA" } });
    let object = json!({ "id": "a", "type": "function", "function": { "name": "t", "arguments": {} } });
    let table = [
        chat(&json!([tool("a")])),
        chat(&json!([user, answer])),
        chat(&json!([user, answer, tool("a"), user])),
        chat(&json!([user, answer, tool("a"), tool("a"), tool("b")])),
        chat(&json!([{ "role": "user", "content": [image] }])),
        chat(&json!([user, { "role": "assistant", "content": null }])),
        chat(&json!([user, { "role": "assistant", "content": "x", "tool_calls": [object] }, tool("a")])),
        json!({ "model": "m", "messages": [user], "tools": [] }),
        json!({ "model": "m", "messages": [user], "stream_options": { "include_usage": true } }),
        json!({ "model": "m", "messages": [user], "tools": [{ "type": "function", "function": { "name": "a".repeat(65) } }] }),
    ];
    for request in table {
        assert_ne!(problems(ModelApi::OpenAiChat, &request), Vec::<String>::new(), "{request}");
    }
}

// U4
#[test]
fn errors_of_gemini_requests_are_found() {
    let user = json!({ "role": "user", "parts": [{ "text": "hi" }] });
    let call =
        json!({ "role": "model", "parts": [{ "functionCall": { "name": "t" }, "thoughtSignature": "s" }] });
    let other = json!({ "role": "user", "parts": [{ "functionResponse": { "name": "u", "response": {} } }] });
    let unsigned = json!({ "role": "model", "parts": [{ "functionCall": { "name": "t" } }] });
    let response =
        json!({ "role": "user", "parts": [{ "functionResponse": { "name": "t", "response": {} } }] });
    let gif =
        json!({ "role": "user", "parts": [{ "inlineData": { "mimeType": "image/gif", "data": "AAAA" } }] });
    let table = [
        json!([user, user]),
        json!([user, call, user]),
        json!([user, call, other]),
        json!([user, unsigned, response]),
        json!([gif]),
        json!([]),
    ];
    for contents in table {
        let request = json!({ "contents": contents });
        assert_ne!(problems(ModelApi::Gemini, &request), Vec::<String>::new(), "{request}");
    }
}
