//! The names of each mode, and the transparent mode.

use std::path::Path;

use mcparley::catalog::Budget;
use mcparley::model::name::ServerName;
use mcparley_gateway::{GatewayMode, Naming};
use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::client::{Client, NEW, OLD};
use crate::world::{World, logged};

// G5
#[tokio::test]
async fn names_follow_the_mode_and_calls_find_their_tool() {
    let plain = GatewayMode { for_model: false, ..GatewayMode::default() };
    let cases = [
        (plain.clone(), ["one__echo", "two__echo"], "two__only"),
        (
            GatewayMode { naming: Naming::Mcp, ..plain.clone() },
            ["mcp__one__echo", "mcp__two__echo"],
            "mcp__two__only",
        ),
        (GatewayMode { naming: Naming::Bare, ..plain }, ["one__echo", "two__echo"], "only"),
    ];
    for (mode, echo, only) in cases {
        let servers = [("one", ScriptedStdio::new(&[])), ("two", ScriptedStdio::new(&["also-tool:only"]))];
        let gateway = World::with(servers).allow("mcp__one").allow("mcp__two").in_mode(mode);
        let mut client = Client::new(&gateway, "2025-11-25").await;
        let tools = client.tools().await;
        assert!(tools.contains(&only.to_owned()), "{only}: {tools:?}");
        for name in echo {
            assert!(tools.contains(&name.to_owned()), "{name}: {tools:?}");
            let result = client.call(name, json!({ "message": "hi" })).await;
            assert_eq!(result["content"][0]["text"], "hi", "{name}: {result}");
        }
        // The server lists this tool and does not know it: its own error shows that it was asked.
        let answer =
            client.ask("tools/call", json!({ "name": only, "arguments": { "message": "hi" } })).await;
        assert_eq!(answer["error"]["message"], "Invalid params: no such tool", "{answer}");
        // Tools of the host are for models.
        assert!(!tools.iter().any(|name| name.contains("Mcp") || name == "ReadResult"), "{tools:?}");
    }
}

// G2 N10
#[tokio::test]
async fn search_names_tools_as_the_client_does() {
    let gateway = World::one().allow("mcp__one").within(Budget::always_defer());
    let mut client = Client::new(&gateway, NEW).await;
    for query in ["repeat a message", "select:one__echo"] {
        let found = client.call("ToolSearch", json!({ "query": query })).await;
        assert_eq!(found["structuredContent"]["tools"][0]["name"], "one__echo", "{found}");
        let text: Value = serde_json::from_str(found["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, found["structuredContent"]);
    }
    let result =
        client.call("CallTool", json!({ "name": "one__echo", "arguments": { "message": "hi" } })).await;
    assert_eq!(result["content"][0]["text"], "hi");
}

/// Tools with everything that a definition can have.
fn definitions() -> Value {
    json!({ "tools": [{
        "name": "a.b/c", "title": "T", "description": "d".repeat(5000),
        "inputSchema": { "type": "object", "properties": { "x": { "type": "number", "default": 1.0 } }, "z": 1e2 },
        "outputSchema": { "type": "object", "properties": { "r": {} } },
        "annotations": { "readOnlyHint": true, "own": 1 },
        "icons": [{ "src": "https://example.com/i.png" }],
        "execution": { "taskSupport": "optional" },
        "_meta": { "ui": { "resourceUri": "ui://panel/main" }, "k": "a\u{200b}b" },
        "unknown": [null, { "b": 1, "a": 2 }],
    }] })
}

fn rich_server(folder: &Path) -> ScriptedStdio {
    let file = folder.join("offers.json");
    let offers = json!({
        "tools/list": definitions(),
        "resources/list": { "resources": [{ "uri": "test://a", "name": "a", "_meta": { "k": 1 } }] },
        "resources/read": { "contents": [{ "uri": "test://a", "text": "x", "k": 1.0 }], "_meta": { "own": 1 } },
    });
    std::fs::write(&file, offers.to_string()).unwrap();
    ScriptedStdio::new(&[&format!("offers:{}", file.display())])
}

// G7
#[tokio::test]
async fn transparent_mode_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for behind in ["2025-11-25", NEW] {
        let server = rich_server(folder.path()).with_option("--versions", behind);
        let mode = GatewayMode::transparent(ServerName::new("one"));
        let gateway = World::with([("one", server)]).allow("mcp__one").in_mode(mode);
        for version in OLD.into_iter().chain([NEW]) {
            let mut client = Client::silent(&gateway, version);
            let (method, params) = match version {
                NEW => ("server/discover", json!({})),
                _ => (
                    "initialize",
                    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } }),
                ),
            };
            let greeting = client.ask(method, params).await["result"].clone();
            let info = match version {
                NEW => &greeting["_meta"]["io.modelcontextprotocol/serverInfo"],
                _ => &greeting["serverInfo"],
            };
            assert_ne!(info["name"], "mcparley", "{greeting}");
            assert_eq!(greeting["instructions"], "Tools for tests; `echo` is the harmless one.");
            assert_eq!(greeting["capabilities"]["tools"], json!({ "listChanged": true }));
            assert_eq!(greeting["capabilities"]["resources"], json!({}), "{greeting}");
            let list = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
            assert_eq!(list.to_string(), definitions()["tools"].to_string(), "{version} {behind}");
            let list = client.ask("resources/list", json!({})).await["result"]["resources"].clone();
            assert_eq!(list, json!([{ "uri": "test://a", "name": "a", "_meta": { "k": 1 } }]));
            let read = client.ask("resources/read", json!({ "uri": "test://a" })).await["result"].clone();
            assert_eq!(read["contents"].to_string(), r#"[{"uri":"test://a","text":"x","k":1.0}]"#);
            if behind != NEW {
                assert_eq!(read["_meta"]["own"], 1, "{version} {behind}: {read}");
            }
        }
    }
}

/// The log messages of a call of `echo`, as a client of this revision hears them.
async fn heard_logs(client: &mut Client, tool: &str) -> Vec<Value> {
    let mut echo = json!({ "name": tool, "arguments": { "message": "hi" } });
    match client.version == NEW {
        true => echo["_meta"]["io.modelcontextprotocol/logLevel"] = json!("error"),
        false => drop(client.ask("logging/setLevel", json!({ "level": "error" })).await),
    }
    client.ask("tools/call", echo).await;
    // Messages outside of the call come by another way.
    client.ask("tools/list", json!({})).await;
    let heard = client.heard.drain(..).filter(|it| it["method"] == "notifications/message");
    heard.map(|it| it["params"].clone()).collect()
}

// G7 X8
#[tokio::test]
async fn log_messages_keep_their_data_and_in_transparent_mode_their_logger() {
    for behind in ["2025-11-25", NEW] {
        let server = || ScriptedStdio::new(&["logging"]).with_option("--versions", behind);
        let servers = [("one", server()), ("two", ScriptedStdio::new(&[]))];
        let several = World::with(servers).allow("mcp__one").gateway();
        let mode = GatewayMode::transparent(ServerName::new("one"));
        let one = World::with([("one", server())]).allow("mcp__one").in_mode(mode);
        for version in ["2025-06-18", NEW] {
            for (gateway, tool, logger) in [(&several, "one__echo", "one/kit"), (&one, "echo", "kit")] {
                let mut client = Client::new(gateway, version).await;
                client.ask("tools/list", json!({})).await;
                let heard = heard_logs(&mut client, tool).await;
                let expected = json!({ "level": "error", "logger": logger, "data": { "said": "a error" } });
                assert_eq!(heard.first(), Some(&expected), "{behind} {version}: {heard:?}");
            }
        }
        let told = Client::new(&several, NEW).await.ask("server/discover", json!({})).await;
        assert!(told["result"]["capabilities"]["logging"].is_object(), "{told}");
    }
}

// G5
#[tokio::test]
async fn server_with_a_tool_of_the_name_of_a_built_in_tool_is_listed_beside_it() {
    let mode = GatewayMode { naming: Naming::Bare, ..GatewayMode::default() };
    for name in ["CallTool", "ToolSearch", "ReadResult"] {
        let server = ScriptedStdio::new(&[&format!("also-tool:{name}")]);
        let served = World::with([("one", server)]).allow("mcp__one").within(Budget::always_defer());
        let gateway = served.open_view("bare", served.host().clone(), mode.clone());
        let mut client = Client::new(&gateway, "2025-11-25").await;
        client.call("ToolSearch", json!({ "query": format!("select:one__{name}") })).await;
        let tools = client.tools().await;
        let unique: std::collections::HashSet<_> = tools.iter().collect();
        assert_eq!(unique.len(), tools.len(), "{name}: {tools:?}");
        assert!(tools.contains(&format!("one__{name}")), "{name}: {tools:?}");
    }
}

// G7: with several servers only names and addresses differ; hidden characters are removed.
#[tokio::test]
async fn definitions_keep_everything_but_names_and_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let servers = || [("one", rich_server(folder.path())), ("two", ScriptedStdio::new(&[]))];
    let mode = GatewayMode { for_model: false, ..GatewayMode::default() };
    let gateway = World::with(servers()).in_mode(mode.clone());
    let mut expected = definitions()["tools"][0].clone();
    expected["name"] = json!("one__a.b/c");
    expected["_meta"] = json!({ "ui": { "resourceUri": "ui://one+panel/main" }, "k": "ab" });
    let mut client = Client::new(&gateway, NEW).await;
    let list = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(list[0].to_string(), expected.to_string());

    let raw = World::with(servers()).in_mode(GatewayMode { raw: true, ..mode });
    let list = Client::new(&raw, NEW).await.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(list[0]["_meta"]["k"], "a\u{200b}b");

    let model = World::with(servers()).gateway();
    let list = Client::new(&model, NEW).await.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(list[0]["name"], "one__a_b_c");
    assert!(list[0]["description"].as_str().unwrap().chars().count() < 5000, "cut for models");
    assert_eq!(list[0]["outputSchema"], expected["outputSchema"]);
}

// G7
#[tokio::test]
async fn error_of_a_server_keeps_its_code_except_for_models() {
    // The server lists a tool that it does not know.
    let servers = || [("one", ScriptedStdio::new(&["also-tool:only"]))];
    let mode = GatewayMode::transparent(ServerName::new("one"));
    let gateway = World::with(servers()).allow("mcp__one").in_mode(mode);
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let arguments = json!({ "message": "hi" });
    let answer = client.ask("tools/call", json!({ "name": "only", "arguments": arguments })).await;
    let expected = json!({ "code": -32602, "message": "Invalid params: no such tool" });
    assert_eq!(answer["error"], expected, "{answer}");
    let model = World::with(servers()).allow("mcp__one").gateway();
    let result = Client::new(&model, "2025-11-25").await.call("one__only", arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("no such tool"), "{result}");
}

/// The capabilities that clients of the server have declared, in order.
fn declared_capabilities(log: &Path) -> Vec<Value> {
    let lines = log_lines(log);
    let messages = lines.iter().filter_map(|line| serde_json::from_str::<Value>(&line.text).ok());
    let greetings = messages.filter(|message| message["method"] == "initialize");
    greetings.map(|greeting| greeting["params"]["capabilities"].clone()).collect()
}

// G3 G7
#[tokio::test]
async fn transparent_mode_offers_the_server_the_capabilities_of_each_client() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = logged(&[], &log).with_option("--versions", "2025-11-25");
    let mode = GatewayMode::transparent(ServerName::new("one"));
    let gateway = World::with([("one", server)]).in_mode(mode);
    let clients = [
        ("2025-11-25", json!({})),
        (NEW, json!({ "sampling": {} })),
        ("2025-06-18", json!({ "elicitation": {} })),
        (NEW, json!({})),
    ];
    for (version, capabilities) in clients {
        let mut client = Client::greeting(&gateway, version, capabilities).await;
        assert!(client.tools().await.contains(&"echo".to_owned()));
    }
    let declared = declared_capabilities(&log);
    let kinds = |capabilities: &Value| -> Vec<&'static str> {
        let kinds = ["elicitation", "sampling", "roots"];
        kinds.into_iter().filter(|kind| capabilities.get(*kind).is_some()).collect()
    };
    let mut declared: Vec<_> = declared.iter().map(kinds).collect();
    declared.sort();
    declared.dedup();
    let expected = [vec![], vec!["elicitation"], vec!["elicitation", "sampling", "roots"], vec!["sampling"]];
    assert_eq!(declared, expected, "the third is that of the host itself, which this test starts too");
}

// G7: the lists are the same, and the server says that they have changed.
#[tokio::test]
async fn transparent_mode_passes_every_change_on() {
    let mode = GatewayMode::transparent(ServerName::new("one"));
    let server = ScriptedStdio::new(&["list-changed-storm:1"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").in_mode(mode);
    let mut client = Client::new(&gateway, "2025-11-25").await;
    client.tools().await;
    client.call("echo", json!({ "message": "hi" })).await;
    let change = client.next_of("notifications/tools/list_changed").await;
    assert_eq!(change["method"], "notifications/tools/list_changed");
}

// G7
#[tokio::test]
async fn methods_of_extensions_reach_the_server_in_transparent_mode_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("offers.json");
    std::fs::write(&file, json!({ "skills/list": { "skills": [] } }).to_string()).unwrap();
    let log = folder.path().join("log");
    let server = || logged(&[&format!("offers:{}", file.display())], &log);
    let was_asked = || std::fs::read_to_string(&log).unwrap().contains("vendor/do");
    let gateway = World::with([("one", server())]).gateway();
    let mut client = Client::new(&gateway, NEW).await;
    client.tools().await;
    let answer = client.ask("vendor/do", json!({ "x": 1 })).await;
    assert_eq!((&answer["error"]["code"], was_asked()), (&json!(-32601), false), "{answer}");
    let mode = GatewayMode::transparent(ServerName::new("one"));
    let gateway = World::with([("one", server())]).in_mode(mode);
    let mut client = Client::new(&gateway, NEW).await;
    client.tools().await;
    let answer = client.ask("vendor/do", json!({ "x": 1 })).await;
    assert_eq!((&answer["error"]["code"], was_asked()), (&json!(-32601), true), "{answer}");
    let removed = client.ask("logging/setLevel", json!({ "level": "info" })).await;
    assert_eq!(removed["error"]["code"], -32601, "{removed}");
}

// G7
#[tokio::test]
async fn notifications_of_extensions_pass_in_both_directions_in_transparent_mode_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("offers.json");
    std::fs::write(&file, json!({ "skills/list": { "skills": [] } }).to_string()).unwrap();
    let mode = GatewayMode::transparent(ServerName::new("one"));
    for (mode, tool, is_passed) in [(mode, "echo", true), (GatewayMode::default(), "one__echo", false)] {
        let log = folder.path().join(tool);
        let scripts = [&format!("offers:{}", file.display()), "notice"];
        let gateway = World::with([("one", logged(&scripts, &log))]).allow("mcp__one").in_mode(mode);
        let mut client = Client::new(&gateway, "2025-11-25").await;
        client.tools().await;
        client.tell("notifications/vendor/event", Some(json!({ "own": [1] }))).await;
        client.tell("notifications/tools/call", Some(json!({}))).await;
        client.ask("tools/call", json!({ "name": tool, "arguments": { "message": "hi" } })).await;
        if is_passed {
            let told = client.next_of("notifications/vendor/done").await;
            assert_eq!(told["params"], json!({ "own": { "n": 1.5 } }));
        }
        client.ask("ping", json!({})).await;
        assert!(client.heard.is_empty(), "{:?}", client.heard);
        let got = std::fs::read_to_string(&log).unwrap();
        assert_eq!(got.contains(r#""method":"notifications/vendor/event","params":{"own":[1]}"#), is_passed);
        assert!(!got.contains("notifications/tools/call"), "no method of the protocol");
    }
}
