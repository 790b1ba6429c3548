//! Many calls at once: each is answered once, to the client that made it.

use std::collections::HashSet;

use serde_json::json;

use crate::client::{Client, NEW};
use crate::world::World;

// G1 F95
#[tokio::test]
async fn a_thousand_calls_at_once_are_each_answered_once_with_the_right_id() {
    let gateway = World::one().allow("mcp__one").gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        client.tools().await;
        for id in 0..1000 {
            let params =
                json!({ "name": "one__echo", "arguments": { "message": format!("{version} {id}") } });
            client.begin_as(&json!(id), "tools/call", params).await;
        }
        let mut answered = HashSet::new();
        while answered.len() < 1000 {
            let message = client.next().await;
            let id = message["id"].as_u64().unwrap();
            assert_eq!(message["result"]["content"][0]["text"], format!("{version} {id}"));
            assert!(answered.insert(id), "{id} was answered twice");
        }
    }
}

// F95 H20 B93
#[tokio::test]
async fn clients_with_the_same_ids_never_see_each_others_answers() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::new(&gateway, "2025-11-25").await);
    }
    for id in 100..200 {
        for (who, client) in clients.iter_mut().enumerate() {
            let params = json!({ "name": "one__echo", "arguments": { "message": format!("{who}/{id}") } });
            client.begin_as(&json!(id), "tools/call", params).await;
        }
    }
    for (who, client) in clients.iter_mut().enumerate() {
        for _ in 100..200 {
            let message = client.next().await;
            assert_eq!(message["result"]["content"][0]["text"], format!("{who}/{}", message["id"]));
        }
    }
}
