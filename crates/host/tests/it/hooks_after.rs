//! Post hooks: their input, the context they add and the results they replace.

use mcparley::hooks::{HookEvent, Hooks, PostHookAnswer, ToolUse, ToolUseResult};
use mcparley::{BoxedFuture, CallError, ContentBlock};
use serde_json::{Value, json};

use crate::alive::{Alive, scripted, servers};
use crate::hooking::{echo, hooks, says, with_hooks};

fn read(alive: &Alive, name: &str) -> Value {
    let text = std::fs::read_to_string(alive.world.path("home/project").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

// P5 K1
#[tokio::test]
async fn post_hook_gets_the_result_and_adds_context() {
    let adds = says("PostToolUse", json!({ "additionalContext": "look\u{202e} twice" }));
    let settings = hooks("PostToolUse", "mcp__one__.*", &[&format!("cat > told; {adds}")]);
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    assert_eq!(echo(&alive, "hi").await.unwrap(), "hi\nlook twice");
    let told = read(&alive, "told");
    assert_eq!(told["hook_event_name"], "PostToolUse");
    assert_eq!(told["tool_input"], json!({ "message": "hi" }));
    let response = json!({ "isError": false, "content": [{ "type": "text", "text": "hi" }] });
    assert_eq!(told["tool_response"]["content"], response["content"]);
    assert_eq!(told["tool_response"]["isError"], response["isError"]);
}

// P5
#[tokio::test]
async fn text_removed_by_a_hook_is_gone_in_every_form() {
    let image = json!({ "type": "image", "mimeType": "image/png", "data": "aGk=" });
    for (output, expected) in [
        (json!("nothing\u{202e} to see"), vec![ContentBlock::Text("nothing to see".into())]),
        (
            json!([{ "type": "text", "text": "nothing" }, image]),
            vec![
                ContentBlock::Text("nothing".into()),
                ContentBlock::Image { mime: "image/png".into(), data: "aGk=".into() },
            ],
        ),
        (json!([]), vec![]),
    ] {
        let replaces = says("PostToolUse", json!({ "updatedMCPToolOutput": output }));
        let making = with_hooks(&hooks("PostToolUse", "*", &[&replaces]));
        let alive = making.start_as(mcparley::HostBuilder::without_result_limit);
        let outcome = alive.call("one", "echo", json!({ "message": "secret" })).await.unwrap();
        assert_eq!(outcome.content, expected);
        assert!(!outcome.to_text().contains("secret") && !outcome.raw.as_str().contains("secret"));
        assert_eq!(outcome.structured, None);
    }
}

// P5
#[tokio::test]
async fn post_hook_that_blocks_gives_the_model_its_reason() {
    let block = json!({ "decision": "block", "reason": "do not trust it" });
    for command in [format!("printf %s '{block}'"), "echo do not trust it >&2; exit 2".to_owned()] {
        let alive = with_hooks(&hooks("PostToolUse", "*", &[&command])).ready().await;
        assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi\ndo not trust it");
        let outcome = alive.call("one", "echo", json!({ "message": "hi" })).await.unwrap();
        assert!(outcome.raw.as_str().contains("do not trust it"), "also where the answer is passed on");
    }
}

// P5
#[tokio::test]
async fn context_of_a_pre_hook_comes_with_the_result() {
    let adds = says("PreToolUse", json!({ "additionalContext": "it is Friday" }));
    let alive = with_hooks(&hooks("PreToolUse", "*", &[&adds])).ready().await;
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi\nit is Friday");
}

// P5 R1
#[tokio::test]
async fn failures_of_tools_and_of_calls_have_hooks_of_their_own() {
    let adds = says("PostToolUseFailure", json!({ "additionalContext": "try later" }));
    let mut settings = hooks("PostToolUseFailure", "*", &[&format!("cat > told; {adds}")]);
    settings["hooks"]["PostToolUse"] =
        hooks("PostToolUse", "*", &["touch wrong"])["hooks"]["PostToolUse"].clone();
    let entries = [("one", scripted(&[])), ("two", scripted(&["call-exit"]))];
    let making = servers(entries).file("home/.claude/settings.json", &settings);
    let alive = making.deny("mcp__one__add").ready().await;
    let failed = alive.call("one", "fail", json!({})).await.unwrap();
    assert!(failed.is_error && failed.to_text().ends_with("try later"), "{}", failed.to_text());
    let told = read(&alive, "told");
    assert_eq!(
        (&told["tool_name"], &told["tool_response"]["isError"]),
        (&json!("mcp__one__fail"), &json!(true))
    );

    let error = alive.call("two", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(matches!(error, CallError::Failed { .. }), "{error}");
    let told = read(&alive, "told");
    assert_eq!(told["tool_name"], "mcp__two__add");
    assert_eq!(
        (told["error"].as_str().unwrap(), told.get("tool_response")),
        (error.to_string().as_str(), None)
    );

    std::fs::remove_file(alive.world.path("home/project/told")).unwrap();
    alive.call("one", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(!alive.world.path("home/project/told").exists(), "what was denied was not used");
    assert!(!alive.world.path("home/project/wrong").exists());
}

/// Counts the characters of results.
struct Counts;

impl Hooks for Counts {
    fn events(&self) -> &[HookEvent] {
        &[HookEvent::PostToolUse]
    }

    fn after_tool<'h>(
        &'h self,
        about: ToolUse<'h>,
        ended: ToolUseResult<'h>,
    ) -> BoxedFuture<'h, PostHookAnswer> {
        let ToolUseResult::Outcome(outcome) = ended else {
            return Box::pin(std::future::ready(PostHookAnswer::default()));
        };
        let text = format!("{}: {} characters", about.tool.as_str(), outcome.to_text().len());
        let replacement = Some(Value::from(text));
        Box::pin(std::future::ready(PostHookAnswer { replacement, context: None }))
    }
}

// P5
#[tokio::test]
async fn hooks_of_a_program_replace_results_like_commands() {
    let alive = with_hooks(&json!({})).start_as(|builder| builder.hooks(Counts));
    assert_eq!(alive.echo("one", "hello").await.unwrap(), "echo: 5 characters");
}
