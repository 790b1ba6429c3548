//! The example client for the conformance suite, against scripted servers of both eras.

use std::process::{Command, Output};

use mcparley_testkit::{HttpServer, example_path};
use serde_json::json;

fn run(url: &str, context: Option<&serde_json::Value>) -> (Output, String) {
    let mut client = Command::new(example_path("conformance_client"));
    client.arg(url).env_clear();
    if let Some(context) = context {
        client.env("MCP_CONFORMANCE_CONTEXT", context.to_string());
    }
    let output = client.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, talk)
}

// T9 K1 X5
#[test]
fn conformance_client_calls_every_tool_in_both_eras_and_answers_questions() {
    for (version, scripts) in
        [("2025-11-25", ["server-request:elicitation/create"]), ("2026-07-28", ["wants:form"])]
    {
        let server = HttpServer::start_with(&scripts, &["--versions", version, "--times", "1"]);
        let (output, talk) = run(server.url(), None);
        assert!(output.status.success(), "{version}: {talk}");
        assert!(talk.contains(&format!("connected: {version}")), "{talk}");
        for tool in ["echo", "add", "fail"] {
            assert!(talk.contains(&format!("{tool}: ")), "{version} {tool}: {talk}");
        }
        assert!(talk.contains("test://note: ") && talk.contains("a note"), "{talk}");
    }
}

// K1
#[test]
fn conformance_client_makes_the_configured_calls() {
    let server = HttpServer::start(&[]);
    let context = json!({ "toolCalls": [{ "name": "add", "arguments": { "a": 40, "b": 2, "c": null } }] });
    let (output, talk) = run(server.url(), Some(&context));
    assert!(output.status.success() && talk.contains("add: 42"), "{talk}");
    assert_eq!(server.stats()["post"]["tools/call"], 1);
}

// L3
#[test]
fn conformance_client_fails_when_it_cannot_connect() {
    let (output, talk) = run("http://127.0.0.1:1/mcp", None);
    assert_eq!(output.status.code(), Some(1), "{talk}");
    assert!(talk.contains("error: "), "{talk}");
}
