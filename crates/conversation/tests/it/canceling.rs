//! Turns that are canceled, while the model answers and while a tool runs.

use mcparley_conversation::ConversationEvent;
use serde_json::json;

use crate::stage::{PROVIDERS, Stage, call, hear, server};

// U4: an API rejects a call without a result, so the next message would fail otherwise.
#[tokio::test]
async fn conversation_goes_on_after_a_call_was_canceled() {
    for provider in PROVIDERS {
        let turns = json!([
            { "calls": [call("add", &json!({ "a": 1, "b": 1 })), call("hang", &json!({}))] },
            { "text": "all right", "expect": ["{\"sum\":2.0}", "the user canceled the call"] },
        ]);
        let stage = Stage::new(server(), &turns).await;
        let mut conversation = stage.conversation(provider);
        let mut turn = conversation.send("hang");
        loop {
            match turn.next().await.unwrap() {
                ConversationEvent::ToolStarted(tool) if tool.label == "s.hang" => break,
                _ => {}
            }
        }
        drop(turn);
        assert_eq!(hear(conversation.send("never mind")).await.text, "all right", "{provider}");
    }
}

// U4
#[tokio::test]
async fn conversation_goes_on_after_an_answer_was_canceled() {
    let turns = json!([{ "text": "once upon a time", "hang": true }, { "text": "yes?", "expect": ["tell a story", "interrupted"] }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    let mut turn = conversation.send("tell a story");
    while !matches!(turn.next().await.unwrap(), ConversationEvent::TextDelta(_)) {}
    drop(turn);
    assert_eq!(hear(conversation.send("stop")).await.text, "yes?");
}
