//! Failures of the model's API: retries, broken streams, limits.

use mcparley::catalog::Budget;
use mcparley_conversation::{ModelErrorKind, StopReason, StreamProblem};
use mcparley_model::explain::Explain as _;
use serde_json::json;

use crate::stage::{PROVIDERS, Stage, hear, server};

// U4
#[tokio::test]
async fn rate_limited_and_overloaded_requests_are_repeated() {
    for provider in PROVIDERS {
        let turns = json!([
            { "status": 429, "headers": { "retry-after": "0" }, "error": { "type": "rate_limit_error", "message": "slow down" } },
            { "status": 529, "headers": { "retry-after": "0" }, "error": { "type": "overloaded_error", "message": "busy" } },
            { "text": "at last" },
        ]);
        let stage = Stage::new(server(), &turns).await;
        let mut conversation = stage.conversation(provider);
        let heard = hear(conversation.send("hello")).await;
        assert_eq!((heard.text.as_str(), heard.retries), ("at last", 2), "{provider}");
    }
}

// U4
#[tokio::test]
async fn failed_request_is_forgotten_and_the_conversation_goes_on() {
    let turns = json!([
        { "status": 401, "error": { "type": "authentication_error", "message": "invalid x-api-key" } },
        { "text": "hello" },
    ]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    let heard = hear(conversation.send("first")).await;
    let error = heard.error();
    assert!(error.needs_key());
    assert_eq!(error.to_string(), "Anthropic: the key was not accepted (status 401): invalid x-api-key");
    assert_eq!(error.hint().unwrap(), "check `ANTHROPIC_API_KEY`");
    assert!(conversation.is_empty());
    assert_eq!(hear(conversation.send("second")).await.text, "hello");
}

// U4: the text was shown, so that a repeated request would show it twice.
#[tokio::test]
async fn stream_that_breaks_in_the_middle_is_an_error() {
    for provider in PROVIDERS {
        let stage = Stage::new(server(), &json!([{ "text": "half of it", "break": true }])).await;
        let mut conversation = stage.conversation(provider);
        let heard = hear(conversation.send("go")).await;
        assert_eq!((heard.text.as_str(), heard.retries), ("half of it", 0), "{provider}");
        assert!(heard.error().is_unavailable(), "{provider}");
        assert!(
            matches!(heard.error().kind, ModelErrorKind::Stream(StreamProblem::BrokeOff)),
            "{provider}: {}",
            heard.error()
        );
    }
}

// U4
#[tokio::test]
async fn error_inside_of_the_stream_is_reported() {
    let event = json!({ "type": "invalid_request_error", "message": "something is wrong" });
    let stage = Stage::new(server(), &json!([{ "text": "well", "error_event": event }])).await;
    let mut conversation = stage.conversation("anthropic");
    let heard = hear(conversation.send("go")).await;
    assert!(heard.error().to_string().contains("something is wrong"), "{}", heard.error());
}

// U4
#[tokio::test]
async fn conversation_goes_on_after_an_answer_that_was_cut_while_thinking() {
    let turns = json!([{ "thinking": "hm", "stop": "max_tokens" }, { "text": "hello again" }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    assert_eq!(hear(conversation.send("first")).await.summary().stop_reason, StopReason::MaxTokens);
    assert_eq!(hear(conversation.send("second")).await.text, "hello again");
    for request in stage.model.requests() {
        assert_eq!(request["problems"], json!([]), "{request:#}");
    }
}

// U4
#[tokio::test]
async fn endless_stream_is_bounded() {
    let turns = json!([{ "text": "x".repeat(60_000), "repeat": 1_000_000 }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    let heard = hear(conversation.send("go")).await;
    assert!(matches!(heard.error().kind, ModelErrorKind::Stream(StreamProblem::TooLarge { .. })));
    assert!(heard.text.len() <= 4 * 1024 * 1024 + 60_000, "{}", heard.text.len());
}

// U4
#[tokio::test]
async fn address_that_is_no_model_is_an_error_with_a_hint() {
    let stage = Stage::new(server(), &json!([])).await;
    let mut conversation = stage.conversation("openai");
    let heard = hear(conversation.send("go")).await;
    assert!(heard.error().to_string().contains("the script has no more turns"), "{}", heard.error());
    let url = stage.model.url().to_owned();
    drop(stage.model);
    let choice = mcparley_conversation::ModelChoice::select("openai:m", |name| match name {
        "OPENAI_BASE_URL" => Some(url.clone()),
        _ => None,
    });
    conversation.set_model(choice.unwrap(), Budget::for_context(100_000));
    let heard = hear(conversation.send("go")).await;
    assert!(heard.error().to_string().contains("cannot reach the API"), "{}", heard.error());
    assert!(heard.error().hint().unwrap().contains("OPENAI_BASE_URL"));
}
