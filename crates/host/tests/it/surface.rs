//! From a line in a file to the tools of a server: real files, real processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::model::config::TransportConfig;
use mcparley::model::expand::Env;
use mcparley::pool::connect::{ConnectContext, ServerLink};
use mcparley::pool::connect_error::ConnectError;
use mcparley::pool::surface::{GapReason, ListCut, Surface};
use mcparley_testkit::{HttpServer, ScriptedStdio};
use mcparley_wire::RequestParams;
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::peer::{PeerCallOptions, PingHandler};
use serde_json::json;

use crate::world::World;

const LONG: Duration = Duration::from_secs(20);

/// Configures a scripted server in a user's file, plans, and connects to the planned server.
async fn configured(scripted: &ScriptedStdio) -> Result<EstablishedConnection<ServerLink>, ConnectError> {
    let entry = json!({"mcpServers": {"it": {"command": scripted.program, "args": scripted.args}}});
    let world = World::with(&[("home/.claude.json", &entry.to_string())]);
    let loaded = world.load();
    let server = loaded.plan.ready_servers().next().unwrap();
    let env: Env = [("PATH", "/usr/bin:/bin"), ("TOKEN", "canary")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let config = server.config.as_ref().unwrap();
    ConnectContext::new(&env, &world.paths()).connect(config, Arc::new(PingHandler), LONG).await
}

async fn surface(scripts: &[&str]) -> Surface {
    let connected = configured(&ScriptedStdio::new(scripts)).await.unwrap();
    Surface::fetch_all(&connected.session).await
}

// L11 T9
#[tokio::test]
async fn all_lists_of_a_server_are_fetched_in_both_eras() {
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let scripted = ScriptedStdio::new(&[]).with_option("--versions", version);
        let connected = configured(&scripted).await.unwrap();
        let surface = Surface::fetch_all(&connected.session).await;
        let names: Vec<&str> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert!(names.contains(&"echo") && names.contains(&"add"), "{version}: {names:?}");
        let echo = surface.tools.iter().find(|tool| tool.name.as_str() == "echo").unwrap();
        assert!(echo.hints.read_only);
        assert_eq!(surface.withheld, []);
        assert!(surface.gaps.is_empty(), "{:?}", surface.gaps);
    }
}

// N8
#[tokio::test]
async fn a_bad_tool_is_withheld_and_the_good_ones_stay() {
    let good = surface(&[]).await.tools.len();
    let surface = surface(&["bad-tools"]).await;
    assert!(surface.tools.len() >= good.min(2), "{:?}", surface.tools.len());
    assert!(surface.withheld.len() >= 4, "{:?}", surface.withheld);
    assert!(surface.withheld.iter().all(|withheld| !withheld.to_string().is_empty()));
}

// F64
#[tokio::test]
async fn endless_list_is_cut_and_the_fetched_part_is_kept() {
    for (script, expected) in [("cursor-same", ListCut::Repeated), ("cursor-endless", ListCut::Pages(400))] {
        let start = Instant::now();
        let surface = surface(&[script]).await;
        assert!(start.elapsed() < Duration::from_secs(10), "{script}");
        assert!(!surface.tools.is_empty(), "{script}");
        assert!(
            matches!(surface.gaps.as_slice(), [gap] if matches!(&gap.reason, GapReason::Cut(cut) if *cut == expected)),
            "{script}: {:?}",
            surface.gaps
        );
    }
    let many = surface(&["many-tools:20001"]).await;
    assert_eq!(many.tools.len(), 20_000);
    assert!(
        matches!(many.gaps.as_slice(), [gap] if matches!(gap.reason, GapReason::Cut(ListCut::Items(20_000))))
    );
}

// T9
#[tokio::test]
async fn an_error_to_one_list_leaves_the_others_alone() {
    let whole = surface(&[]).await;
    let surface = surface(&["list-error:tools/list"]).await;
    assert!(surface.tools.is_empty());
    assert_eq!(surface.prompts.len(), whole.prompts.len());
    assert_eq!(surface.resources.len(), whole.resources.len());
    assert!(surface.gaps[0].to_string().starts_with("`tools/list`: the server answered with error -32603"));
}

// B57 T1
#[tokio::test]
async fn a_configured_server_is_called_and_sees_no_secret_of_ours() {
    let connected = configured(&ScriptedStdio::new(&[])).await.unwrap();
    let params = RequestParams::new().with_member("name", &"env").with_member("arguments", &json!({}));
    let answer = connected.session.call("tools/call", params, PeerCallOptions::default()).await.unwrap();
    let text = String::from_utf8_lossy(answer.as_bytes()).into_owned();
    assert!(text.contains("CLAUDE_PROJECT_DIR"), "{text}");
    assert!(!text.contains("canary"), "{text}");
}

// T3 T9 L11
#[tokio::test]
async fn a_server_behind_a_url_offers_the_same_in_both_eras() {
    for version in ["2025-06-18", "2026-07-28"] {
        let server = HttpServer::start_with(&[], &["--versions", version]);
        let entry = json!({"mcpServers": {"it": {"url": server.url(), "headers": {"X-Mark": "1"}}}});
        let world = World::with(&[("home/.claude.json", &entry.to_string())]);
        let loaded = world.load();
        let config = loaded.plan.servers[0].config.as_ref().unwrap();
        let connected = ConnectContext::new(&Env::default(), &world.paths())
            .connect(config, Arc::new(PingHandler), LONG)
            .await
            .unwrap();
        assert_eq!(connected.session.protocol().version().as_str(), version);
        let surface = Surface::fetch_all(&connected.session).await;
        assert!(surface.tools.iter().any(|tool| tool.name.as_str() == "echo"), "{version}");
        assert!(surface.gaps.is_empty(), "{version}: {:?}", surface.gaps);
        connected.link.stop().await;
        let sessions = u64::from(version != "2026-07-28");
        assert_eq!(server.stats()["delete"], sessions, "{version}: a session is ended, no session is not");
    }
}

// T4 T9
#[tokio::test]
async fn a_server_behind_a_socket_is_greeted_in_the_old_way_unless_its_entry_says_otherwise() {
    for (era, version, greeting) in
        [("auto", "2025-11-25", "initialize"), ("new", "2026-07-28", "server/discover")]
    {
        let server = HttpServer::start_with(&[], &["--versions", "2026-07-28,2025-11-25"]);
        let entry = json!({"mcpServers": {"it": {"url": server.socket_url(), "era": era}}});
        let world = World::with(&[("home/.claude.json", &entry.to_string())]);
        let loaded = world.load();
        let config = loaded.plan.servers[0].config.as_ref().unwrap();
        assert!(matches!(config.transport, TransportConfig::Ws(_)));
        let connected = ConnectContext::new(&Env::default(), &world.paths())
            .connect(config, Arc::new(PingHandler), LONG)
            .await
            .unwrap();
        assert_eq!(connected.session.protocol().version().as_str(), version);
        assert!(matches!(connected.link, ServerLink::WebSocket(_)));
        let greeted = server.stats()["post"].take();
        assert_eq!(greeted[greeting], 1, "{greeted}");
        assert_eq!(greeted.get("initialize").is_some(), greeting == "initialize", "{greeted}");
        let surface = Surface::fetch_all(&connected.session).await;
        assert!(surface.tools.iter().any(|tool| tool.name.as_str() == "echo"), "{version}");
        connected.link.stop().await;
    }
}

// T4 T9
#[tokio::test]
async fn a_server_behind_a_socket_is_not_probed_when_it_fails_later() {
    let server = HttpServer::start(&[]);
    let entry = json!({"mcpServers": {"it": {"type": "ws", "url": server.socket_url()}}});
    let world = World::with(&[("home/.claude.json", &entry.to_string())]);
    let loaded = world.load();
    let config = loaded.plan.servers[0].config.as_ref().unwrap();
    let context = ConnectContext::new(&Env::default(), &world.paths());
    context.connect(config, Arc::new(PingHandler), LONG).await.unwrap().link.stop().await;
    // Another at the same place, which does not take the greeting.
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    drop(server);
    let server = HttpServer::start_with(&["ws-close:1011"], &["--on", "any", "--port", &port]);
    context.connect(config, Arc::new(PingHandler), LONG).await.unwrap_err();
    assert_eq!(server.stats()["post"], json!({"initialize": 1}));
}
