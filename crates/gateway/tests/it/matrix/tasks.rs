//! Tools that run as tasks.

use serde_json::{Value, json};

use crate::matrix::bench::Bench;
use crate::matrix::cell::{Revision, Sight};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

pub(crate) async fn task(bench: &mut Bench) -> Sight {
    let has_extension = bench.offered["extensions"].get(EXTENSION).is_some();
    let has_tasks = bench.offered.get("tasks").is_some();
    match (bench.cell.client, has_tasks, has_extension) {
        (Revision::R2026July, false, true) => follow_extension(bench).await,
        (Revision::R2025November, true, false) => follow_old(bench).await,
        (_, false, false) => wait_for_result(bench).await,
        _ => panic!("the gateway offers {}", bench.offered),
    }
}

fn chore(bench: &Bench) -> Value {
    json!({ "name": bench.tool("chore"), "arguments": { "message": "swept" } })
}

async fn wait_for_result(bench: &mut Bench) -> Sight {
    let chore = chore(bench);
    let done = bench.client.ask("tools/call", chore).await;
    assert_eq!(done["result"]["content"][0]["text"], "swept", "{done}");
    Sight::FollowedTask
}

async fn follow_old(bench: &mut Bench) -> Sight {
    let mut chore = chore(bench);
    chore["task"] = json!({ "ttl": 60_000 });
    let created = bench.client.ask("tools/call", chore.clone()).await;
    let id = created["result"]["task"]["taskId"].clone();
    assert_eq!(created["result"]["task"]["status"], "working", "{created}");
    let named = json!({ "taskId": id });
    let seen = poll_until_ended(bench, &named).await;
    assert_eq!((&seen["taskId"], &seen["status"]), (&id, &json!("completed")), "{seen}");
    let done = bench.client.ask("tasks/result", named.clone()).await;
    assert_eq!(done["result"]["content"][0]["text"], "swept", "{done}");
    let listed = bench.client.ask("tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"][0]["taskId"], id, "{listed}");
    let second = bench.client.ask("tools/call", chore).await;
    let named = json!({ "taskId": second["result"]["task"]["taskId"] });
    let canceled = bench.client.ask("tasks/cancel", named).await;
    assert_eq!(canceled["result"]["status"], "cancelled", "{canceled}");
    Sight::OldTask
}

async fn follow_extension(bench: &mut Bench) -> Sight {
    let chore = chore(bench);
    let created = bench.client.ask("tools/call", chore.clone()).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    check_extension_task(&created["result"]);
    let named = json!({ "taskId": created["result"]["taskId"] });
    let seen = poll_until_ended(bench, &named).await;
    check_extension_task(&seen);
    assert_eq!((&seen["taskId"], &seen["status"]), (&named["taskId"], &json!("completed")), "{seen}");
    assert_eq!(seen["result"]["content"][0]["text"], "swept", "{seen}");
    let second = bench.client.ask("tools/call", chore).await;
    let named = json!({ "taskId": second["result"]["taskId"] });
    let canceled = bench.client.ask("tasks/cancel", named.clone()).await;
    assert_eq!(canceled["result"]["resultType"], "complete", "{canceled}");
    let seen = poll_until_ended(bench, &named).await;
    assert_eq!(seen["status"], "cancelled", "{seen}");
    Sight::ExtensionTask
}

/// Polls until the task is no longer at work; the scripted server ends a task at its second poll.
async fn poll_until_ended(bench: &mut Bench, named: &Value) -> Value {
    for _ in 0..10 {
        let seen = bench.client.ask("tasks/get", named.clone()).await;
        assert!(seen.get("result").is_some(), "{seen}");
        if seen["result"]["status"] != "working" {
            return seen["result"].clone();
        }
    }
    panic!("the task does not end");
}

/// Checks the members that a task of the extension must have.
fn check_extension_task(task: &Value) {
    for member in ["taskId", "status", "createdAt", "lastUpdatedAt"] {
        assert!(task[member].is_string(), "{member}: {task}");
    }
    assert!(task.get("ttlMs").is_some_and(|ttl| ttl.is_null() || ttl.is_u64()), "{task}");
    for member in ["ttl", "pollInterval", "task"] {
        assert!(task.get(member).is_none(), "{member}: {task}");
    }
}
