//! The built-in server: there without any configuration.

use mcparley::Call;
use serde_json::{Value, json};

use crate::alive::{scripted, servers};

// T5
#[tokio::test]
async fn built_in_server_answers_without_configuration() {
    let alive = servers([]).allow("mcp__mcparley").ready().await;
    let names: Vec<String> =
        alive.host.publish_catalog().iter().map(|entry| entry.name.to_string()).collect();
    let tools =
        ["list_servers", "explain_plan", "echo", "read_logs"].map(|tool| format!("mcp__mcparley__{tool}"));
    assert_eq!(names[..4], tools);
    let outcome =
        alive.host.call(Call::new("mcp__mcparley__echo", json!({ "message": "hi" }))).await.unwrap();
    assert_eq!(outcome.to_text(), "hi");
}

#[tokio::test]
async fn built_in_server_shows_servers_plan_and_logs() {
    let mut making = servers([("one", scripted(&[])), ("bad", scripted(&["exit-start"]))]);
    making = making.allow("mcp__mcparley");
    let alive = making.ready().await;
    let ask = async |tool: &str, arguments: Value| {
        let outcome = alive.host.call(Call::new(&format!("mcp__mcparley__{tool}"), arguments)).await.unwrap();
        (serde_json::from_str::<Value>(&outcome.to_text()).unwrap_or_default(), outcome)
    };
    let (listed, _) = ask("list_servers", json!({})).await;
    assert_eq!(listed[1]["name"], "bad");
    assert_eq!(listed[1]["state"], "failed");
    let (plan, _) = ask("explain_plan", json!({ "server": "one" })).await;
    assert_eq!(plan[0]["standing"]["is"], "ready");
    let (logs, _) = ask("read_logs", json!({ "server": "bad" })).await;
    assert!(logs["lines"][0]["text"].as_str().unwrap().contains("code 3"), "{logs}");
    assert!(!logs["stderr"].as_array().unwrap().is_empty(), "{logs}");
    let (_, unknown) = ask("read_logs", json!({ "server": "nobody" })).await;
    assert!(unknown.is_error);
}

#[tokio::test]
async fn configured_server_replaces_the_built_in_server_of_its_name() {
    let alive = servers([("mcparley", scripted(&[]))]).ready().await;
    assert_eq!(alive.echo("mcparley", "from the script").await.unwrap(), "from the script");
    assert!(alive.host.publish_catalog().get("mcp__mcparley__list_servers").is_none());
}
