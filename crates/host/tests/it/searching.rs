//! Tool search: the answer for a model, which permits no call.

use std::sync::Arc;

use mcparley::catalog::{Budget, SearchQuery};
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::search::UnsearchedReason;
use mcparley::{BoxedFuture, Call, CallError};
use mcparley_testkit::AuthServer;
use mcparley_wire::peer::Handler;
use mcparley_wire::{Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, scripted, servers, with};
use crate::signing::{Home, guarded};

/// Calls `ToolSearch` as a model does.
async fn search(alive: &Alive, query: &str) -> Value {
    let outcome = alive.host.call(Call::new("ToolSearch", json!({ "query": query }))).await.unwrap();
    assert!(!outcome.is_error);
    let structured = outcome.structured.as_ref().unwrap().decode::<Value>().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&outcome.to_text()).unwrap(), structured);
    structured
}

fn names(answer: &Value) -> Vec<&str> {
    answer["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

// N9 N10 P1
#[tokio::test]
async fn search_returns_enough_to_call_and_permits_no_call() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let answer = search(&alive, "echo a message").await;
    assert_eq!(names(&answer)[0], "mcp__one__echo");
    let found = &answer["tools"][0];
    assert_eq!(found["inputSchema"]["properties"]["message"]["type"], "string", "{found}");
    assert!(found["description"].is_string());
    let selected = search(&alive, "select:mcp__one__echo").await;
    assert_eq!(selected["tools"][0]["inputSchema"], found["inputSchema"]);
    assert_eq!(answer["missing"], Value::Null);
    let error = alive.host.call(Call::new("mcp__one__echo", json!({ "message": "hi" }))).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
}

// N10 P3
#[tokio::test]
async fn denied_tool_is_neither_listed_nor_found_and_rule_changes_apply_at_once() {
    let alive = servers([("one", scripted(&[]))]).deny("mcp__one__echo").ready().await;
    let offer = alive.host.publish_catalog().model_offer(&Budget::without_limit());
    let is_listed = |name: &str| offer.listed.iter().any(|entry| entry.name.as_str() == name);
    assert!(is_listed("mcp__one__add") && !is_listed("mcp__one__echo"));
    assert!(!names(&search(&alive, "echo").await).contains(&"mcp__one__echo"));
    let answer = search(&alive, "select:mcp__one__echo,mcp__one__add").await;
    assert_eq!(names(&answer), ["mcp__one__add"]);
    assert_eq!(answer["unknown"][0]["name"], "mcp__one__echo");
    let denied = servers([("one", scripted(&[]))]).deny("ToolSearch").ready().await;
    let error = denied.host.call(Call::new("ToolSearch", json!({ "query": "echo" }))).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");

    let rules = json!({ "permissions": { "deny": ["mcp__one__add", "ToolSearch"] } });
    alive.world.write("home/.claude/settings.json", &rules.to_string());
    alive.host.reload().await;
    let error = alive.host.call(Call::new("ToolSearch", json!({ "query": "add" }))).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
    let offer = alive.host.publish_catalog().model_offer(&Budget::without_limit());
    assert_eq!(offer.denied.len(), 3);
}

// N10
#[tokio::test]
async fn the_answer_says_which_servers_are_missing_and_why() {
    let entries =
        [("good", scripted(&[])), ("bad", scripted(&["exit-start"])), ("odd", scripted(&["list-error"]))];
    let alive = servers(entries).ready().await;
    let answer = search(&alive, "quetzalcoatl").await;
    assert!(names(&answer).is_empty());
    assert!(answer["note"].as_str().unwrap().contains("`good`"), "{answer}");
    let missing = answer["missing"].as_array().unwrap();
    let of = |name: &str| missing.iter().find(|server| server["server"] == name).unwrap();
    assert_eq!(missing.len(), 2, "{answer}");
    assert_eq!(of("bad")["state"], "failed");
    assert!(of("bad")["untrustedError"].as_str().unwrap().contains("code 3"), "{answer}");
    assert_eq!(of("odd")["state"], "connected");
    assert!(of("odd")["untrustedError"].is_string());
}

// N10 A5
#[tokio::test]
async fn search_names_the_sign_in_tool_of_a_server_that_requires_it() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let search = it.host.search_tools(&SearchQuery::new("quetzalcoatl")).await;
    let why: Vec<&UnsearchedReason> = search.missing.iter().map(|absent| &absent.why).collect();
    let [UnsearchedReason::NeedsAuth { authenticate: Some(tool) }] = why.as_slice() else {
        panic!("{why:?}")
    };
    assert_eq!(tool.as_str(), "mcp__s__authenticate");
    let found = it.host.search_tools(&SearchQuery::new("sign in")).await.found;
    assert_eq!(found.tools[0].name.as_str(), "mcp__s__authenticate");
}

// N10 L12
#[tokio::test]
async fn search_connects_unknown_servers_and_selection_of_known_tools_connects_none() {
    let entries = [("one", scripted(&[])), ("two", with(scripted(&[]), "cwd", "/"))];
    let alive = servers(entries).start_with(StartPolicy::Only(vec![ServerName::new("one")])).start();
    alive.reach("one").await;
    assert_eq!(names(&search(&alive, "select:mcp__one__echo").await), ["mcp__one__echo"]);
    assert_eq!(alive.status("two").as_str(), "pending");
    let found = names(&search(&alive, "echo").await).join(" ");
    assert!(found.contains("mcp__two__echo"), "{found}");
    let only = SearchQuery::new("echo").for_server(ServerName::new("two"));
    let only = alive.host.search_tools(&only).await.found.tools;
    assert!(!only.is_empty() && only.iter().all(|entry| entry.server().unwrap().as_str() == "two"));
}

/// A server inside this program whose tools have long definitions.
struct Wordy;

const WORDY_TOOLS: usize = 40;

impl Handler for Wordy {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let argument = json!({ "type": "string", "description": "How the plants are watered. ".repeat(20) });
        let tool = |number: usize| {
            json!({
                "name": format!("water_plants_of_bed_{number}"),
                "description": "Waters the plants of one bed of the garden.\n".repeat(50),
                "inputSchema": {
                    "type": "object", "required": ["amount_of_water"],
                    "properties": {
                        "amount_of_water": argument, "how_often": argument, "first_day": argument,
                        "days": { "type": "array", "items": argument },
                    },
                },
            })
        };
        let answer = match &*incoming.method {
            "server/discover" => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
            }
            _ => json!({ "tools": (0..WORDY_TOOLS).map(tool).collect::<Vec<_>>() }),
        };
        Box::pin(std::future::ready(
            RawJson::from_value(&answer).map_err(|_| RpcError::new(-32603, "no answer")),
        ))
    }

    fn handle_notice(&self, _notice: Notice) {}
}

/// The largest usual answer of a search, text and structured content together.
const SMALL: usize = 6_000;

// N10
#[tokio::test]
async fn answer_is_small_however_long_the_definitions_are() {
    let alive = servers([]).start_as(|builder| builder.in_process_handler("garden", Arc::new(Wordy)));
    alive.reach("garden").await;
    let answer = search(&alive, "water the plants").await;
    let found = answer["tools"].as_array().unwrap();
    assert_eq!(found.len(), 8);
    assert!(answer.to_string().len() * 2 < SMALL, "{} bytes", answer.to_string().len());
    let first = &found[0];
    let signature = "(amount_of_water: string, how_often?: string, first_day?: string, days?: string[])";
    assert_eq!(first["signature"], signature);
    assert_eq!(first["description"], "Waters the plants of one bed of the garden.");
    assert_eq!(first["inputSchema"], Value::Null);
    assert!(answer["note"].as_str().unwrap().contains("`select:NAME`"), "{answer}");
    let selected = search(&alive, &format!("select:{}", first["name"].as_str().unwrap())).await;
    let whole = &selected["tools"][0];
    assert_eq!(whole["inputSchema"]["required"], json!(["amount_of_water"]));
    assert!(whole["description"].as_str().unwrap().len() > 1_000 && whole["signature"].is_null(), "{whole}");
}

// N10
#[tokio::test]
async fn search_index_is_built_in_the_background_once() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let catalog = alive.host.catalog();
    assert!(!catalog.is_search_prepared(), "nothing has asked for it");
    alive.host.prepare_search();
    alive.host.prepare_search();
    let built = async {
        while !catalog.is_search_prepared() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, built).await.unwrap();
    assert!(!catalog.search_tools(&SearchQuery::new("echo")).tools.is_empty());
}

/// A server inside this program that never answers.
struct Mute;

impl Handler for Mute {
    fn handle_request(&self, _incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(std::future::pending())
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// N10
#[tokio::test(start_paused = true)]
async fn search_waits_five_seconds_for_a_server_and_names_it() {
    let alive = servers([])
        .start_as(|builder| builder.in_process_handler("mute", Arc::new(Mute)).offer_built_in_server());
    let begun = tokio::time::Instant::now();
    let search = alive.host.search_tools(&SearchQuery::new("list servers")).await;
    assert_eq!(begun.elapsed().as_secs(), 5);
    let missing: Vec<_> = search.missing.iter().map(|absent| (absent.server.as_str(), &absent.why)).collect();
    assert_eq!(missing, [("mute", &UnsearchedReason::Pending)]);
    assert_eq!(search.found.tools[0].name.as_str(), "mcp__mcparley__list_servers");
}
