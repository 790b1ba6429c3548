//! Tests of tasks, log messages and completion.

use crate::stdio_client::{Stdio, echo, modern, start};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

pub(crate) const WORDS: &[&str] = &["task", "task-wants", "task-end", "logging", "completions"];

fn chore() -> Value {
    json!({ "name": "chore", "arguments": { "message": "hi" }, "task": { "ttl": 1000 } })
}

fn new_era(scripts: &[&str]) -> Stdio {
    Stdio::start(&ScriptedStdio::new(scripts).with_option("--versions", "2026-07-28"))
}

/// The parameters of a stateless request of a client that supports tasks.
fn knowing(params: Value) -> Value {
    let mut params = modern(params);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params
}

#[test]
fn old_era_call_becomes_task_on_request() {
    let mut server = start(&["task:2"]);
    let greeting = server.greet()["result"].take();
    assert_eq!(greeting["capabilities"]["tasks"]["requests"], json!({ "tools": { "call": {} } }));
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].take();
    let chore_tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "chore").unwrap();
    assert_eq!(chore_tool["execution"]["taskSupport"], "required");
    let plain = json!({ "name": "chore", "arguments": { "message": "hi" } });
    assert_eq!(server.ask("tools/call", &plain)["error"]["code"], -32601);
    let task = server.ask("tools/call", &chore())["result"]["task"].take();
    assert_eq!((&task["status"], &task["pollInterval"]), (&json!("working"), &json!(10)));
    let id = json!({ "taskId": task["taskId"] });
    for status in ["working", "completed"] {
        assert_eq!(server.ask("tasks/get", &id)["result"]["status"], status);
    }
    assert_eq!(server.ask("tasks/result", &id)["result"]["content"][0]["text"], "hi");
    assert_eq!(server.ask("tasks/get", &json!({ "taskId": "other" }))["error"]["code"], -32602);
}

#[test]
fn new_era_call_becomes_task_if_client_supports_tasks() {
    let mut server = new_era(&["task:1"]);
    assert_eq!(server.ask("tools/call", &modern(chore()))["error"]["code"], -32601);
    let task = server.ask("tools/call", &knowing(chore()))["result"].take();
    assert_eq!((&task["resultType"], &task["pollIntervalMs"]), (&json!("task"), &json!(10)));
    let look = server.ask("tasks/get", &knowing(json!({ "taskId": task["taskId"] })))["result"].take();
    assert_eq!((&look["resultType"], &look["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(look["result"]["content"][0]["text"], "hi");
}

#[test]
fn new_era_task_requires_input_until_updated() {
    let mut server = new_era(&["task:1", "task-wants"]);
    let id = server.ask("tools/call", &knowing(chore()))["result"]["taskId"].take();
    let look = server.ask("tasks/get", &knowing(json!({ "taskId": id })))["result"].take();
    assert_eq!(look["status"], "input_required");
    assert_eq!(look["inputRequests"]["it"]["method"], "elicitation/create");
    let told = json!({ "taskId": id, "inputResponses": { "it": { "action": "decline" } } });
    assert_eq!(server.ask("tasks/update", &knowing(told))["error"], Value::Null);
    let look = server.ask("tasks/get", &knowing(json!({ "taskId": id })))["result"].take();
    assert_eq!(look["status"], "completed");
    assert!(look["result"]["content"][0]["text"].as_str().unwrap().contains("decline"));
}

#[test]
fn old_era_task_elicits_input_on_result_request() {
    let mut server = start(&["task:1", "task-wants"]);
    server.greet();
    let id = json!({ "taskId": server.ask("tools/call", &chore())["result"]["task"]["taskId"] });
    assert_eq!(server.ask("tasks/get", &id)["result"]["status"], "input_required");
    let question = server.ask("tasks/result", &id);
    assert_eq!(question["method"], "elicitation/create");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }));
    let result = server.message()["result"].take();
    assert!(result["content"][0]["text"].as_str().unwrap().contains("decline"), "{result}");
}

#[test]
fn task_ends_by_script_or_cancellation() {
    for (end, status) in [("failed", "failed"), ("cancelled", "cancelled")] {
        let mut server = new_era(&["task:1", &format!("task-end:{end}")]);
        let id = server.ask("tools/call", &knowing(chore()))["result"]["taskId"].take();
        let look = server.ask("tasks/get", &knowing(json!({ "taskId": id })))["result"].take();
        assert_eq!(look["status"], status);
    }
    let mut server = new_era(&["task:0", "task-end:forgotten"]);
    let id = json!({ "taskId": server.ask("tools/call", &knowing(chore()))["result"]["taskId"] });
    assert_eq!(server.ask("tasks/get", &knowing(id.clone()))["result"]["status"], "working");
    assert_eq!(server.ask("tasks/get", &knowing(id))["error"]["code"], -32602);
    let mut server = new_era(&["task:0"]);
    let id = json!({ "taskId": server.ask("tools/call", &knowing(chore()))["result"]["taskId"] });
    server.ask("tasks/cancel", &knowing(id.clone()));
    assert_eq!(server.ask("tasks/get", &knowing(id))["result"]["status"], "cancelled");
}

#[test]
fn log_messages_respect_requested_level() {
    let mut server = start(&["logging"]);
    assert_eq!(server.greet()["result"]["capabilities"]["logging"], json!({}));
    server.ask("logging/setLevel", &json!({ "level": "alert" }));
    server.echo();
    let said: Vec<Value> = (0..3).map(|_| server.message()).collect();
    assert_eq!(
        (&said[0]["params"]["level"], &said[1]["params"]["level"]),
        (&json!("alert"), &json!("emergency"))
    );
    assert_eq!(said[2]["id"], 2);
    let mut server = new_era(&["logging"]);
    assert_eq!(server.ask("tools/call", &modern(echo()))["id"], 7, "nothing was asked for");
    let mut wanting = modern(echo());
    wanting["_meta"]["io.modelcontextprotocol/logLevel"] = json!("emergency");
    assert_eq!(server.ask("tools/call", &wanting)["params"]["level"], "emergency");
}

#[test]
fn an_argument_is_completed_with_numbers() {
    let mut server = start(&["completions:2"]);
    server.greet();
    let asked = json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "a", "value": "x" } });
    let completion = server.ask("completion/complete", &asked)["result"]["completion"].take();
    assert_eq!(completion, json!({ "values": ["x1", "x2"], "total": 2, "hasMore": false }));
}
