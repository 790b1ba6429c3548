//! Resources of real servers, in both eras: listed, read, mentioned.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use mcparley::call::RequestError;
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::resource::ResourceError;
use mcparley::results::ResourceBody;
use mcparley::{BoxedFuture, Call, CallError, ContentBlock, HostBuilder};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use mcparley_wire::peer::{Handler, Peer};
use mcparley_wire::{Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, http, own, scripted, servers, stdio};
use crate::world::World;

fn text(block: &ContentBlock) -> &str {
    match block {
        ContentBlock::Resource { body: ResourceBody::Text(text), .. } | ContentBlock::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

// X1 T9 L11
#[tokio::test]
async fn a_resource_is_listed_and_read_in_both_eras_and_on_every_transport() {
    for version in ["2025-11-25", "2026-07-28"] {
        let remote = HttpServer::start_with(&[], &["--versions", version]);
        let local = ScriptedStdio::new(&[]).with_option("--versions", version);
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
async fn unknown_server_and_server_without_resources_are_distinguished() {
    let alive = servers([("one", scripted(&["no-capabilities"]))]).ready().await;
    let read = alive.host.read_resource(&ServerName::new("one"), "a:b").await.unwrap_err();
    assert_eq!(read.to_string(), "server `one` offers no resources");
    let error = alive.host.resources(Some(&ServerName::new("on"))).unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `one`?");
    let read = alive.host.read_resource(&ServerName::new("none"), "a:b").await.unwrap_err();
    assert!(matches!(read, ResourceError::Request(RequestError::UnknownServer { .. })), "{read}");
}

// X1: a server with resources need not support templates.
#[tokio::test]
async fn a_server_without_templates_has_no_gap() {
    let alive = servers([("one", scripted(&["list-error:resources/templates/list"]))]).ready().await;
    let gaps = alive.server("one").state.surface.gaps.clone();
    assert_eq!(gaps.len(), 1, "an error other than an unknown method is told: {gaps:?}");
    assert_eq!(gaps[0].method, "resources/templates/list");
    assert_eq!(alive.host.resources(None).unwrap().resources.len(), 1);
}

async fn call(alive: &Alive, tool: &str, arguments: Value) -> Result<mcparley::CallOutcome, CallError> {
    alive.host.call(Call::new(tool, arguments).with_consent(Consent::Given)).await
}

// X1 N9
#[tokio::test]
async fn a_model_lists_and_reads_with_the_hosts_own_tools() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let listed = call(&alive, "ListMcpResources", json!({})).await.unwrap().to_text();
    assert_eq!(listed, r#"[{"server":"one","uri":"test://note","name":"note"}]"#);
    let behind = call(&alive, "ListMcpResources", json!({ "server": "one", "offset": 5 })).await.unwrap();
    assert_eq!(behind.to_text(), "[]");
    let read = json!({ "server": "one", "uri": "test://note" });
    let outcome = call(&alive, "ReadMcpResource", read).await.unwrap();
    assert_eq!(outcome.to_text(), "[resource test://note]\na note");
    let error = call(&alive, "ListMcpResources", json!({ "server": "two" })).await.unwrap_err();
    assert!(error.to_string().contains("there are one"), "{error}");
}

// X1
#[tokio::test]
async fn mentions_are_read_and_unreadable_ones_have_an_error() {
    let alive = servers([("my notes", scripted(&[])), ("broken", scripted(&["exit-start"]))]).ready().await;
    let text = "Compare @my notes:test://note, @broken:a:b and @nobody:x.";
    let mentioned = alive.host.read_mentions(text).await;
    let found: Vec<(&str, &str, bool)> = mentioned
        .resources
        .iter()
        .map(|it| (it.server.as_str(), it.uri.as_str(), it.contents.is_ok()))
        .collect();
    assert_eq!(found, [("my notes", "test://note", true), ("broken", "a:b", false), ("nobody", "x", false)]);
    let blocks = mentioned.resources[0].to_blocks();
    assert_eq!(blocks.len(), 2);
    assert_eq!(super::resources::text(&blocks[1]), "a note");
    let many: String = (0..40).map(|number| format!("@nobody:{number} ")).collect();
    let mentioned = alive.host.read_mentions(&many).await;
    assert_eq!((mentioned.resources.len(), mentioned.left_out), (32, 8));
}

// X1 T9
#[tokio::test]
async fn resource_subscription_reports_changes_in_both_eras() {
    for version in ["2025-11-25", "2026-07-28"] {
        let remote = HttpServer::start_with(&["watched"], &["--versions", version]);
        let local = ScriptedStdio::new(&["watched"]).with_option("--versions", version);
        let alive = servers([("local", stdio(&local)), ("remote", http(&remote))]).ready().await;
        for name in ["local", "remote"] {
            let server = ServerName::new(name);
            let mut first = alive.host.subscribe_to_resource(&server, "test://note").await.unwrap();
            let mut second = alive.host.subscribe_to_resource(&server, "test://note").await.unwrap();
            alive.echo(name, "change it").await.unwrap();
            let both = async { (first.wait_for_update().await, second.wait_for_update().await) };
            let (one, other) = tokio::time::timeout(LONG, both).await.unwrap();
            assert!(one.is_ok() && other.is_ok(), "{version} {name}");
        }
        if version == "2025-11-25" {
            assert_eq!(remote.stats()["post"]["resources/subscribe"], 1, "the server is asked once");
        }
    }
}

// X1: the resource may have changed while the server was disconnected.
#[tokio::test]
async fn a_subscription_outlives_its_connection() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (_folder, log, _) = own("watched-again");
        let scripted = ScriptedStdio::new(&["watched"]).with_option("--versions", version).with_log(&log);
        let alive = servers([("one", stdio(&scripted))]).ready().await;
        let server = ServerName::new("one");
        let mut watched = alive.host.subscribe_to_resource(&server, "test://note").await.unwrap();
        alive.host.reconnect_server(&server).await;
        tokio::time::timeout(LONG, watched.wait_for_update()).await.unwrap().unwrap();
        alive.echo("one", "change it").await.unwrap();
        tokio::time::timeout(LONG, watched.wait_for_update()).await.unwrap().unwrap();
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
async fn server_without_subscriptions_is_an_error() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let error = alive.host.subscribe_to_resource(&ServerName::new("one"), "test://note").await.unwrap_err();
    assert_eq!(error.to_string(), "server `one` does not support resource subscriptions");
    let error = alive.host.subscribe_to_resource(&ServerName::new("two"), "test://note").await.unwrap_err();
    assert!(matches!(error, ResourceError::Request(RequestError::UnknownServer { .. })), "{error}");
}

/// An in-process server of the test whose lists grow.
#[derive(Default)]
struct Growing {
    size: AtomicUsize,
    client: OnceLock<Peer>,
}

impl Handler for Growing {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let numbers = 0..self.size.load(Ordering::Relaxed);
        let answer = match &*incoming.method {
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
        Box::pin(std::future::ready(Ok(RawJson::from_value(&answer).unwrap())))
    }

    fn handle_notice(&self, _notice: Notice) {}

    fn on_connect(&self, peer: &Peer) {
        drop(self.client.set(peer.clone()));
    }
}

// L10
#[tokio::test]
async fn templates_are_fetched_again_with_the_resources() {
    let world = World::new();
    let server = Arc::new(Growing::default());
    let builder = HostBuilder::new(&world.paths(), world.load()).without_built_in_server();
    let host = builder
        .in_process_handler("inside", Arc::<Growing>::clone(&server))
        .start_with(StartPolicy::All)
        .start();
    host.wait_until_ready(LONG).await;
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
async fn rule_that_denies_a_whole_server_denies_its_resources() {
    let deny = |rule: &'static str| {
        servers([("one", scripted(&[])), ("two", scripted(&[]))])
            .wish(move |run_options| run_options.disallowed_tools.push(rule.into()))
    };
    for rule in ["mcp__one", "mcp__one__*"] {
        let alive = deny(rule).ready().await;
        let listed = call(&alive, "ListMcpResources", json!({})).await.unwrap().to_text();
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
