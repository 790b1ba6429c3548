//! Requests that wait for answers of a client of the new era, and the states they are resumed by.

use mcparley::model::limits::PARKED_SERVER_CALLS;
use mcparley_door::DoorOptions;
use mcparley_gateway::Seal;
use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::door::{OpenDoors, options};
use crate::http_link::HttpLink;
use crate::link::ClientLink;
use crate::world::World;

fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

fn answer() -> Value {
    json!({ "action": "accept", "content": { "name": "Grace" } })
}

/// Sends a request that asks one question, and returns the repeated request with its answer.
async fn ask_once(client: &mut Client, method: &str, params: &Value) -> (String, Value) {
    let asked = client.ask(method, params.clone()).await;
    let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let key = requests.keys().next().unwrap().clone();
    let mut again = params.clone();
    again["inputResponses"] = json!({ key.as_str(): answer() });
    again["requestState"] = asked["result"]["requestState"].clone();
    (key, again)
}

// G3 X5
#[tokio::test]
async fn question_during_a_prompt_or_a_read_is_an_input_request_for_a_new_client() {
    let requests = [
        ("prompts/get", json!({ "name": "one__greet" }), "messages"),
        ("resources/read", json!({ "uri": "one+test://note" }), "contents"),
    ];
    for (method, params, member) in requests {
        for (version, expected) in [("2025-11-25", "elicitation-1"), (NEW, "it")] {
            let folder = tempfile::tempdir().unwrap();
            let log = folder.path().join("log");
            let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", version);
            let server = server.with_option("--on", method).with_log(&log);
            let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
            let mut client = Client::greeting(&gateway, NEW, able()).await;
            client.ask("tools/list", json!({})).await;
            let (key, again) = ask_once(&mut client, method, &params).await;
            assert_eq!(key, expected, "{method} {version}");
            let done = client.ask(method, again).await;
            assert!(done["result"][member].is_array(), "{method} {version}: {done}");
            let got = std::fs::read_to_string(&log).unwrap();
            assert!(got.contains("Grace"), "{method} {version}: the server did not get the answer: {got}");
        }
    }
}

// G3 X5
#[tokio::test]
async fn question_during_a_prompt_is_a_request_to_an_old_client() {
    for version in ["2025-11-25", NEW] {
        let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", version);
        let server = server.with_option("--on", "prompts/get");
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        let mut client = Client::greeting(&gateway, "2025-11-25", able()).await;
        client.ask("tools/list", json!({})).await;
        let id = client.begin("prompts/get", json!({ "name": "one__greet" })).await;
        let question = client.next_of("elicitation/create").await;
        client.reply(&question["id"], answer()).await;
        let done = client.answer(&id).await;
        assert!(done["result"]["messages"].is_array(), "{version}: {done}");
    }
}

// G3 X5
#[tokio::test]
async fn page_that_an_old_server_requires_is_an_input_request_for_a_new_client() {
    let requests = [
        ("tools/call", json!({ "name": "one__echo", "arguments": { "message": "seen" } })),
        ("resources/read", json!({ "uri": "one+test://note" })),
    ];
    for (method, params) in requests {
        let scripts = ["url-required:https://example.com/visit"];
        let server =
            HttpServer::start_with(&scripts, &["--versions", "2025-11-25", "--on", method, "--times", "1"]);
        let gateway = World::with_url("one", server.url()).allow("mcp__one").gateway();
        let mut client = Client::greeting(&gateway, NEW, able()).await;
        client.ask("tools/list", json!({})).await;
        let (key, mut again) = ask_once(&mut client, method, &params).await;
        assert_eq!(key, "page-1", "{method}");
        again["inputResponses"] = json!({ "page-1": { "action": "accept" } });
        let done = client.ask(method, again).await;
        assert_eq!(done["result"]["resultType"], "complete", "{method}: {done}");
    }
}

// G3 B93
#[tokio::test]
async fn state_of_a_parked_request_is_refused_with_one_text_for_every_cause() {
    let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", "2025-11-25");
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::greeting(&gateway, NEW, able()).await;
    client.ask("tools/list", json!({})).await;
    let echo = json!({ "name": "one__echo", "arguments": { "message": "mine" } });
    let (_, again) = ask_once(&mut client, "tools/call", &echo).await;
    let with = |name: &str, value: Value| {
        let mut changed = again.clone();
        changed[name] = value;
        changed
    };
    let mut refusals = vec![
        client.ask("tools/call", with("arguments", json!({ "message": "other" }))).await,
        client.ask("tools/call", with("name", json!("one__fail"))).await,
        client.ask("tools/call", with("requestState", json!("mcparley-parked.00"))).await,
        client.ask("tools/call", with("requestState", json!("a state of some server"))).await,
        client.ask("tools/call", with("requestState", json!(7))).await,
    ];
    let prompt = json!({ "name": "one__greet", "requestState": again["requestState"] });
    refusals.push(client.ask("prompts/get", prompt).await);
    let mut thief = Client::greeting(&gateway, NEW, able()).await;
    refusals.push(thief.ask("tools/call", again.clone()).await);
    let done = client.ask("tools/call", again.clone()).await;
    assert_eq!(done["result"]["resultType"], "complete", "still valid for its own request: {done}");
    refusals.push(client.ask("tools/call", again).await);
    let expected = json!({ "code": -32602, "message": "`requestState` is not valid for this request" });
    for refusal in refusals {
        assert_eq!(refusal["error"], expected);
    }
}

// G3: without a state, answers can only be for a server of the new era.
#[tokio::test]
async fn answers_without_a_state_reach_a_new_server_and_no_old_one() {
    for (version, is_sent) in [("2025-11-25", false), (NEW, true)] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let server = ScriptedStdio::new(&[]).with_option("--versions", version).with_log(&log);
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        let mut client = Client::greeting(&gateway, NEW, able()).await;
        client.ask("tools/list", json!({})).await;
        let prompt = json!({ "name": "one__greet", "inputResponses": { "it": answer() } });
        let done = client.ask("prompts/get", prompt).await;
        assert!(done["result"]["messages"].is_array(), "{done}");
        let got = std::fs::read_to_string(&log).unwrap();
        assert_eq!(got.contains("inputResponses"), is_sent, "{version}: {got}");
    }
}

/// A client of the new era over HTTP, with the token of a principal.
async fn principal(doors: &OpenDoors, name: &str) -> Client {
    let link = HttpLink::connect(doors.address, NEW).await.with_token(&format!("secret-{name}"));
    let mut client = Client::over(ClientLink::Http(Box::new(link)), NEW);
    client.greet(able()).await;
    client.ask("tools/list", json!({})).await;
    client
}

// G3 B93: clients of several principals share one connection to the server.
#[tokio::test]
async fn state_of_a_new_server_is_valid_for_its_own_principal_and_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", NEW).with_log(&log);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let doors = OpenDoors::open_for_two(&gateway, &folder.path().join("door")).await;
    let (mut owner, mut thief) = (principal(&doors, "a").await, principal(&doors, "b").await);
    let echo = json!({ "name": "one__echo", "arguments": { "message": "mine" } });
    let (_, again) = ask_once(&mut owner, "tools/call", &echo).await;
    let mut changed = again.clone();
    changed["arguments"]["message"] = json!("other");
    let mut invented = again.clone();
    invented["requestState"] = json!("after 1");
    let refusals = [
        thief.ask("tools/call", again.clone()).await,
        owner.ask("tools/call", changed).await,
        owner.ask("tools/call", invented).await,
    ];
    for refusal in refusals {
        assert_eq!(refusal["error"]["message"], "`requestState` is not valid for this request", "{refusal}");
    }
    let done = owner.ask("tools/call", again).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let got = std::fs::read_to_string(&log).unwrap();
    assert_eq!(got.matches("\"requestState\":\"after ").count(), 1, "{got}");
}

// G3 X5: a server cannot ask in the name of another one.
#[tokio::test]
async fn message_of_a_new_server_begins_with_its_name_beside_other_servers() {
    let asking = || ScriptedStdio::new(&["asks:form"]).with_option("--versions", NEW);
    let gateway = World::with([("one", asking()), ("two", asking())]).allow("mcp__one").gateway();
    let mut client = Client::greeting(&gateway, NEW, able()).await;
    client.ask("tools/list", json!({})).await;
    let echo = json!({ "name": "one__echo", "arguments": { "message": "x" } });
    let asked = client.ask("tools/call", echo).await["result"].clone();
    assert_eq!(asked["inputRequests"]["it"]["params"]["message"], "[one] Who are you?", "{asked}");
}

// G3: each parked call stays in flight at its server.
#[tokio::test]
async fn one_client_parks_sixteen_calls_at_one_server_and_more_at_another() {
    let asking = || ScriptedStdio::new(&["asks:form"]).with_option("--versions", "2025-11-25");
    let servers = [("one", HttpServer::start_with(&["asks:form"], &["--versions", "2025-11-25"]))];
    let mut world = World::with([("two", asking())]);
    world.add_url("one", "http", servers[0].1.url());
    let gateway = world.allow("mcp__one").allow("mcp__two").gateway();
    let mut client = Client::greeting(&gateway, NEW, able()).await;
    client.ask("tools/list", json!({})).await;
    for number in 0..=PARKED_SERVER_CALLS {
        let params = json!({ "name": "one__echo", "arguments": { "message": number.to_string() } });
        let answer = client.ask("tools/call", params).await;
        match number < PARKED_SERVER_CALLS {
            true => assert_eq!(answer["result"]["resultType"], "input_required", "{number}: {answer}"),
            false => assert_eq!(answer["error"]["code"], -32603, "{answer}"),
        }
    }
    let other = json!({ "name": "two__echo", "arguments": { "message": "x" } });
    let answer = client.ask("tools/call", other).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

// G3: nothing has reached the server yet, so nothing is unknown.
#[tokio::test]
async fn call_that_waited_for_permission_starts_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("door/key");
    std::fs::create_dir_all(folder.path().join("door")).unwrap();
    let log = folder.path().join("log");
    let open = async || {
        let served = World::with([("one", ScriptedStdio::new(&[]).with_log(&log))]).gateway();
        let seal = Seal::from_file(&key).unwrap();
        let doors = OpenDoors::open(&served, DoorOptions { seal, ..options() }).await;
        (served, doors)
    };
    let add = json!({ "name": "one__add", "arguments": { "a": 1, "b": 2 } });
    let ask = async |doors: &OpenDoors, params: &Value| {
        let reply = doors.post_capable(&[], "tools/call", params.clone(), &able()).await;
        reply.json().await["result"].clone()
    };
    let again_with = |asked: &Value| {
        let mut again = add.clone();
        let allow = json!({ "action": "accept", "content": { "decision": "allow" } });
        again["inputResponses"] = json!({ "mcparley-permission": allow });
        again["requestState"] = asked["requestState"].clone();
        again
    };
    let first = open().await;
    let asked = ask(&first.1, &add).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    drop(first);
    let second = open().await;
    let asked = ask(&second.1, &again_with(&asked)).await;
    assert!(asked["inputRequests"]["mcparley-permission"].is_object(), "asked again: {asked}");
    assert!(!std::fs::read_to_string(&log).unwrap().contains("tools/call"));
    let done = ask(&second.1, &again_with(&asked)).await;
    assert_eq!(done["content"][0]["text"], "3", "{done}");
}
