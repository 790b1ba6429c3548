//! Resources of real servers, in both eras: listed, read, mentioned.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use mcparley::model::name::ServerName;
use mcparley::{
    Block, Body, Boxed, Call, CallError, Consent, HostBuilder, RequestError, ResourceError, Start,
};
use mcparley_testkit::{HttpServer, Scripted, log_lines};
use mcparley_wire::peer::{Handler, Peer};
use mcparley_wire::{RawJson, RpcError};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, http, own, scripted, servers, stdio};
use crate::world::World;

fn text(block: &Block) -> &str {
    match block {
        Block::Resource { body: Body::Text(text), .. } | Block::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

// X1 T9 L11
#[tokio::test]
async fn a_resource_is_listed_and_read_in_both_eras_and_on_every_transport() {
    for version in ["2025-11-25", "2026-07-28"] {
        let remote = HttpServer::start_with(&[], &["--versions", version]);
        let local = Scripted::stdio(&[]).with("--versions", version);
        let alive = servers([("local", stdio(&local)), ("remote", http(&remote))]).ready().await;
        let all = alive.host.resources(None).unwrap();
        let listed: Vec<String> =
            all.resources.iter().map(|it| format!("{} {}", it.server, it.uri)).collect();
        assert_eq!(listed, ["local test://note", "remote test://note"], "{version}");
        for name in ["local", "remote"] {
            let read = alive.host.read_resource(&ServerName::new(name), "test://note").await.unwrap();
            assert_eq!(read.content.iter().map(text).collect::<Vec<_>>(), ["a note"], "{version} {name}");
        }
    }
}

// X1
#[tokio::test]
async fn a_server_that_is_not_there_or_has_nothing_is_told_apart() {
    let alive = servers([("one", scripted(&["no-capabilities"]))]).ready().await;
    let read = alive.host.read_resource(&ServerName::new("one"), "a:b").await.unwrap_err();
    assert_eq!(read.to_string(), "server `one` offers no resources");
    let error = alive.host.resources(Some(&ServerName::new("on"))).unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `one`?");
    let read = alive.host.read_resource(&ServerName::new("none"), "a:b").await.unwrap_err();
    assert!(matches!(read, ResourceError::Request(RequestError::UnknownServer { .. })), "{read}");
}

// X1: who has resources need not know the word for templates.
#[tokio::test]
async fn a_server_without_templates_has_no_gap() {
    let alive = servers([("one", scripted(&["list-error:resources/templates/list"]))]).ready().await;
    let gaps = alive.server("one").state.surface.gaps.clone();
    assert_eq!(gaps.len(), 1, "an error other than an unknown method is told: {gaps:?}");
    assert_eq!(gaps[0].method, "resources/templates/list");
    assert_eq!(alive.host.resources(None).unwrap().resources.len(), 1);
}

async fn call(alive: &Alive, tool: &str, arguments: Value) -> Result<mcparley::Outcome, CallError> {
    alive.host.call(Call::new(tool, arguments).with_consent(Consent::Given)).await
}

// X1 N9
#[tokio::test]
async fn a_model_lists_and_reads_with_the_hosts_own_tools() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let listed = call(&alive, "ListMcpResources", json!({})).await.unwrap().text();
    assert_eq!(listed, r#"[{"server":"one","uri":"test://note","name":"note"}]"#);
    let behind = call(&alive, "ListMcpResources", json!({ "server": "one", "offset": 5 })).await.unwrap();
    assert_eq!(behind.text(), "[]");
    let read = json!({ "server": "one", "uri": "test://note" });
    let outcome = call(&alive, "ReadMcpResource", read).await.unwrap();
    assert_eq!(outcome.text(), "[resource test://note]\na note");
    let error = call(&alive, "ListMcpResources", json!({ "server": "two" })).await.unwrap_err();
    assert!(error.to_string().contains("there are one"), "{error}");
}

// X1
#[tokio::test]
async fn mentions_are_read_and_those_that_cannot_be_are_told() {
    let alive = servers([("my notes", scripted(&[])), ("broken", scripted(&["exit-start"]))]).ready().await;
    let text = "Compare @my notes:test://note, @broken:a:b and @nobody:x.";
    let mentioned = alive.host.mentions(text).await;
    let found: Vec<(&str, &str, bool)> = mentioned
        .resources
        .iter()
        .map(|it| (it.server.as_str(), it.uri.as_str(), it.contents.is_ok()))
        .collect();
    assert_eq!(found, [("my notes", "test://note", true), ("broken", "a:b", false), ("nobody", "x", false)]);
    let blocks = mentioned.resources[0].blocks();
    assert_eq!(blocks.len(), 2);
    assert_eq!(super::resources::text(&blocks[1]), "a note");
    let many: String = (0..40).map(|number| format!("@nobody:{number} ")).collect();
    let mentioned = alive.host.mentions(&many).await;
    assert_eq!((mentioned.resources.len(), mentioned.left_out), (32, 8));
}

// X1 T9
#[tokio::test]
async fn whoever_watches_a_resource_is_told_when_it_changes_in_both_eras() {
    for version in ["2025-11-25", "2026-07-28"] {
        let remote = HttpServer::start_with(&["watched"], &["--versions", version]);
        let local = Scripted::stdio(&["watched"]).with("--versions", version);
        let alive = servers([("local", stdio(&local)), ("remote", http(&remote))]).ready().await;
        for name in ["local", "remote"] {
            let server = ServerName::new(name);
            let mut first = alive.host.subscribe(&server, "test://note").await.unwrap();
            let mut second = alive.host.subscribe(&server, "test://note").await.unwrap();
            alive.echo(name, "change it").await.unwrap();
            let both = async { (first.updated().await, second.updated().await) };
            let (one, other) = tokio::time::timeout(LONG, both).await.unwrap();
            assert!(one.is_ok() && other.is_ok(), "{version} {name}");
        }
        if version == "2025-11-25" {
            assert_eq!(remote.stats()["post"]["resources/subscribe"], 1, "the server is asked once");
        }
    }
}

// X1: it may have changed while nobody could tell.
#[tokio::test]
async fn a_subscription_outlives_its_connection() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (_folder, log, _) = own("watched-again");
        let scripted = Scripted::stdio(&["watched"]).with("--versions", version).logged(&log);
        let alive = servers([("one", stdio(&scripted))]).ready().await;
        let server = ServerName::new("one");
        let mut watched = alive.host.subscribe(&server, "test://note").await.unwrap();
        alive.host.reconnect(&server).await;
        tokio::time::timeout(LONG, watched.updated()).await.unwrap().unwrap();
        alive.echo("one", "change it").await.unwrap();
        tokio::time::timeout(LONG, watched.updated()).await.unwrap().unwrap();
        drop(watched);
        if version == "2025-11-25" {
            let is_told = || log_lines(&log).iter().any(|line| line.text.contains("resources/unsubscribe"));
            let deadline = std::time::Instant::now() + LONG;
            while !is_told() {
                assert!(
                    std::time::Instant::now() < deadline,
                    "nobody watches any more, and the server was not told"
                );
                tokio::task::yield_now().await;
            }
        }
    }
}

// X1
#[tokio::test]
async fn a_server_that_cannot_tell_says_so() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let error = alive.host.subscribe(&ServerName::new("one"), "test://note").await.unwrap_err();
    assert_eq!(error.to_string(), "server `one` does not tell when resources change");
    let error = alive.host.subscribe(&ServerName::new("two"), "test://note").await.unwrap_err();
    assert!(matches!(error, ResourceError::Request(RequestError::UnknownServer { .. })), "{error}");
}

/// A server inside the test whose lists grow.
#[derive(Default)]
struct Growing {
    size: AtomicUsize,
    client: OnceLock<Peer>,
}

impl Handler for Growing {
    fn request(&self, method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let numbers = 0..self.size.load(Ordering::Relaxed);
        let answer = match method {
            "initialize" => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "resources": { "listChanged": true } } })
            }
            "resources/list" => {
                json!({ "resources": numbers.map(|it| json!({ "uri": format!("a:{it}") })).collect::<Vec<_>>() })
            }
            "resources/templates/list" => {
                let template = |it| json!({ "uriTemplate": format!("a:{{x{it}}}") });
                json!({ "resourceTemplates": numbers.map(template).collect::<Vec<_>>() })
            }
            _ => return Box::pin(std::future::ready(Err(RpcError::new(-32601, "no such method")))),
        };
        Box::pin(std::future::ready(Ok(RawJson::of(&answer).unwrap())))
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}

    fn joined(&self, peer: &Peer) {
        drop(self.client.set(peer.clone()));
    }
}

// L10
#[tokio::test]
async fn templates_are_fetched_again_with_the_resources() {
    let world = World::new();
    let server = Arc::new(Growing::default());
    let builder = HostBuilder::new(&world.paths(), world.load()).without_own_server();
    let host = builder.server("inside", Arc::<Growing>::clone(&server)).start_with(Start::All).start();
    host.ready(LONG).await;
    let sizes = || {
        let all = host.resources(None).unwrap();
        (all.resources.len(), all.templates.len())
    };
    assert_eq!(sizes(), (0, 0));
    server.size.store(2, Ordering::Relaxed);
    let client = server.client.get().unwrap();
    client.notify("notifications/resources/list_changed", None).await.unwrap();
    let changed = async {
        while sizes() != (2, 2) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, changed).await.unwrap();
}

// P3 H21
#[tokio::test]
async fn what_is_denied_of_a_server_whole_holds_for_its_resources_too() {
    let deny = |rule: &'static str| {
        servers([("one", scripted(&[])), ("two", scripted(&[]))])
            .wish(move |run_options| run_options.disallowed_tools.push(rule.into()))
    };
    for rule in ["mcp__one", "mcp__one__*"] {
        let alive = deny(rule).ready().await;
        let listed = call(&alive, "ListMcpResources", json!({})).await.unwrap().text();
        assert!(listed.contains("\"two\"") && !listed.contains("\"one\""), "{listed}");
        let read = json!({ "server": "one", "uri": "test://note" });
        let denied = call(&alive, "ReadMcpResource", read).await.unwrap_err();
        assert!(matches!(denied, CallError::Denied { .. }), "{denied}");
        assert!(denied.to_string().contains("everything of server `one` is denied"), "{denied}");
    }
    let alive = deny("mcp__one__echo").ready().await;
    let read = json!({ "server": "one", "uri": "test://note" });
    assert!(call(&alive, "ReadMcpResource", read).await.is_ok(), "a tool is not the whole server");
}
