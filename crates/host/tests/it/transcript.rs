//! A model at work: a conversation over real HTTP, in the format of Anthropic's Messages API, about real servers.
//!
//! The model is a script, but a script that reads: each step uses the result of the previous one.

#[path = "../../examples/conversation/agent.rs"]
mod agent;
mod model;
mod script;

use agent::{Agent, Model};
use mcparley::catalog::Budget;
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, servers};
use crate::fleet_asks::installed;
use crate::hooking::{hooks, says};
use model::Scripted;

/// A line of the log, far from its beginning and its end.
const ANSWER: &str = "ANSWER: take 40 and 2";

fn node(script: &str, argument: &str) -> Value {
    let script = installed(&format!("npm/node_modules/.bin/{script}"));
    json!({ "command": installed("npm/node"), "args": [script, argument] })
}

/// A host with two real servers, a log of 180,000 characters, a read-only folder, and a hook that answers elicitations.
async fn prepared() -> Alive {
    let hook = says("Elicitation", json!({ "action": "accept", "content": { "name": "Ada" } }));
    let making = servers([])
        .file("home/.claude/settings.json", &hooks("Elicitation", "everything", &[&hook]))
        .allow("mcp__files")
        .allow("mcp__everything")
        .deny("mcp__files__write_file(path:*/kept/*)");
    let work = making.path("home/project/work");
    std::fs::create_dir_all(work.join("kept")).unwrap();
    let line = |number: usize| match number {
        4_321 => format!("{ANSWER}\n"),
        number => format!("{number:05} nothing of note here today\n"),
    };
    std::fs::write(work.join("log.txt"), (0..5_500).map(line).collect::<String>()).unwrap();
    let files = node("mcp-server-filesystem", work.to_str().unwrap());
    let alive = making
        .with_server("files", files)
        .with_server("everything", node("mcp-server-everything", "stdio"))
        .start();
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    alive
}

// N10 N13 R2 R5 P1 P4 P5 X5 K1 K5
#[tokio::test]
async fn fleet_a_model_searches_reads_on_is_denied_and_gets_its_task_done() {
    let alive = prepared().await;
    let work = alive.world.path("home/project/work");
    let scripted = Scripted::start(script::steps(&work)).await;
    let model = Model {
        http: reqwest::Client::builder().no_proxy().build().unwrap(),
        base: scripted.base(),
        key: "none".into(),
        name: "scripted".into(),
    };
    // A small token budget: the tools have to be searched for.
    let budget = Budget::with_tokens(500);
    let mut agent = Agent { host: alive.host.clone(), model, budget, listed: Vec::new() };
    let task = "Add the two numbers in log.txt, and write the sum and my name to kept/answer.txt or near it.";
    let said = agent.work_on(task).await;
    let complaints = scripted.complaints();
    assert_eq!(complaints, [""; 0]);
    assert_eq!(said.unwrap(), "Ada's sum is 42.");
    assert_eq!(std::fs::read_to_string(work.join("answer.txt")).unwrap(), "Ada: 42");
    assert!(!work.join("kept/answer.txt").exists());
    assert_eq!(scripted.steps_left(), 0);
}
