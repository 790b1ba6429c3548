//! Pre hooks: their input, and the effect of their answers.

use std::path::PathBuf;

use mcparley::model::permission::PermissionMode;
use mcparley::{Approver, BoxedFuture, Call, CallError, PermissionAnswer, PermissionQuestion};
use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, Making, own, scripted, servers, stdio};

/// Settings with one hook for each command, in this order.
pub(crate) fn hooks(event: &str, matcher: &str, commands: &[&str]) -> Value {
    let commands: Vec<Value> =
        commands.iter().map(|command| json!({ "type": "command", "command": command })).collect();
    json!({ "hooks": { event: [{ "matcher": matcher, "hooks": commands }] } })
}

/// A command that says this about the event.
pub(crate) fn says(event: &str, mut said: Value) -> String {
    said["hookEventName"] = event.into();
    format!("printf %s '{}'", json!({ "hookSpecificOutput": said }))
}

/// A host with the server `one`, and these hooks in the user's settings.
pub(crate) fn with_hooks(settings: &Value) -> Making {
    servers([("one", scripted(&[]))]).file("home/.claude/settings.json", settings)
}

fn decides(decision: &str) -> String {
    let said = json!({ "permissionDecision": decision, "permissionDecisionReason": "because" });
    says("PreToolUse", said)
}

/// Calls `echo` of `one` without consent.
pub(crate) async fn echo(alive: &Alive, message: &str) -> Result<String, CallError> {
    let call = Call::new("mcp__one__echo", json!({ "message": message }));
    alive.host.call(call).await.map(|outcome| outcome.to_text())
}

// P5 K1
#[tokio::test]
async fn hook_denies_regardless_of_rules_and_user() {
    for command in [decides("deny"), "echo because >&2; exit 2".to_owned()] {
        let (_folder, log, _) = own("denied");
        let entry = stdio(&ScriptedStdio::new(&[]).with_log(&log));
        let settings = hooks("PreToolUse", "mcp__one__.*", &[&command]);
        let making = servers([("one", entry)]).file("home/.claude/settings.json", &settings);
        let alive = making.allow("mcp__one").ready().await;
        let error = echo(&alive, "hi").await.unwrap_err();
        assert!(matches!(error, CallError::Denied { .. }), "{error}");
        assert!(error.to_string().contains("because"), "{error}");
        assert!(matches!(alive.echo("one", "hi").await, Err(CallError::Denied { .. })), "consent");
        assert!(!log_lines(&log).iter().any(|line| line.text.contains("tools/call")));
    }
}

// P1 P5
#[tokio::test]
async fn hook_that_allows_spares_the_question_and_overrides_no_rule() {
    let settings = hooks("PreToolUse", "mcp__one__echo", &[&decides("allow")]);
    let alive = with_hooks(&settings).ready().await;
    assert_eq!(echo(&alive, "hi").await.unwrap(), "hi");
    let other = Call::new("mcp__one__add", json!({ "a": 1, "b": 2 }));
    assert!(matches!(alive.host.call(other).await, Err(CallError::Denied { .. })), "it is not matched");
    let denied = with_hooks(&settings).deny("mcp__one__echo").ready().await;
    assert!(matches!(echo(&denied, "hi").await, Err(CallError::Denied { .. })));
    let mut asking = settings.clone();
    asking["permissions"] = json!({ "ask": ["mcp__one__echo"] });
    let asking = with_hooks(&asking).ready().await;
    assert!(
        matches!(echo(&asking, "hi").await, Err(CallError::Denied { .. })),
        "a rule asks, and nobody is there"
    );
}

/// Says yes, and counts how often.
#[derive(Clone, Default)]
struct Yes(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Approver for Yes {
    fn ask_permission<'q>(&'q self, _question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Box::pin(std::future::ready(PermissionAnswer::Allow))
    }
}

// P5
#[tokio::test]
async fn a_hook_that_asks_has_a_person_asked() {
    let settings = hooks("PreToolUse", "", &[&decides("ask")]);
    let person = Yes::default();
    let making =
        with_hooks(&settings).wish(|run_options| run_options.mode = Some(PermissionMode::BypassPermissions));
    let alive = making.start_as(|builder| builder.approver(person.clone()));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "hi");
    assert_eq!(person.0.load(std::sync::atomic::Ordering::SeqCst), 1);
}

// P5
#[tokio::test]
async fn strictest_verdict_and_last_change_of_several_hooks_count() {
    for (words, allowed) in [
        (["allow", "allow"], true),
        (["allow", "ask"], false),
        (["ask", "allow"], false),
        (["deny", "allow"], false),
    ] {
        let commands = words.map(decides);
        let settings = hooks("PreToolUse", "*", &[&commands[0], &commands[1]]);
        let alive = with_hooks(&settings).ready().await;
        assert_eq!(echo(&alive, "hi").await.is_ok(), allowed, "{words:?}");
    }
    let changes = |message: &str| says("PreToolUse", json!({ "updatedInput": { "message": message } }));
    let settings = hooks("PreToolUse", "*", &[&changes("first"), &changes("second"), &decides("allow")]);
    let alive = with_hooks(&settings).ready().await;
    assert_eq!(echo(&alive, "hi").await.unwrap(), "second");
}

// P5 N8 P4
#[tokio::test]
async fn arguments_changed_by_a_hook_are_validated_and_checked_by_rules() {
    let changes =
        |input: Value| says("PreToolUse", json!({ "permissionDecision": "allow", "updatedInput": input }));
    let settings = hooks("PreToolUse", "*", &[&changes(json!({ "message": 7 }))]);
    let alive = with_hooks(&settings).ready().await;
    assert!(matches!(echo(&alive, "hi").await, Err(CallError::Arguments { .. })));
    let settings = hooks("PreToolUse", "*", &[&changes(json!({ "message": "forbidden words" }))]);
    let alive = with_hooks(&settings).deny("mcp__one__echo(message:forbidden *)").ready().await;
    assert!(matches!(echo(&alive, "hi").await, Err(CallError::Denied { .. })));
    let settings = hooks("PreToolUse", "*", &[&changes(json!({ "message": "fine" }))]);
    let alive = with_hooks(&settings).deny("mcp__one__echo(message:forbidden *)").ready().await;
    assert_eq!(echo(&alive, "forbidden words").await.unwrap(), "fine", "what is called is what counts");
}

// P5 B57
#[tokio::test]
async fn hook_gets_the_call_and_the_same_environment_as_servers() {
    let settings = hooks("PreToolUse", "*", &["cat > told; env > seen; pwd > here"]);
    let making = with_hooks(&settings).variable("CANARY_TOKEN", "canary").variable("LANG", "C");
    let alive = making.allow("mcp__one").ready().await;
    let call = Call::new("mcp__one__echo", json!({ "message": "hi" })).with_use_id("toolu_1");
    alive.host.call(call).await.unwrap();
    let project = alive.world.path("home/project");
    let read = |name: &str| std::fs::read_to_string(project.join(name)).unwrap();
    let mut told: Value = serde_json::from_str(&read("told")).unwrap();
    let session = told["session_id"].take();
    assert_eq!(session.as_str().unwrap().len(), 32);
    assert_eq!(
        told,
        json!({
            "session_id": null, "cwd": project, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "mcp__one__echo", "tool_input": { "message": "hi" }, "tool_use_id": "toolu_1",
            "mcp_server": { "name": "one", "source": "user" },
        })
    );
    let seen = read("seen");
    assert!(seen.contains(&format!("CLAUDE_PROJECT_DIR={}", project.display())), "{seen}");
    assert!(seen.contains("LANG=C") && !seen.contains("canary"), "{seen}");
    assert_eq!(PathBuf::from(read("here").trim()), project);
}

// P5
#[tokio::test]
async fn a_program_with_arguments_is_run_without_a_shell() {
    let hook = json!({ "command": "/bin/touch", "args": ["${CLAUDE_PROJECT_DIR}/$(id) ; it"] });
    let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } });
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    echo(&alive, "hi").await.unwrap();
    assert!(alive.world.path("home/project/$(id) ; it").exists());
}

// P5
#[tokio::test]
async fn all_hooks_of_an_event_run_at_the_same_time() {
    // Each waits until the other is there: one after the other they would wait for ever.
    let meets = |own: &str, other: &str| format!("touch {own}; until test -e {other}; do sleep 0.01; done");
    let settings = hooks("PreToolUse", "*", &[&meets("a", "b"), &meets("b", "a")]);
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    tokio::time::timeout(LONG, echo(&alive, "hi")).await.unwrap().unwrap();
    assert!(alive.host.hook_notes().is_empty(), "{:?}", alive.host.hook_notes());
}

// P5 C13
#[tokio::test]
async fn a_change_of_the_settings_changes_the_hooks() {
    let alive = with_hooks(&json!({})).allow("mcp__one").ready().await;
    echo(&alive, "hi").await.unwrap();
    let settings = hooks("PreToolUse", "*", &[&decides("deny")]);
    alive.world.write("home/.claude/settings.json", &settings.to_string());
    alive.host.reload().await;
    assert!(matches!(echo(&alive, "hi").await, Err(CallError::Denied { .. })));
    alive.world.write("home/.claude/settings.json", "{}");
    alive.host.reload().await;
    echo(&alive, "hi").await.unwrap();
}

// P5
#[tokio::test]
async fn session_start_hooks_run_once_in_the_background() {
    let told = says("SessionStart", json!({ "additionalContext": "the build is broken" }));
    let settings = hooks("SessionStart", "startup", &["echo run >> runs; cat > told; echo plain", &told]);
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    echo(&alive, "hi").await.unwrap();
    assert_eq!(alive.host.session_context().await, ["plain", "the build is broken"]);
    let read = |name: &str| std::fs::read_to_string(alive.world.path("home/project").join(name)).unwrap();
    assert_eq!(read("runs"), "run\n");
    let told: Value = serde_json::from_str(&read("told")).unwrap();
    assert_eq!((&told["hook_event_name"], &told["source"]), (&json!("SessionStart"), &json!("startup")));
    let none = with_hooks(&settings).start_as(mcparley::HostBuilder::without_session_hooks);
    assert_eq!(none.host.session_context().await, Vec::<String>::new());
}
