//! The smallest build: local and in-process servers, without HTTP, images and JSON Schema. Run with
//! `cargo test --package mcparley --no-default-features --test stdio_only`; holds with all features too.

use std::time::Duration;

use mcparley::{Call, Host, Paths, RunOptions, ServerEntry};
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

// T1 K1
#[tokio::test]
async fn local_server_is_started_listed_and_called() {
    let home = tempfile::tempdir().unwrap();
    let scripted = ScriptedStdio::new(&[]);
    let entry = ServerEntry::stdio(scripted.program.to_str().unwrap()).args(scripted.args);
    let mut options = RunOptions::default().with_server("one", entry);
    options.env.set("PATH", "/usr/bin:/bin");
    options.allowed_tools.push("mcp__one".to_owned());
    let host = Host::builder(&Paths::new(home.path(), home.path()), &options).start();
    let readiness = host.wait_until_ready(Duration::from_secs(10)).await;
    assert!(readiness.servers.iter().any(|server| server.name.as_str() == "one"), "{readiness:?}");
    assert!(host.catalog().get("mcp__one__echo").is_some());
    let outcome = host.call(Call::on_server("one", "echo", json!({ "message": "hi" }))).await.unwrap();
    assert_eq!(outcome.to_text(), "hi");
    host.shut_down().await;
}

// T2
#[cfg(not(feature = "http"))]
#[tokio::test]
async fn server_behind_a_url_is_refused_with_the_missing_feature() {
    let home = tempfile::tempdir().unwrap();
    let options = RunOptions::default().with_server("far", ServerEntry::http("http://localhost:9/mcp"));
    let host = Host::builder(&Paths::new(home.path(), home.path()), &options).start();
    let call = host.call(Call::on_server("far", "echo", json!({}))).await;
    let error = call.unwrap_err();
    let chain: Vec<String> =
        std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
            .map(ToString::to_string)
            .collect();
    assert!(chain.join(": ").contains("built without HTTP"), "{chain:?}");
}
