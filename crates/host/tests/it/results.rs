//! Results of real servers that are too long for a model: stored, read again, or returned whole on request.

use std::path::Path;

use mcparley::permission::Consent;
use mcparley::{Call, CallError, CallOutcome, HostBuilder, Paths};
use serde_json::{Value, json};

use crate::alive::{Alive, Making, scripted, servers};

/// A text of so many lines.
fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number} of a long text\n")).collect()
}

async fn read(alive: &Alive, arguments: Value) -> Result<CallOutcome, CallError> {
    alive.host.call(Call::new("ReadResult", arguments)).await
}

fn names(alive: &Alive) -> Vec<String> {
    alive.host.publish_catalog().iter().map(|entry| entry.name.to_string()).collect()
}

fn one() -> Making {
    servers([("one", scripted(&[]))])
}

/// Keeps results below the world's home.
fn in_files(making: Making) -> Alive {
    let mut folder = None;
    let alive = making.start_in(|paths: &mut Paths| {
        let results = paths.home.join(".cache/mcparley/results");
        paths.results = Some(results.clone());
        folder = Some(results);
    });
    assert!(folder.is_some_and(|folder| !folder.exists()), "nothing is made before it is needed");
    alive
}

// R2 R5
#[tokio::test]
async fn a_long_text_is_stored_in_a_file_of_its_own_and_read_back() {
    let alive = in_files(one());
    let text = lines(10_000);
    let given = alive.call("one", "echo", json!({ "message": text })).await.unwrap();
    assert!(given.to_text().len() <= 2048, "{}", given.to_text());
    let stored = &given.stored[0];
    let path = stored.path.as_deref().unwrap();
    assert!(path.starts_with(alive.world.path("home/.cache/mcparley/results")), "{}", path.display());
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    // No permission is needed: the model was permitted the call that stored it.
    let page = read(&alive, json!({ "handle": stored.handle, "offset": 9_999 })).await.unwrap();
    let expected = "line 9999 of a long text\nline 10000 of a long text\n[lines 9999 to 10000, the last]";
    assert_eq!(page.to_text(), expected);
    let found = read(&alive, json!({ "handle": stored.handle, "grep": "line 77 " })).await.unwrap();
    assert_eq!(found.to_text(), "77:line 77 of a long text\n[1 matching lines]");
    let all = read(&alive, json!({ "handle": stored.handle })).await.unwrap();
    assert!(all.to_text().len() <= 41_000 && all.stored.is_empty(), "{}", all.to_text().len());
}

// R5
#[tokio::test]
async fn result_handle_is_valid_for_this_host_and_its_agents_only() {
    let (alive, other) = (one().ready().await, one().ready().await);
    let given = alive.call("one", "echo", json!({ "message": lines(10_000) })).await.unwrap();
    let handle = given.stored[0].handle.clone();
    let agent = alive.host.start_agent(mcparley::AgentSpec::new("helper")).await.unwrap();
    let arguments = json!({ "handle": handle, "limit": 1 });
    let call = || Call::new("ReadResult", arguments.clone());
    assert!(agent.call(call()).await.unwrap().to_text().starts_with("line 1 of"));
    let error = other.host.call(call()).await.unwrap_err();
    assert!(error.to_string().starts_with("no stored result"), "{error}");
    let misfit = alive.host.call(Call::new("ReadResult", json!({ "handle": handle, "unit": "pages" }))).await;
    assert!(matches!(misfit, Err(CallError::Arguments { .. })), "{misfit:?}");
}

// R5 P3
#[tokio::test]
async fn deny_rule_for_read_result_denies_it() {
    let alive = one().deny("ReadResult").ready().await;
    let given = alive.call("one", "echo", json!({ "message": lines(10_000) })).await.unwrap();
    let error = read(&alive, json!({ "handle": given.stored[0].handle })).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
}

// R2 N9
#[tokio::test]
async fn host_without_result_limit_returns_whole_results_and_offers_no_read_result() {
    let alive = one().start_as(HostBuilder::without_result_limit);
    let text = lines(10_000);
    let given = alive.call("one", "echo", json!({ "message": text })).await.unwrap();
    assert_eq!(given.to_text(), text);
    assert!(!names(&alive).contains(&"ReadResult".to_owned()));
    let fitting = one().ready().await;
    assert!(names(&fitting).contains(&"ReadResult".to_owned()), "{:?}", names(&fitting));
}

// R2 U4: a person types a call in a console whose model has limits.
#[tokio::test]
async fn call_without_result_limit_is_returned_whole_by_a_host_with_limits() {
    let alive = one().ready().await;
    let text = lines(10_000);
    let call = || Call::on_server("one", "echo", json!({ "message": text })).with_consent(Consent::Given);
    let whole = alive.host.call(call().without_result_limit()).await.unwrap();
    assert_eq!((whole.to_text(), whole.stored.len()), (text.clone(), 0));
    assert_eq!(alive.host.call(call()).await.unwrap().stored.len(), 1);
}

// R2 C12
#[tokio::test]
async fn result_limits_can_be_set() {
    for (name, value) in [("MAX_MCP_OUTPUT_TOKENS", "50"), ("MCPARLEY_MAX_RESULT_CHARS", "200")] {
        let alive = one().variable(name, value).ready().await;
        let short = alive.call("one", "echo", json!({ "message": "x".repeat(200) })).await.unwrap();
        assert!(short.stored.is_empty(), "{name}");
        let long = alive.call("one", "echo", json!({ "message": "x".repeat(201) })).await.unwrap();
        assert_eq!(long.stored.len(), 1, "{name}");
        let arguments = json!({ "handle": long.stored[0].handle, "unit": "bytes" });
        let page = read(&alive, arguments).await.unwrap().to_text();
        assert!(page.starts_with("xxx") && page.contains("next offset"), "{name}: {page}");
    }
}

// B100 F74
#[tokio::test]
async fn unusable_result_folder_loses_only_the_rest_of_the_text() {
    let making = one();
    let alive = making.start_in(|paths| {
        let link = paths.home.join("results");
        std::os::unix::fs::symlink(Path::new("/"), &link).unwrap();
        paths.results = Some(link);
    });
    let given = alive.call("one", "echo", json!({ "message": lines(10_000) })).await.unwrap();
    let text = given.to_text();
    assert!(!given.is_error && given.stored.is_empty());
    assert!(text.starts_with("line 1 of") && text.contains("… [truncated]"), "{}", text.len());
    assert!(text.ends_with("is a symbolic link]"), "{}", &text[text.len() - 300..]);
    assert!(text.chars().count() < 101_000, "{}", text.chars().count());
}
