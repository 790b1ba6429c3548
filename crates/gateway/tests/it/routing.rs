//! Resources, prompts, completions and skills of several servers, with addresses that find their server.

use std::path::Path;

use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::client::{Client, NEW, OLD};
use crate::world::{World, logged};

/// The offers of a server, by method.
fn offers() -> Value {
    json!({
        "prompts/list": { "prompts": [{ "name": "greet", "x": 1.5, "arguments": [{ "name": "who" }] }] },
        "prompts/get": { "messages": [
            { "role": "user", "content": { "type": "text", "text": "read test://a" } },
            { "role": "user", "content": { "type": "resource", "resource": { "uri": "test://a", "text": "a" } } },
        ] },
        "resources/list": { "resources": [
            { "uri": "test://a", "name": "a", "unknown": { "k": [1.0] } },
            { "uri": "ui://panel/main", "name": "panel", "mimeType": "text/html" },
        ] },
        "resources/templates/list": { "resourceTemplates": [{ "uriTemplate": "test://{id}", "name": "t" }] },
        "resources/read": { "contents": [{ "uri": "test://a", "text": "see test://a" }] },
        "skills/list": { "skills": [{ "uri": "skill://s/SKILL.md", "name": "s", "digest": "sha256:00" }] },
        "skills/get": { "skill": { "uri": "skill://s/SKILL.md", "name": "s", "digest": "sha256:00" } },
    })
}

fn server(folder: &Path, name: &str, version: &str) -> ScriptedStdio {
    let file = folder.join("offers.json");
    std::fs::write(&file, offers().to_string()).unwrap();
    let offers = format!("offers:{}", file.display());
    logged(&[&offers, "completions"], &folder.join(name)).with_option("--versions", version)
}

fn keys(answer: &Value, list: &str, key: &str) -> Vec<String> {
    let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

// G5 X2 X4 X8
#[tokio::test]
async fn everything_of_several_servers_is_listed_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (server(folder.path(), "one", "2025-11-25"), server(folder.path(), "two", NEW));
    let gateway = World::with([("one", one), ("two", two)]).gateway();
    for version in OLD.into_iter().chain([NEW]) {
        let mut client = Client::new(&gateway, version).await;
        let prompts = client.ask("prompts/list", json!({})).await;
        assert_eq!(keys(&prompts, "prompts", "name"), ["one__greet", "two__greet"]);
        assert_eq!(prompts["result"]["prompts"][0]["x"], json!(1.5));
        let resources = client.ask("resources/list", json!({})).await;
        let uris = ["one+test://a", "ui://one+panel/main", "two+test://a", "ui://two+panel/main"];
        assert_eq!(keys(&resources, "resources", "uri"), uris);
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(
            keys(&templates, "resourceTemplates", "uriTemplate"),
            ["one+test://{id}", "two+test://{id}"]
        );
        for server in ["one", "two"] {
            let uri = format!("{server}+test://a");
            let read = client.ask("resources/read", json!({ "uri": uri })).await["result"].clone();
            assert_eq!(read["contents"], json!([{ "uri": uri, "text": "see test://a" }]), "{version}");
            let prompt = client.ask("prompts/get", json!({ "name": format!("{server}__greet") })).await;
            let messages = &prompt["result"]["messages"];
            assert_eq!(messages[0]["content"]["text"], "read test://a", "text is not rewritten");
            assert_eq!(messages[1]["content"]["resource"]["uri"], uri, "{version} {prompt}");
            for reference in [
                json!({ "type": "ref/prompt", "name": format!("{server}__greet") }),
                json!({ "type": "ref/resource", "uri": format!("{server}+test://{{id}}") }),
            ] {
                let wanted = json!({ "ref": reference, "argument": { "name": "who", "value": "a" } });
                let answer = client.ask("completion/complete", wanted).await;
                assert_eq!(answer["result"]["completion"]["values"], json!(["a1", "a2", "a3"]), "{answer}");
            }
        }
        let skills = client.ask("skills/list", json!({})).await;
        assert_eq!(keys(&skills, "skills", "uri")[1], "two+skill://s/SKILL.md", "{skills}");
        assert_eq!(skills["result"]["skills"][0]["digest"], "sha256:00");
        let skill = client.ask("skills/get", json!({ "uri": "two+skill://s/SKILL.md" })).await;
        assert_eq!(skill["result"]["skill"]["uri"], "two+skill://s/SKILL.md", "{skill}");
    }
    let reads = |name: &str| {
        let lines = log_lines(&folder.path().join(name));
        lines.iter().filter(|line| line.text.contains(r#""method":"resources/read""#)).count()
    };
    assert_eq!((reads("one"), reads("two")), (5, 5));
    assert!(!log_lines(&folder.path().join("one")).iter().any(|line| line.text.contains("one+")));
}

// G5 B94
#[tokio::test]
async fn unknown_and_hidden_addresses_and_prompts_reach_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ["one", "two"].map(|name| (name, server(folder.path(), name, "2025-11-25")));
    let gateway = World::with(servers).deny("mcp__two").gateway();
    for (version, code) in [("2025-11-25", -32002), (NEW, -32602)] {
        let mut client = Client::new(&gateway, version).await;
        let prompts = client.ask("prompts/list", json!({})).await;
        assert_eq!(keys(&prompts, "prompts", "name"), ["one__greet"]);
        for uri in ["two+test://a", "ui://two+panel/main", "none+test://a", "test://b", ""] {
            let answer = client.ask("resources/read", json!({ "uri": uri })).await;
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        // An address as it stands in a text: only one server has it.
        let answer = client.ask("resources/read", json!({ "uri": "test://a" })).await;
        assert_eq!(answer["result"]["contents"][0]["uri"], "one+test://a", "{answer}");
        let answer = client.ask("prompts/get", json!({ "name": "two__greet" })).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let reference = json!({ "type": "ref/prompt", "name": "two__greet" });
        let wanted = json!({ "ref": reference, "argument": { "name": "who", "value": "a" } });
        assert_eq!(client.ask("completion/complete", wanted).await["error"]["code"], -32602);
    }
    let sent = ["resources/read", "prompts/get", "completion/complete"];
    let lines = log_lines(&folder.path().join("two"));
    assert!(!lines.iter().any(|line| sent.iter().any(|method| line.text.contains(method))));
}

// G5
#[tokio::test]
async fn capabilities_are_those_of_all_servers_together() {
    let (plain, rich) = (ScriptedStdio::new(&[]), ScriptedStdio::new(&["watched", "completions"]));
    let gateway = World::with([("plain", plain), ("rich", rich)]).gateway();
    let mut client = Client::new(&gateway, NEW).await;
    let found = client.ask("server/discover", json!({})).await["result"]["capabilities"].clone();
    assert_eq!(found["resources"], json!({ "listChanged": true, "subscribe": true }), "{found}");
    assert_eq!((&found["prompts"], &found["completions"]), (&json!({ "listChanged": true }), &json!({})));
}

// G1 X3: one subscription at the server, however many clients.
#[tokio::test]
async fn resource_updates_reach_the_subscribers_of_both_eras() {
    for behind in ["2025-11-25", NEW] {
        let server = ScriptedStdio::new(&["watched"]).with_option("--versions", behind);
        let other = ScriptedStdio::new(&[]);
        let gateway = World::with([("one", server), ("other", other)]).allow("mcp__one").gateway();
        let mut old = Client::new(&gateway, "2025-11-25").await;
        let mut new = Client::new(&gateway, NEW).await;
        let uri = "one+test://note";
        assert_eq!(old.ask("resources/subscribe", json!({ "uri": uri })).await["result"], json!({}));
        let refused = old.ask("resources/subscribe", json!({ "uri": "other+test://note" })).await;
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
        let wanted = json!({ "resourceSubscriptions": [uri, "other+test://note"] });
        new.begin_as(&json!(77), "subscriptions/listen", json!({ "notifications": wanted })).await;
        let taken = new.next_of("notifications/subscriptions/acknowledged").await;
        assert_eq!(taken["params"]["notifications"], json!({ "resourceSubscriptions": [uri] }));
        old.call("one__echo", json!({ "message": "x" })).await;
        let told = old.next_of("notifications/resources/updated").await;
        assert_eq!(told["params"], json!({ "uri": uri }), "{behind}");
        let told = new.next_of("notifications/resources/updated").await;
        assert_eq!(told["params"]["uri"], uri, "{behind}");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 77);
        assert_eq!(old.ask("resources/unsubscribe", json!({ "uri": uri })).await["result"], json!({}));
        old.call("one__echo", json!({ "message": "x" })).await;
        new.next_of("notifications/resources/updated").await;
        assert!(old.heard.iter().all(|it| it["method"] != "notifications/resources/updated"), "{behind}");
    }
}

// G1
#[tokio::test]
async fn changes_of_prompts_and_resources_are_announced() {
    let mut gateway = World::one().gateway();
    let mut old = Client::new(&gateway, "2025-11-25").await;
    let mut new = Client::new(&gateway, NEW).await;
    old.ask("prompts/list", json!({})).await;
    old.ask("resources/list", json!({})).await;
    let wanted = json!({ "promptsListChanged": true, "resourcesListChanged": true });
    new.begin_as(&json!("s"), "subscriptions/listen", json!({ "notifications": wanted })).await;
    new.next_of("notifications/subscriptions/acknowledged").await;
    gateway.world.add("second", &ScriptedStdio::new(&[]));
    for client in [&mut old, &mut new] {
        client.next_of("notifications/prompts/list_changed").await;
        client.next_of("notifications/resources/list_changed").await;
        let prompts = client.ask("prompts/list", json!({})).await;
        assert_eq!(keys(&prompts, "prompts", "name"), ["one__greet", "second__greet"]);
        // It never listed or asked for tools, so it is not told about them.
        assert!(client.heard.iter().all(|it| it["method"] != "notifications/tools/list_changed"));
    }
}
