//! What a host permits, as whoever offers its tools sees it.

use mcparley::model::permission::Mode;
use mcparley::{Call, PendingCall, pending_calls};
use serde_json::json;

use crate::alive::{Alive, LONG, scripted, servers};

/// The tools of server `one` that no call can reach.
fn denied(alive: &Alive) -> Vec<String> {
    let catalog = alive.host.catalog();
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
async fn a_tool_that_a_rule_denies_whatever_its_arguments_need_not_be_offered() {
    let entries = || [("one", scripted(&[])), ("two", scripted(&[]))];
    let alive = servers(entries())
        .deny("mcp__one__a*")
        .deny("mcp__one__echo(message:rm *)")
        .allow("mcp__one__add")
        .ready()
        .await;
    assert_eq!(denied(&alive), ["mcp__one__add"]);

    let alive = servers(entries()).wish(|run_options| run_options.mode = Some(Mode::Plan)).ready().await;
    assert!(denied(&alive).is_empty(), "a person leaves the mode at any time");
    let alive =
        servers(entries()).allow("mcp__one").wish(|run_options| run_options.mode = Some(Mode::DontAsk));
    let denied = denied(&alive.ready().await);
    assert!(denied.iter().any(|name| name == "mcp__two__add"), "{denied:?}");
    assert!(!denied.iter().any(|name| name.starts_with("mcp__one__")), "{denied:?}");
}

// P1: the model is told that the user can allow it; the command that does is noted for the user alone.
#[tokio::test]
async fn a_denied_call_is_noted_with_the_command_that_allows_it_and_the_model_is_not_told_it() {
    let making = servers([("one", scripted(&[]))]);
    let mut paths = making.paths();
    paths.pending = Some(making.path("pending.jsonl"));
    let file = paths.pending.clone();
    let alive = making.start_in(|paths| paths.pending = file);
    assert!(alive.host.ready(LONG).await.settled);
    let mut denied = alive.host.denied_calls();
    let error = alive.host.call(Call::new("mcp__one__add", json!({ "a": 1, "b": 2 }))).await.unwrap_err();
    assert_eq!(denied.try_recv().unwrap().command(), "mcparley permissions allow mcp__one__add");
    let told = format!("{error} {}", error.hint().unwrap());
    assert!(told.contains("the user can allow it") && !told.contains("permissions allow"), "{told}");
    let commands: Vec<String> = pending_calls(&paths).iter().map(PendingCall::command).collect();
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
