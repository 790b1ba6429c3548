//! Permissions of a host, as seen by a program that offers its tools.

use mcparley::Call;
use mcparley::model::permission::PermissionMode;
use mcparley::permission::{PendingCall, pending_calls};
use serde_json::json;

use crate::alive::{Alive, LONG, scripted, servers};

/// The tools of server `one` that no call can reach.
fn denied(alive: &Alive) -> Vec<String> {
    let catalog = alive.host.publish_catalog();
    let mut names: Vec<String> = catalog
        .iter()
        .filter(|entry| alive.host.denies_outright(entry))
        .map(|entry| entry.name.to_string())
        .collect();
    names.sort_unstable();
    names
}

// P3
#[tokio::test]
async fn tool_denied_for_any_arguments_need_not_be_offered() {
    let entries = || [("one", scripted(&[])), ("two", scripted(&[]))];
    let alive = servers(entries())
        .deny("mcp__one__a*")
        .deny("mcp__one__echo(message:rm *)")
        .allow("mcp__one__add")
        .ready()
        .await;
    assert_eq!(denied(&alive), ["mcp__one__add"]);

    let alive =
        servers(entries()).wish(|run_options| run_options.mode = Some(PermissionMode::Plan)).ready().await;
    assert!(denied(&alive).is_empty(), "a person leaves the mode at any time");
    let alive = servers(entries())
        .allow("mcp__one")
        .wish(|run_options| run_options.mode = Some(PermissionMode::DontAsk));
    let denied = denied(&alive.ready().await);
    assert!(denied.iter().any(|name| name == "mcp__two__add"), "{denied:?}");
    assert!(!denied.iter().any(|name| name.starts_with("mcp__one__")), "{denied:?}");
}

// P1: the model is told that the user can allow it; the command that does is noted for the user alone.
#[tokio::test]
async fn denied_call_is_recorded_with_its_allow_command_which_the_model_does_not_see() {
    let making = servers([("one", scripted(&[]))]);
    let mut paths = making.paths();
    paths.pending = Some(making.path("pending.jsonl"));
    let file = paths.pending.clone();
    let alive = making.start_in(|paths| paths.pending = file);
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    let mut denied = alive.host.denied_calls();
    let error = alive.host.call(Call::new("mcp__one__add", json!({ "a": 1, "b": 2 }))).await.unwrap_err();
    assert_eq!(denied.try_recv().unwrap().allow_command(), "mcparley permissions allow mcp__one__add");
    let told = format!("{error} {}", error.hint().unwrap());
    assert!(told.contains("the user can allow it") && !told.contains("permissions allow"), "{told}");
    let commands: Vec<String> = pending_calls(&paths).iter().map(PendingCall::allow_command).collect();
    assert_eq!(commands, ["mcparley permissions allow mcp__one__add"]);
}

// N14: a tool that can only be denied is not suggested either.
#[tokio::test]
async fn did_you_mean_never_names_a_hidden_tool() {
    let told = async |deny: &str| {
        let alive = servers([("one", scripted(&[]))]).deny(deny).ready().await;
        let error = alive.host.call(Call::new("mcp__one__adds", json!({}))).await.unwrap_err();
        format!("{error} {}", error.hint().unwrap_or_default())
    };
    assert!(told("mcp__one__echo").await.contains("`mcp__one__add`"));
    assert!(!told("mcp__one__add").await.contains("`mcp__one__add`"));
}
