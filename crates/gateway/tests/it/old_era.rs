//! Clients that greet with `initialize`.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::client::{Client, NEW, OLD};
use crate::world::World;

// G1 G2 N1 R1
#[tokio::test]
async fn a_client_of_every_old_revision_lists_and_calls() {
    for behind in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let server = ScriptedStdio::new(&[]).with_option("--versions", behind);
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        for version in OLD {
            let mut client = Client::new(&gateway, version).await;
            let tools = client.tools().await;
            assert!(tools.contains(&"one__echo".to_owned()), "{version} before {behind}: {tools:?}");
            let result = client.call("one__echo", json!({ "message": "hé\u{1f600}" })).await;
            assert_eq!(result["content"], json!([{ "type": "text", "text": "hé\u{1f600}" }]));
            let result = client.call("one__fail", json!({})).await;
            assert_eq!(result["isError"], true, "{result}");
            assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
        }
    }
}

// G1
#[tokio::test]
async fn unsupported_version_is_answered_with_the_newest_old_one() {
    let gateway = World::with([]).gateway();
    let table = [("9999-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("", "2025-11-25")];
    for (asked, agreed) in table.into_iter().chain(OLD.map(|version| (version, version))) {
        let mut client = Client::silent(&gateway, agreed);
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        let answer = client.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcparley");
        assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
    }
    for wrong in [json!({}), json!({ "protocolVersion": 7 })] {
        let answer = Client::silent(&gateway, "2025-11-25").ask("initialize", wrong.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{wrong}");
    }
}

// G1
#[tokio::test]
async fn only_ping_is_answered_before_the_handshake() {
    let gateway = World::one().gateway();
    let mut client = Client::silent(&gateway, "2025-11-25");
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    for method in ["tools/list", "tools/call"] {
        assert_eq!(client.ask(method, json!({ "name": "one__echo" })).await["error"]["code"], -32600);
    }
}

// G1 N8 B94
#[tokio::test]
async fn call_errors_reach_the_model() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let unknown = client.ask("tools/call", json!({ "name": "one__ecko", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains("one__ecko") && message.contains("one__echo"), "{message}");
    let misfit = client.call("one__echo", json!({ "message": 7 })).await;
    assert_eq!(misfit["isError"], true, "{misfit}");
    assert!(misfit["content"][0]["text"].as_str().unwrap().contains("/message"), "{misfit}");
    for params in [json!({}), json!({ "name": 7 }), json!({ "name": "one__echo", "arguments": [] })] {
        let answer = client.ask("tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}");
    }
    assert_eq!(client.ask("server/unknown", json!({})).await["error"]["code"], -32601);
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "info" })).await["result"], json!({}));
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "loud" })).await["error"]["code"], -32602);
}

// G1 B08 B10 B13
#[tokio::test]
async fn requests_of_real_clients_are_understood() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-03-26").await;
    client.tell("notifications/cancelled", Some(json!({ "requestId": 1, "reason": "late" }))).await;
    client.tell("notifications/cancelled", Some(json!({ "requestId": "never" }))).await;
    client.tell("notifications/cancelled", None).await;
    client.tell("notifications/roots/list_changed", None).await;
    client.tell("notifications/of/nobody", Some(json!([1]))).await;
    for id in
        [json!("a"), json!(""), json!("7"), json!(7), json!(0), json!(-3), json!(9_007_199_254_740_993_u64)]
    {
        let params = json!({ "name": "one__echo", "arguments": { "message": id.to_string() } });
        client.begin_as(&id, "tools/call", params).await;
        let answer = client.answer(&id).await;
        assert_eq!(answer["result"]["content"][0]["text"], id.to_string());
    }
    let call = |id: u64, message: &str| {
        let params = json!({ "name": "one__echo", "arguments": { "message": message } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    client
        .begin_as(&json!(500), "tools/call", json!({ "name": "one__echo", "arguments": { "message": "x" } }))
        .await;
    client.answer(&json!(500)).await;
    client
        .begin_as(&json!(501), "tools/call", json!({ "name": "one__echo", "arguments": { "message": "y" } }))
        .await;
    client.answer(&json!(501)).await;
    let batch =
        json!([call(500, "one"), { "jsonrpc": "2.0", "method": "notifications/x" }, call(501, "two")]);
    client.say(batch.to_string()).await;
    let mut texts: Vec<Value> = Vec::new();
    for id in [500, 501] {
        let answer = match client.heard.iter().position(|it| it["id"] == id) {
            Some(place) => client.heard.remove(place).unwrap(),
            None => client.answer(&json!(id)).await,
        };
        texts.push(answer["result"]["content"][0]["text"].clone());
    }
    assert_eq!(texts, ["one", "two"]);
}

// G3 X8
#[tokio::test]
async fn progress_comes_under_the_clients_own_token_and_before_the_answer() {
    let gateway = World::one().allow("mcp__one").gateway();
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        for token in [json!("mine"), json!(41)] {
            let mut client = Client::new(&gateway, version).await;
            let params = json!({
                "name": "one__slow", "arguments": { "ms": 200 }, "_meta": { "progressToken": token },
            });
            let answer = client.ask("tools/call", params).await;
            assert_eq!(answer["result"]["content"][0]["text"], "done");
            let told: Vec<&Value> = client.heard.iter().map(|message| &message["params"]).collect();
            assert!(!told.is_empty(), "{version}");
            assert!(
                told.iter().all(|params| params["progressToken"] == token && params["total"] == 10.0),
                "{told:?}"
            );
            let far: Vec<f64> = told.iter().filter_map(|params| params["progress"].as_f64()).collect();
            assert!(far.windows(2).all(|pair| pair[0] < pair[1]), "{far:?}");
            assert_eq!(far.last(), Some(&10.0), "the last one is not lost");
        }
    }
}

// G3 X8 F95
#[tokio::test]
async fn burst_of_progress_reaches_a_client_that_reads_whole() {
    let server = ScriptedStdio::new(&["progress-storm:20"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let params = json!({
            "name": "one__echo", "arguments": { "message": "hi" }, "_meta": { "progressToken": "mine" },
        });
        client.ask("tools/call", params).await;
        let told = client.heard.iter().filter(|it| it["method"] == "notifications/progress");
        let steps: Vec<f64> = told.filter_map(|it| it["params"]["progress"].as_f64()).collect();
        assert_eq!(steps.len(), 20, "{version}: {steps:?}");
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{version}: {steps:?}");
    }
}

// G3 X8
#[tokio::test]
async fn server_logs_reach_clients_that_set_a_level() {
    let server = ScriptedStdio::new(&["flood:5"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    client.call("one__echo", json!({ "message": "unheard" })).await;
    assert!(client.heard.is_empty(), "{:?}", client.heard);
    client.ask("logging/setLevel", json!({ "level": "debug" })).await;
    let id =
        client.begin("tools/call", json!({ "name": "one__echo", "arguments": { "message": "heard" } })).await;
    let told = client.next_of("notifications/message").await;
    assert!(told["params"]["logger"].as_str().unwrap().starts_with("one"), "{told}");
    client.answer(&id).await;
}

// G3 X8
#[tokio::test]
async fn a_log_message_of_a_call_reaches_its_own_client_and_no_other() {
    let gateway = World::with([("one", ScriptedStdio::new(&["flood:5"]))]).allow("mcp__one").gateway();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = Client::new(&gateway, "2025-11-25").await;
        client.ask("logging/setLevel", json!({ "level": "debug" })).await;
        clients.push(client);
    }
    for client in &mut clients {
        client.call("one__echo", json!({ "message": "hi" })).await;
        for _ in 0..5 {
            client.next_of("notifications/message").await;
        }
    }
    for client in &mut clients {
        client.ask("ping", json!({})).await;
        let others: Vec<_> =
            client.heard.iter().filter(|it| it["method"] == "notifications/message").collect();
        assert!(others.is_empty(), "of a call of the other client: {others:?}");
    }
}

// G1 X4
#[tokio::test]
async fn handshake_of_a_cold_host_has_the_servers_instructions() {
    for version in ["2025-11-25", NEW] {
        let gateway = World::with([("one", ScriptedStdio::new(&["long-instructions:20"]))]).gateway();
        let mut client = Client::silent(&gateway, version);
        let client_info = json!({ "name": "raw", "version": "1" });
        let greeting = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client_info });
        let (method, params) =
            if version == NEW { ("server/discover", json!({})) } else { ("initialize", greeting) };
        let result = client.ask(method, params).await["result"].clone();
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.contains("## one"), "{version}: {instructions}");
    }
}
