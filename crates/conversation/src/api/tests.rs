//! Tests of the request forms and the answer streams of the model APIs.

use std::time::Duration;

use mcparley::results::RawJson;
use mcparley::{CallOutcome, ContentBlock};
use mcparley_testkit::{ModelApi, order_problems, schema_problems};
use mcparley_wire::transport::http::event::EventDecoder;
use serde_json::{Value, json};

use super::*;
use crate::answer::{StopReason, TokenUsage};
use crate::message::{AnswerPart, Message, ModelToolCall, ToolReply};
use crate::request::SamplingSettings;

fn choice(provider: &str, base: &str) -> ModelChoice {
    let name = format!("{}_BASE_URL", provider.to_uppercase());
    let key = format!("{}_API_KEY", provider.to_uppercase());
    let lookup = |variable: &str| match variable {
        _ if variable == name => Some(base.to_owned()),
        _ if variable == key => Some("canary".to_owned()),
        _ => None,
    };
    ModelChoice::select(&format!("{provider}:m"), lookup).unwrap()
}

fn picture() -> ContentBlock {
    ContentBlock::Image { mime: "image/png".into(), data: "AAAA".into() }
}

fn call(id: &str, arguments: Value) -> AnswerPart {
    let signature = Some("s".to_owned());
    AnswerPart::Call(ModelToolCall {
        id: id.into(),
        is_own_id: false,
        name: "t".into(),
        arguments,
        signature,
    })
}

fn result(id: &str, answer: Result<CallOutcome, &str>) -> ToolReply {
    let answer = answer.map(Box::new).map_err(str::to_owned);
    ToolReply { id: id.into(), is_own_id: false, name: "t".into(), answer }
}

/// A conversation with all kinds of messages.
fn messages() -> Vec<Message> {
    let mut outcome = CallOutcome::from_raw(RawJson::from_text("null"));
    outcome.content = vec![ContentBlock::Text("done".into()), picture()];
    let mut failed = outcome.clone();
    failed.is_error = true;
    vec![
        Message::User(vec![ContentBlock::Text("look".into()), picture()]),
        Message::Assistant(vec![
            AnswerPart::Text { text: "I will".into(), signature: None },
            call("a", json!({ "x": 1 })),
            call("b", json!("not json")),
            call("c", json!({})),
        ]),
        Message::Results(vec![
            result("a", Ok(outcome)),
            result("b", Err("no JSON")),
            result("c", Ok(failed)),
        ]),
        Message::User(vec![ContentBlock::Text("and then?".into())]),
    ]
}

fn request<'r>(messages: &'r [Message], tools: &'r serde_json::value::RawValue) -> ModelRequest<'r> {
    let sampling = SamplingSettings { max_tokens: Some(100), temperature: Some(0.5), stop_sequences: &[] };
    ModelRequest { system: "Be brief.", messages, tools: Some(tools), sampling }
}

fn tools(value: &Value) -> Box<serde_json::value::RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

// U4 N13
#[test]
fn requests_with_all_kinds_of_messages_fit_the_documented_schemas() {
    let schema = json!({ "type": "object", "properties": {} });
    let function = json!({ "name": "t", "description": "d", "parameters": schema });
    let table = [
        ("anthropic", ModelApi::Anthropic, json!([{ "name": "t", "input_schema": schema }])),
        ("openai", ModelApi::OpenAiChat, json!([{ "type": "function", "function": function }])),
        ("gemini", ModelApi::Gemini, json!([{ "functionDeclarations": [function] }])),
    ];
    for (provider, api, list) in table {
        let (messages, list) = (messages(), tools(&list));
        let written = write_request(&choice(provider, "http://h"), &request(&messages, &list));
        let body: Value = serde_json::from_str(&written.body).unwrap();
        assert_eq!(schema_problems(api, &body), Vec::<String>::new(), "{provider}: {body:#}");
        assert_eq!(order_problems(api, &body), Vec::<String>::new(), "{provider}: {body:#}");
        for expected in ["Be brief.", "AAAA", "and then?", "no JSON"] {
            assert!(written.body.contains(expected), "{provider}: {expected} in {body:#}");
        }
    }
}

// U4
#[test]
fn address_and_key_are_those_of_the_provider() {
    let table = [
        ("anthropic", "https://h", "https://h/v1/messages", "x-api-key", "canary"),
        ("anthropic", "https://h/v1/", "https://h/v1/messages", "x-api-key", "canary"),
        ("openai", "https://h/v1", "https://h/v1/chat/completions", "authorization", "Bearer canary"),
        ("openai", "https://h/api/", "https://h/api/chat/completions", "authorization", "Bearer canary"),
        (
            "gemini",
            "https://h",
            "https://h/v1beta/models/m:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            "canary",
        ),
    ];
    for (provider, base, url, header, value) in table {
        let list = tools(&json!([]));
        let written = write_request(&choice(provider, base), &request(&[], &list));
        assert_eq!(written.url.as_str(), url);
        let found = written.headers.iter().find(|(name, _)| *name == header).unwrap();
        assert_eq!(found.1.expose(), value, "{provider}");
        assert!(!format!("{written:?}").contains("canary"));
    }
}

/// Reads a stream of these events, and returns the shown text and the answer.
fn read(provider: Provider, events: &[Value]) -> (String, Result<ModelAnswer, StreamProblem>) {
    let mut reader = AnswerReader::new(provider, 7);
    let mut decoder = EventDecoder::with_limit(1 << 20);
    let (mut decoded, mut shown) = (Vec::new(), String::new());
    for event in events {
        let text = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        decoder.feed(format!("data: {text}\n\n").as_bytes(), &mut decoded).unwrap();
    }
    for event in &decoded {
        shown.extend(reader.read_event(event).unwrap());
    }
    (shown, reader.finish())
}

// U4
#[test]
fn answer_of_anthropic_is_read_with_text_thoughts_and_calls() {
    let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta =
        |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let mut events = vec![
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 3 } } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        delta(0, json!({ "type": "signature_delta", "signature": "sig" })),
        start(1, json!({ "type": "text", "text": "" })),
        json!({ "type": "ping" }),
        delta(1, json!({ "type": "text_delta", "text": "Hel" })),
        delta(1, json!({ "type": "text_delta", "text": "lo" })),
        start(2, json!({ "type": "tool_use", "id": "toolu_1", "name": "t", "input": {} })),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"a\":" })),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "1}" })),
        json!({ "type": "a_new_event" }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ];
    let (shown, answer) = read(Provider::Anthropic, &events);
    let answer = answer.unwrap();
    assert_eq!(shown, "Hello");
    let thoughts = json!({ "type": "thinking", "thinking": "hm", "signature": "sig" });
    assert_eq!(answer.parts[0], AnswerPart::Private { provider: Provider::Anthropic, block: thoughts });
    assert_eq!(answer.text(), "Hello");
    assert_eq!(answer.calls()[0].arguments, json!({ "a": 1 }));
    assert_eq!(answer.stop, StopReason::ToolUse);
    let usage =
        TokenUsage { input_tokens: 9, output_tokens: 20, cache_read_tokens: 3, cache_write_tokens: 0 };
    assert_eq!(answer.usage, usage);
    // A stream that ends before its end is marked broke off.
    events.pop();
    assert_eq!(read(Provider::Anthropic, &events).1, Err(StreamProblem::BrokeOff));
}

// U4
#[test]
fn answer_of_open_ai_is_read_from_services_that_vary() {
    let chunk = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let end = |reason: &str| json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    let function = |arguments: Value| json!({ "name": "t", "arguments": arguments });
    let events = [
        chunk(json!({ "role": "assistant", "content": "Hi" })),
        chunk(json!({ "tool_calls": [{ "index": 0, "id": "x", "function": function(json!("")) }] })),
        chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"a\":1}" } }] })),
        // Without an index and an id, and with arguments that are no text.
        chunk(json!({ "tool_calls": [{ "index": 1, "function": function(json!({ "b": 2 })) }] })),
        end("tool_calls"),
        json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 3 } } }),
        json!("[DONE]"),
    ];
    let (shown, answer) = read(Provider::OpenAi, &events);
    let answer = answer.unwrap();
    assert_eq!(shown, "Hi");
    let calls: Vec<(String, Value)> =
        answer.calls().into_iter().map(|call| (call.id, call.arguments)).collect();
    assert_eq!(calls, [("x".to_owned(), json!({ "a": 1 })), ("call_7_2".to_owned(), json!({ "b": 2 }))]);
    let usage = TokenUsage { input_tokens: 7, output_tokens: 4, cache_read_tokens: 3, cache_write_tokens: 0 };
    assert_eq!((answer.stop, answer.usage), (StopReason::ToolUse, usage));
    assert_eq!(read(Provider::OpenAi, &events[..4]).1, Err(StreamProblem::BrokeOff));
}

// U4
#[test]
fn answer_of_gemini_keeps_signatures_and_hides_thoughts() {
    let chunk = |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] });
    let events = [
        chunk(json!([{ "text": "secret thought", "thought": true }])),
        chunk(json!([{ "text": "Let me " }])),
        chunk(json!([{ "text": "see" }])),
        chunk(json!([{ "functionCall": { "name": "t", "args": { "a": 1 } }, "thoughtSignature": "sig" }])),
        json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 1 } }),
    ];
    let (shown, answer) = read(Provider::Gemini, &events);
    let answer = answer.unwrap();
    assert_eq!(shown, "Let me see");
    let calls = answer.calls();
    assert_eq!((calls[0].id.as_str(), calls[0].is_own_id), ("call_7_1", true));
    assert_eq!(calls[0].signature.as_deref(), Some("sig"));
    assert_eq!(answer.usage.output_tokens, 3);
    let blocked = [json!({ "promptFeedback": { "blockReason": "SAFETY" } })];
    assert_eq!(read(Provider::Gemini, &blocked).1.unwrap().stop, StopReason::Refusal);
}

// U4
#[test]
fn arguments_that_are_no_json_stay_text_and_too_much_is_refused() {
    let call = json!({ "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "t", "arguments": "{oops" } }] });
    let events = [json!({ "choices": [{ "delta": call, "finish_reason": "tool_calls" }] })];
    assert_eq!(read(Provider::OpenAi, &events).1.unwrap().calls()[0].arguments, json!("{oops"));
    let mut reader = AnswerReader::new(Provider::OpenAi, 0);
    let text = "x".repeat(1 << 20);
    let big = json!({ "choices": [{ "delta": { "content": text } }] }).to_string();
    let event = Event { name: "message".into(), data: big.into() };
    let results: Vec<bool> = (0..5).map(|_| reader.read_event(&event).is_ok()).collect();
    assert_eq!(results, [true, true, true, true, false]);
    let calls: Vec<Value> =
        (0..200).map(|n| json!({ "index": n, "id": "x", "function": { "name": "t" } })).collect();
    let many = json!({ "choices": [{ "delta": { "tool_calls": calls } }] }).to_string();
    let event = Event { name: "message".into(), data: many.into() };
    assert!(AnswerReader::new(Provider::OpenAi, 0).read_event(&event).is_err());
}

// U4
#[test]
fn errors_of_the_apis_are_told_apart() {
    let anthropic =
        |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message } });
    let openai = |code: &str| json!({ "error": { "message": "m", "type": "t", "code": code } });
    let gemini = |message: &str| json!([{ "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" } }]);
    let table = [
        (
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            "key was not accepted (status 401): invalid x-api-key",
        ),
        (400, gemini("API key not valid. Please pass a valid API key."), "key was not accepted"),
        (429, anthropic("rate_limit_error", "slow down"), "too many requests (wait 7 s): slow down"),
        (429, openai("insufficient_quota"), "the request was rejected (status 429): m"),
        (
            529,
            anthropic("overloaded_error", "Overloaded"),
            "the API is not available now (status 529): Overloaded",
        ),
        (502, json!("<html>bad gateway</html>"), "not available now (status 502)"),
        (
            400,
            anthropic("invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"),
            "too long for the model",
        ),
        (400, openai("context_length_exceeded"), "too long for the model"),
        (
            400,
            gemini("The input token count (9) exceeds the maximum number of tokens allowed (5)."),
            "too long for the model",
        ),
        (413, json!({}), "too long for the model"),
        (404, anthropic("not_found_error", "model: m"), "the model `m` or the address was not found"),
        (
            400,
            anthropic("invalid_request_error", "bad\u{1b}[31m"),
            "the request was rejected (status 400): bad",
        ),
        (302, json!({}), "the request was rejected (status 302)"),
    ];
    for (status, body, expected) in table {
        let body = body.to_string();
        let kind = classify_error_response(&ApiErrorResponse {
            status,
            retry_after: Some("7"),
            retry_after_ms: None,
            body: body.as_bytes(),
            model: "m",
        });
        assert!(kind.to_string().contains(expected), "{status} {body}: {kind}");
        assert!(!kind.to_string().contains('\u{1b}'));
    }
}

// U4
#[test]
fn errors_inside_of_a_stream_and_requested_pauses_are_read() {
    let inside = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } });
    let event = Event { name: "error".into(), data: inside.to_string().into() };
    let error = AnswerReader::new(Provider::Anthropic, 0).read_event(&event).unwrap_err();
    assert!(matches!(error, ModelErrorKind::Overloaded { .. }), "{error}");
    let waits = |milliseconds| match classify_error_response(&ApiErrorResponse {
        status: 503,
        retry_after: None,
        retry_after_ms: Some(milliseconds),
        body: b"",
        model: "m",
    }) {
        ModelErrorKind::Overloaded { retry_after, .. } => retry_after,
        other => panic!("{other}"),
    };
    assert_eq!(waits("250"), Some(Duration::from_millis(250)));
    assert_eq!((waits("-1"), waits("NaN"), waits("1e300")), (None, None, None));
}
