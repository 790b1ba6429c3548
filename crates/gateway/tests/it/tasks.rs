//! Tasks through the gateway: their ids, their questions, and clients without tasks.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::{Served, World};

const OLD: &str = "2025-11-25";

fn with_tasks(scripts: &[&str], version: &str) -> ScriptedStdio {
    let scripts: Vec<&str> = ["task:1"].iter().chain(scripts).copied().collect();
    ScriptedStdio::new(&scripts).with_option("--versions", version)
}

fn one(scripts: &[&str], version: &str) -> Served {
    World::with([("one", with_tasks(scripts, version))]).allow("mcp__one").gateway()
}

fn chore(server: &str) -> Value {
    json!({ "name": format!("{server}__chore"), "arguments": { "message": "swept" } })
}

/// A client of the new era that follows tasks.
async fn follower(gateway: &Served) -> Client {
    let capabilities = json!({
        "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    Client::greeting(gateway, NEW, capabilities).await
}

async fn create(client: &mut Client, server: &str) -> Value {
    let created = client.ask("tools/call", chore(server)).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    json!({ "taskId": created["result"]["taskId"] })
}

// G3 X8
#[tokio::test]
async fn task_that_requires_input_asks_a_new_client_with_input_requests() {
    for (version, key) in [(OLD, "elicitation-1"), (NEW, "it")] {
        let gateway = one(&["task-wants"], version);
        let mut client = follower(&gateway).await;
        let task = create(&mut client, "one").await;
        for _ in 0..2 {
            let seen = client.ask("tasks/get", task.clone()).await["result"].clone();
            assert_eq!(seen["status"], "input_required", "{version}: {seen}");
            assert_eq!(seen["inputRequests"][key]["method"], "elicitation/create", "{version}: {seen}");
        }
        let mut update = task.clone();
        update["inputResponses"] =
            json!({ key: { "action": "accept", "content": { "name": "Grace" } }, "other": {} });
        let updated = client.ask("tasks/update", update).await;
        assert_eq!(updated["result"]["resultType"], "complete", "{version}: {updated}");
        let seen = client.ask("tasks/get", task).await["result"].clone();
        assert_eq!(seen["status"], "completed", "{version}: {seen}");
        let text = seen["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Grace"), "{version}: {seen}");
    }
}

// G3 X8
#[tokio::test]
async fn task_that_failed_has_the_error_of_its_server() {
    for version in [OLD, NEW] {
        let gateway = one(&["task-end:failed"], version);
        let mut client = follower(&gateway).await;
        let task = create(&mut client, "one").await;
        let seen = client.ask("tasks/get", task).await["result"].clone();
        assert_eq!((&seen["status"], &seen["error"]["code"]), (&json!("failed"), &json!(-32603)), "{seen}");
    }
}

// G3 X8
#[tokio::test]
async fn client_that_follows_no_tasks_gets_the_result() {
    for version in [OLD, NEW] {
        let gateway = one(&[], version);
        let mut client = Client::new(&gateway, NEW).await;
        assert_eq!(
            client.call("one__chore", json!({ "message": "swept" })).await["content"][0]["text"],
            "swept"
        );
    }
    // A server of the new era has no tasks that a client asks for.
    let gateway = one(&[], NEW);
    let mut client = Client::new(&gateway, OLD).await;
    let mut wish = chore("one");
    wish["task"] = json!({ "ttl": 1000 });
    let done = client.ask("tools/call", wish).await;
    assert_eq!(done["result"]["content"][0]["text"], "swept", "{done}");
}

// G3 G10 B93
#[tokio::test]
async fn tasks_of_two_servers_have_different_ids_that_only_their_client_can_use() {
    for version in [OLD, NEW] {
        let servers = [("one", with_tasks(&[], version)), ("two", with_tasks(&[], version))];
        let gateway = World::with(servers).allow("mcp__one").allow("mcp__two").gateway();
        let mut client = follower(&gateway).await;
        let (first, second) = (create(&mut client, "one").await, create(&mut client, "two").await);
        assert_ne!(first, second);
        let mut thief = follower(&gateway).await;
        for id in [first["taskId"].clone(), json!("task-1"), json!("mpi1.AAAA")] {
            let refused = thief.ask("tasks/get", json!({ "taskId": id })).await;
            assert_eq!(refused["error"], json!({ "code": -32602, "message": "unknown task" }), "{id}");
        }
        for task in [first, second] {
            let seen = client.ask("tasks/get", task.clone()).await["result"].clone();
            assert_eq!((&seen["taskId"], &seen["status"]), (&task["taskId"], &json!("completed")), "{seen}");
        }
    }
}

// G3 X8
#[tokio::test]
async fn list_of_tasks_has_those_of_all_servers_and_of_no_other_client() {
    let servers = [("one", with_tasks(&[], OLD)), ("two", with_tasks(&[], OLD))];
    let gateway = World::with(servers).allow("mcp__one").allow("mcp__two").gateway();
    let mut clients = [Client::new(&gateway, OLD).await, Client::new(&gateway, OLD).await];
    for client in &mut clients {
        let mut created = Vec::new();
        for server in ["one", "two"] {
            let mut wish = chore(server);
            wish["task"] = json!({ "ttl": 60_000 });
            let answer = client.ask("tools/call", wish).await;
            created.push(answer["result"]["task"]["taskId"].clone());
        }
        let (mut listed, mut page) = (Vec::new(), json!({}));
        loop {
            let answer = client.ask("tasks/list", page).await["result"].clone();
            listed.extend(answer["tasks"].as_array().unwrap().iter().map(|task| task["taskId"].clone()));
            match answer.get("nextCursor") {
                Some(cursor) => page = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(listed, created);
    }
    let refused = clients[0].ask("tasks/list", json!({ "cursor": "guess" })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

// G3 X8: the client is told which of its tasks asks.
#[tokio::test]
async fn question_of_a_task_names_the_task_of_its_client() {
    let gateway = one(&["task-wants"], OLD);
    let mut client = Client::greeting(&gateway, OLD, json!({ "elicitation": {} })).await;
    let mut wish = chore("one");
    wish["task"] = json!({ "ttl": 60_000 });
    let created = client.ask("tools/call", wish).await;
    let task = json!({ "taskId": created["result"]["task"]["taskId"] });
    let id = client.begin("tasks/result", task.clone()).await;
    let question = client.next_of("elicitation/create").await;
    assert_eq!(question["params"]["_meta"]["io.modelcontextprotocol/related-task"], task, "{question}");
    client.reply(&question["id"], json!({ "action": "accept", "content": { "name": "Grace" } })).await;
    let done = client.answer(&id).await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Grace"), "{done}");
}

// G10 X8
#[tokio::test]
async fn status_of_a_task_reaches_the_client_that_created_it_under_its_id() {
    let server = with_tasks(&["notice:notifications/tasks/status"], OLD).with_option("--on", "tasks/get");
    let servers = [("one", server), ("two", ScriptedStdio::new(&[]))];
    let gateway = World::with(servers).allow("mcp__one").gateway();
    let mut other = Client::new(&gateway, OLD).await;
    other.tools().await;
    let mut client = Client::new(&gateway, OLD).await;
    client.tools().await;
    let mut call = chore("one");
    call["task"] = json!({});
    let created = client.ask("tools/call", call).await["result"]["task"].clone();
    client.ask("tasks/get", json!({ "taskId": created["taskId"] })).await;
    let told = client.next_of("notifications/tasks/status").await;
    assert_eq!(told["params"]["taskId"], created["taskId"], "{told}");
    assert_eq!(told["params"]["statusMessage"], "soon", "{told}");
    other.ask("ping", json!({})).await;
    assert!(other.heard.is_empty(), "the task of another client: {:?}", other.heard);
}
