//! The model of a real host, with servers inside this program.

use std::sync::Arc;
use std::time::Duration;

use mcparley::config::StartPolicy;
use mcparley::{Call, HostBuilder, InProcessServer, Paths, RunOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::super::row_state::RowState;
use super::*;

/// A builder of a host in a folder of its own, whose `.claude.json` has these servers.
fn host_builder(servers: &Value) -> (HostBuilder, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let config = json!({ "mcpServers": servers }).to_string();
    #[expect(clippy::disallowed_methods, reason = "a test prepares its files")]
    std::fs::write(home.path().join(".claude.json"), config).unwrap();
    let paths = Paths::new(home.path(), &project);
    let run_options = RunOptions { allowed_tools: vec!["mcp__slow".into()], ..RunOptions::default() };
    let builder = Host::builder(&paths, &run_options)
        .without_built_in_server()
        .count_calls()
        .start_with(StartPolicy::All);
    (builder.without_file_watcher(), home)
}

// U4 L1
#[tokio::test]
async fn rows_are_read_from_the_plan_and_the_connections() {
    let servers = json!({
        "broken": { "command": 7 }, "missing": { "command": "/no/such/program", "args": ["--token", "x"] },
    });
    let (builder, _home) = host_builder(&servers);
    let host = builder.in_process_server(InProcessServer::new("inside")).start();
    host.wait_until_ready(Duration::from_secs(30)).await;
    let model = ScreenModel::from_host(&host);
    let rows: Vec<(&str, &str, &str)> =
        model.list.rows().iter().map(|row| (row.name.as_str(), row.scope, row.state.symbol())).collect();
    assert_eq!(rows, [("broken", "user", "×"), ("missing", "user", "×"), ("inside", "built-in", "●")]);
    let missing = &model.list.rows()[1];
    assert!(matches!(missing.state, RowState::Failed { .. }), "{missing:?}");
    assert_eq!(missing.transport, "stdio");
    host.shut_down().await;
}

// U4
#[tokio::test]
async fn running_call_is_shown_and_counted_afterwards() {
    let (release, begun) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (released, started) = (Arc::clone(&release), Arc::clone(&begun));
    let schema = json!({ "type": "object" });
    let server = InProcessServer::new("slow").tool("wait", schema, move |_: Value| {
        let (released, started) = (Arc::clone(&released), Arc::clone(&started));
        async move {
            started.notify_one();
            released.notified().await;
            Ok::<_, String>(json!("done"))
        }
    });
    let (builder, _home) = host_builder(&json!({}));
    let host = builder.in_process_server(server).start();
    host.wait_until_ready(Duration::from_secs(30)).await;
    let caller = host.clone();
    let call = tokio::spawn(async move { caller.call(Call::new("mcp__slow__wait", json!({}))).await });
    begun.notified().await;
    let mut model = ScreenModel::from_host(&host);
    assert_eq!(model.list.rows()[0].running, 1);
    assert!(model.is_ticking());
    assert_eq!(model.detail.row(Page::Calls, 0).map(|row| row.text), Some("wait".to_owned()));
    release.notify_one();
    call.await.unwrap().unwrap();
    model.refresh(&host);
    assert_eq!((model.list.rows()[0].running, model.is_ticking()), (0, false));
    let row = model.detail.row(Page::Tools, 0).unwrap();
    assert!(row.remark.starts_with("1 call "), "{row:?}");
    host.shut_down().await;
}

// U4
#[tokio::test]
async fn lists_are_parsed_once_for_each_surface() {
    let (builder, _home) = host_builder(&json!({}));
    let host = builder.in_process_server(InProcessServer::new("inside")).start();
    host.wait_until_ready(Duration::from_secs(30)).await;
    let mut model = ScreenModel::from_host(&host);
    let before = Arc::clone(&model.detail.lists);
    model.refresh(&host);
    assert!(Arc::ptr_eq(&before, &model.detail.lists));
    host.shut_down().await;
}
