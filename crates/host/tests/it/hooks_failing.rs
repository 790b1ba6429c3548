//! Hooks that fail, hang, flood or are given up.

use std::time::{Duration, Instant};

use mcparley::CallError;
use mcparley_testkit::processes_with_variable;
use serde_json::{Value, json};

use crate::alive::{Alive, LONG};
use crate::hooking::{echo, hooks, with_hooks};

fn limited(command: &str, seconds: f64) -> Value {
    let hook = json!({ "command": command, "timeout": seconds });
    json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } })
}

/// The processes of this test's hooks.
fn left(alive: &Alive) -> Vec<u32> {
    let project = alive.world.path("home/project");
    processes_with_variable("MCPARLEY_PROJECT_DIR", &project.to_string_lossy())
}

async fn until_gone(alive: &Alive) {
    let begun = Instant::now();
    while !left(alive).is_empty() {
        assert!(begun.elapsed() < LONG, "left: {:?}", left(alive));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn until_there(alive: &Alive, file: &str) {
    let begun = Instant::now();
    while !alive.world.path("home/project").join(file).exists() {
        assert!(begun.elapsed() < LONG);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// P5
#[tokio::test]
async fn failed_hook_stops_no_call_unless_blocking_is_set() {
    let missing = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "/none", "args": [] }] }] } });
    for (settings, why) in [
        (
            hooks("PreToolUse", "*", &["echo oh --password hunter22 >&2; exit 1"]),
            "it exited with code 1: oh --password ***",
        ),
        (hooks("PreToolUse", "*", &["echo '{\"decision\": '"]), "its output is not valid hook JSON"),
        (hooks("PreToolUse", "*", &["kill -9 $$"]), "it was ended by signal 9"),
        (hooks("PreToolUse", "*", &["head -c 2000000 /dev/zero"]), "it printed more than 1048576 bytes"),
        (limited("sleep 1000", 0.2), "it did not end within 200ms"),
        (missing, "it could not be started"),
    ] {
        let alive = with_hooks(&settings).allow("mcp__one").ready().await;
        echo(&alive, "hi").await.unwrap();
        let notes = alive.host.hook_notes();
        assert!(notes.len() == 1 && notes[0].is_trouble && notes[0].text.contains(why), "{notes:?}");
        let mut strict = settings.clone();
        strict["blockOnHookFailure"] = json!(true);
        let alive = with_hooks(&strict).allow("mcp__one").ready().await;
        let error = echo(&alive, "hi").await.unwrap_err();
        assert!(matches!(error, CallError::Denied { .. }) && error.to_string().contains(why), "{error}");
    }
}

// P5 L9
#[tokio::test]
async fn hook_that_times_out_is_killed_with_its_children() {
    let command = "setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM INT; sleep 1000' &) ; sleep 1000";
    let alive = with_hooks(&limited(command, 0.3)).allow("mcp__one").ready().await;
    echo(&alive, "hi").await.unwrap();
    until_gone(&alive).await;
}

// P5 L9
#[tokio::test]
async fn background_processes_of_a_hook_are_killed_and_not_waited_for() {
    let settings = hooks("PreToolUse", "*", &["setsid sleep 1000 & exit 0"]);
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    tokio::time::timeout(LONG, echo(&alive, "hi")).await.unwrap().unwrap();
    until_gone(&alive).await;
    assert_eq!(alive.host.hook_notes(), []);
}

// P5 K2
#[tokio::test]
async fn canceled_call_kills_its_hook() {
    let settings = hooks("PreToolUse", "*", &["touch there; sleep 1000"]);
    let alive = with_hooks(&settings).allow("mcp__one").ready().await;
    tokio::select! {
        _answer = echo(&alive, "hi") => panic!("the hook never ends"),
        () = until_there(&alive, "there") => {}
    }
    until_gone(&alive).await;
}

// P5
#[tokio::test]
async fn hook_that_ignores_its_input_and_writes_much_stderr_works() {
    let settings = hooks("PreToolUse", "*", &["head -c 3000000 /dev/zero >&2; exec <&-; exit 0"]);
    let alive = with_hooks(&settings).allow("mcp__one").start_as(mcparley::HostBuilder::without_result_limit);
    let long = "x".repeat(1_000_000);
    assert_eq!(echo(&alive, &long).await.unwrap().len(), long.len());
    assert_eq!(alive.host.hook_notes(), []);
}
