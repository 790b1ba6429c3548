//! From a line in a file to what a server offers: real files, real processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::model::config::Transport;
use mcparley::model::expand::Env;
use mcparley::{ConnectError, Cut, Link, Surface, Surroundings, Why};
use mcparley_testkit::{HttpServer, Scripted};
use mcparley_wire::Params;
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::{CallOptions, Deaf};
use serde_json::json;

use crate::world::World;

const LONG: Duration = Duration::from_secs(20);

/// Configures a scripted server in a user's file, plans, and connects to what the plan says.
async fn configured(scripted: &Scripted) -> Result<Connected<Link>, ConnectError> {
    let entry = json!({"mcpServers": {"it": {"command": scripted.program, "args": scripted.args}}});
    let world = World::with(&[("home/.claude.json", &entry.to_string())]);
    let loaded = world.load();
    let server = loaded.plan.ready().next().unwrap();
    let env: Env = [("PATH", "/usr/bin:/bin"), ("TOKEN", "canary")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let config = server.config.as_ref().unwrap();
    Surroundings::new(&env, &world.paths()).connect(config, Arc::new(Deaf), LONG).await
}

async fn surface(scripts: &[&str]) -> Surface {
    let connected = configured(&Scripted::stdio(scripts)).await.unwrap();
    Surface::fetch(&connected.session).await
}

// L11 T9
#[tokio::test]
async fn everything_a_server_offers_is_fetched_in_both_eras() {
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let scripted = Scripted::stdio(&[]).with("--versions", version);
        let connected = configured(&scripted).await.unwrap();
        let surface = Surface::fetch(&connected.session).await;
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
async fn a_list_without_an_end_is_cut_and_what_was_seen_is_kept() {
    for (script, expected) in [("cursor-same", Cut::Repeated), ("cursor-endless", Cut::Pages(128))] {
        let start = Instant::now();
        let surface = surface(&[script]).await;
        assert!(start.elapsed() < Duration::from_secs(10), "{script}");
        assert!(!surface.tools.is_empty(), "{script}");
        assert!(
            matches!(surface.gaps.as_slice(), [gap] if matches!(&gap.why, Why::Cut(cut) if *cut == expected)),
            "{script}: {:?}",
            surface.gaps
        );
    }
    let many = surface(&["many-tools:5000"]).await;
    assert_eq!(many.tools.len(), 4096);
    assert!(matches!(many.gaps.as_slice(), [gap] if matches!(gap.why, Why::Cut(Cut::Items(4096)))));
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
    let connected = configured(&Scripted::stdio(&[])).await.unwrap();
    let params = Params::new().with("name", &"env").with("arguments", &json!({}));
    let answer = connected.session.call("tools/call", params, CallOptions::default()).await.unwrap();
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
        let connected = Surroundings::new(&Env::default(), &world.paths())
            .connect(config, Arc::new(Deaf), LONG)
            .await
            .unwrap();
        assert_eq!(connected.session.spoken().version().as_str(), version);
        let surface = Surface::fetch(&connected.session).await;
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
        assert!(matches!(config.transport, Transport::Ws(_)));
        let connected = Surroundings::new(&Env::default(), &world.paths())
            .connect(config, Arc::new(Deaf), LONG)
            .await
            .unwrap();
        assert_eq!(connected.session.spoken().version().as_str(), version);
        assert!(matches!(connected.link, Link::Socket(_)));
        let greeted = server.stats()["post"].take();
        assert_eq!(greeted[greeting], 1, "{greeted}");
        assert_eq!(greeted.get("initialize").is_some(), greeting == "initialize", "{greeted}");
        let surface = Surface::fetch(&connected.session).await;
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
    let surroundings = Surroundings::new(&Env::default(), &world.paths());
    surroundings.connect(config, Arc::new(Deaf), LONG).await.unwrap().link.stop().await;
    // Another at the same place, which does not take the greeting.
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    drop(server);
    let server = HttpServer::start_with(&["ws-close:1011"], &["--on", "any", "--port", &port]);
    surroundings.connect(config, Arc::new(Deaf), LONG).await.unwrap_err();
    assert_eq!(server.stats()["post"], json!({"initialize": 1}));
}
