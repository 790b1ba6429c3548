//! Turns with tool calls: both ways of running them, errors, deferral, instructions, limits.

use mcparley::InProcessServer;
use mcparley::catalog::Budget;
use mcparley::model::name::ServerName;
use mcparley_conversation::{StopReason, ToolCallStatus};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::stage::{PROVIDERS, Stage, call, hear, server};

// U4 K5 N13
#[tokio::test]
async fn tool_calls_run_and_their_results_go_back_with_every_provider() {
    for provider in PROVIDERS {
        let turns = json!([
            { "text": "I add.", "calls": [call("add", &json!({ "a": 40, "b": 2 })), call("fail", &json!({}))] },
            { "text": "It is 42.", "expect": ["{\"sum\":42.0}", "this tool fails"] },
        ]);
        let stage = Stage::new(server(), &turns).await;
        let mut conversation = stage.conversation(provider);
        let heard = hear(conversation.send("add them")).await;
        assert_eq!(heard.text, "I add.It is 42.", "{provider}");
        assert_eq!(heard.started, ["s.add", "s.fail"], "{provider}");
        let summary = heard.summary();
        assert_eq!((summary.text.as_str(), summary.rounds), ("It is 42.", 2), "{provider}");
        assert_eq!(summary.stop_reason, StopReason::EndTurn, "{provider}");
        let outcomes: Vec<ToolCallStatus> = summary.tool_calls.iter().map(|tool| tool.outcome).collect();
        assert_eq!(outcomes, [ToolCallStatus::Ok, ToolCallStatus::ToolError], "{provider}");
        assert_eq!((summary.usage.input_tokens, summary.usage.output_tokens), (200, 60), "{provider}");
        for request in stage.model.requests() {
            assert_eq!(request["problems"], json!([]), "{provider}: {request:#}");
        }
    }
}

// K5: each of the two calls waits for the other.
#[tokio::test]
async fn read_only_calls_of_one_answer_run_concurrently() {
    let meet = call("meet", &json!({}));
    let turns = json!([{ "calls": [meet, meet] }, { "text": "both met" }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    let heard = hear(conversation.send("meet")).await;
    assert_eq!(heard.summary().tool_calls.len(), 2);
    assert_eq!(heard.text, "both met");
}

// U4: the model reads why, and can correct itself.
#[tokio::test]
async fn unknown_tools_and_invalid_arguments_are_answered_with_the_reason() {
    let turns = json!([
        { "calls": [{ "name": "mcp__s__nothing", "arguments": {} }, call("add", &json!({ "a": "x" }))] },
        { "text": "sorry", "expect": ["there is no tool `mcp__s__nothing`", "the arguments do not fit"] },
    ]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("openai");
    let heard = hear(conversation.send("go")).await;
    let outcomes: Vec<ToolCallStatus> = heard.finished.iter().map(|tool| tool.outcome).collect();
    assert_eq!(outcomes, [ToolCallStatus::Invalid, ToolCallStatus::Invalid]);
    assert_eq!(heard.text, "sorry");
}

// X4 U4
#[tokio::test]
async fn instructions_are_in_the_system_prompt_and_changes_come_with_the_next_message() {
    let turns = json!([{ "text": "one" }, { "text": "two" }, { "text": "three" }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    hear(conversation.send("first")).await;
    hear(conversation.send("second")).await;
    let bodies = stage.model.bodies();
    assert!(bodies[0]["system"][0]["text"].as_str().unwrap().contains("> Prefer add."));
    assert_eq!(bodies[0]["system"], bodies[1]["system"]);
    assert_eq!(bodies[0]["tools"], bodies[1]["tools"]);
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 3);
    let added = ScriptedStdio::new(&[]);
    let entry = json!({ "mcpServers": { "added": { "command": added.program, "args": added.args } } });
    stage.host.set_servers(vec![entry.to_string()]).await;
    stage.host.connect_server(&ServerName::new("added")).await.unwrap();
    assert_eq!(hear(conversation.send("third")).await.text, "three");
    let last = &stage.model.bodies()[2];
    assert_eq!(last["system"], bodies[0]["system"]);
    let said = last["messages"][4]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("instructions: changes") && said.contains("## added"), "{said}");
}

// N9 N10 N11
#[tokio::test]
async fn tools_found_by_a_search_are_listed_from_then_on() {
    let turns = json!([
        { "calls": [{ "name": "ToolSearch", "arguments": { "query": "select:mcp__s__add" } }] },
        { "calls": [call("add", &json!({ "a": 1, "b": 2 }))] },
        { "text": "3" },
    ]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic").with_budget(Budget::always_defer());
    hear(conversation.send("add")).await.summary();
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let lists: Vec<Vec<String>> = stage.model.bodies().iter().map(names).collect();
    assert!(!lists[0].contains(&"mcp__s__add".to_owned()), "{lists:?}");
    assert_eq!(lists[1].last().unwrap(), "mcp__s__add");
    assert_eq!(lists[1][..lists[0].len()], lists[0]);
    assert_eq!(lists[2], lists[1]);
}

// U4
#[tokio::test]
async fn rounds_are_limited() {
    let again = json!({ "calls": [call("add", &json!({ "a": 1, "b": 1 }))] });
    let turns = json!([again, again, again, { "text": "enough" }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("openai").with_max_rounds(3);
    let heard = hear(conversation.send("for ever")).await;
    assert_eq!((&heard.summary().stop_reason, heard.summary().rounds), (&StopReason::RoundLimit, 3));
    // The conversation goes on from there.
    assert_eq!(hear(conversation.send("stop")).await.text, "enough");
}

// U4
#[tokio::test]
async fn unknown_stop_reason_ends_the_turn_and_is_reported() {
    let turns = json!([{ "text": "hm", "stop": "brand_new" }, { "text": "cut", "stop": "max_tokens" }]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    let heard = hear(conversation.send("one")).await;
    assert_eq!(heard.summary().stop_reason, StopReason::Other("brand_new".to_owned()));
    let heard = hear(conversation.send("two")).await;
    assert!(!heard.summary().stop_reason.is_complete());
}

// U4: the API rejects a later request without them.
#[tokio::test]
async fn signed_thoughts_go_back_to_their_provider() {
    let turns = json!([
        { "thinking": "let me think", "calls": [call("add", &json!({ "a": 1, "b": 1 }))] },
        { "text": "2", "expect": ["let me think", "c2lnbmVk"] },
    ]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    assert_eq!(hear(conversation.send("add")).await.text, "2");
}

// U4
#[tokio::test]
async fn another_model_goes_on_with_the_conversation() {
    let turns = json!([
        { "calls": [call("add", &json!({ "a": 1, "b": 1 }))] },
        { "text": "2" },
        { "text": "it was 2", "expect": ["{\"sum\":2.0}", "add"] },
        { "text": "new" },
    ]);
    let stage = Stage::new(server(), &turns).await;
    let mut conversation = stage.conversation("anthropic");
    hear(conversation.send("add")).await;
    conversation.set_model(stage.client("openai").choice().clone(), Budget::for_context(100_000));
    assert_eq!(hear(conversation.send("what was it?")).await.text, "it was 2");
    conversation.clear();
    assert!(conversation.is_empty());
    hear(conversation.send("hello")).await;
    assert_eq!(stage.model.bodies()[3]["messages"].as_array().unwrap().len(), 2);
}

// U4 R1
#[tokio::test]
async fn model_without_tools_gets_no_empty_list() {
    let stage = Stage::new(InProcessServer::new("s"), &json!([{ "text": "hi" }])).await;
    let mut conversation = stage.conversation("openai");
    assert_eq!(hear(conversation.send("hi")).await.text, "hi");
}
