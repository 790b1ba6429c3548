//! Era negotiation, and that the probe breaks no server.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{ScriptedStdio, log_lines};
use mcparley_wire::handshake::{Introduction, connect};
use mcparley_wire::{AgreedProtocol, Failure, FailurePhase, ProtocolVersion};
use serde_json::json;

use crate::world::{LONG, Server, call, introduction, log_file, text};

// T9
#[tokio::test]
async fn every_revision_is_agreed_on_and_calls_work_in_it() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut server = Server::new(ScriptedStdio::new(&[]).with_option("--versions", version));
        let connected = server.connect().await.unwrap();
        assert_eq!(connected.session.protocol().version().as_str(), version);
        assert!(connected.session.server_description().has_capability("tools"));
        assert!(!connected.session.server_description().has_capability("bogus"));
        let answer = call(&connected, "echo", json!({"message": "hi"})).await.unwrap();
        assert_eq!(text(&answer), "hi", "{version}");
        connected.link.stop().await;
    }
}

// T9: like a server that gets its versions from a peer which is not connected yet.
#[tokio::test]
async fn a_server_that_refuses_the_version_it_speaks_is_asked_once_more() {
    for (times, is_connected) in [("1", true), ("2", false)] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        let scripted = ScriptedStdio::new(&["refuse-version"]).with_option("--versions", "2026-07-28");
        let scripted =
            scripted.with_option("--on", "server/discover").with_option("--times", times).with_log(&log);
        let connected = Server::new(scripted).connect().await;
        assert_eq!(connected.is_ok(), is_connected, "{times}");
        let probes = log_lines(&log).iter().filter(|line| line.text.contains("server/discover")).count();
        assert_eq!(probes, 2, "{times}");
    }
}

// T9 X6
#[tokio::test]
async fn every_request_of_the_new_era_carries_our_capabilities() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server =
        Server::new(ScriptedStdio::new(&[]).with_option("--versions", "2026-07-28").with_log(&log));
    let capabilities = json!({"roots": {}, "elicitation": {"form": {}, "url": {}}});
    let introduction = Introduction { capabilities: capabilities.clone(), ..introduction() };
    let connected = connect(&mut server, Era::Auto, &introduction, LONG).await.unwrap();
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    connected.link.stop().await;
    let lines = log_lines(&log);
    assert!(lines.len() >= 2, "a probe and a call: {lines:?}");
    for line in lines {
        let message: serde_json::Value = serde_json::from_str(&line.text).unwrap();
        let said = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*said, capabilities, "{}", line.text);
    }
}

// T9 X6 X8
#[tokio::test]
async fn capabilities_of_one_era_are_sent_in_that_era_only() {
    let capabilities = json!({"roots": {"listChanged": true}, "extensions": {"io.example/x": {}}});
    let introduction = Introduction { capabilities, ..introduction() };
    for (version, path, expected) in [
        ("2025-11-25", "/params/capabilities", json!({"roots": {"listChanged": true}})),
        (
            "2026-07-28",
            "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
            json!({"roots": {}, "extensions": {"io.example/x": {}}}),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        let mut server =
            Server::new(ScriptedStdio::new(&[]).with_option("--versions", version).with_log(&log));
        let connected = connect(&mut server, Era::Auto, &introduction, LONG).await.unwrap();
        connected.link.stop().await;
        let lines = log_lines(&log);
        let said: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::from_str::<serde_json::Value>(&line.text).unwrap())
            .filter_map(|message| message.pointer(path).cloned())
            .collect();
        assert_eq!(said.last(), Some(&expected), "{version}");
    }
}

// T9
#[tokio::test]
async fn old_server_is_connected_however_it_reacts_to_the_probe() {
    for (script, starts) in [("discover:-32602", 1), ("discover:-32600-no-id", 1), ("discover:exit", 2)] {
        let mut server = Server::scripted(&[script]);
        let connected = server.connect().await.unwrap();
        assert_eq!(
            connected.session.protocol(),
            AgreedProtocol::Old(ProtocolVersion::NEWEST_OLD),
            "{script}"
        );
        assert_eq!(server.starts, starts, "{script}");
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    }
}

// T9 U2
#[tokio::test]
async fn every_handshake_step_is_reported_before_it_is_taken() {
    use mcparley_wire::handshake::HandshakeStep::{Greet, Open, Probe, Reopen};
    for (script, versions, era, steps) in [
        (&[][..], "2026-07-28", Era::Auto, &[Open, Probe][..]),
        (&[], "2025-11-25", Era::Auto, &[Open, Probe, Greet]),
        (&[], "2025-11-25", Era::Old, &[Open, Greet]),
        (&["discover:exit"], "2025-11-25", Era::Auto, &[Open, Probe, Reopen, Greet]),
        (&["exit-start"], "2025-11-25", Era::Auto, &[Open, Probe, Reopen, Greet]),
    ] {
        let mut server = Server::new(ScriptedStdio::new(script).with_option("--versions", versions));
        drop(server.connect_as(era, LONG).await);
        assert_eq!(server.steps, steps, "{script:?} {versions} {era:?}");
    }
}

// T9
#[tokio::test]
async fn silent_server_gets_initialize_on_the_same_process_after_a_share_of_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server = Server::new(ScriptedStdio::new(&["discover:silent"]).with_log(&log));
    let start = Instant::now();
    let connected = server.connect_as(Era::Auto, Duration::from_secs(5)).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "a fifth of the limit");
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(server.starts, 1);
    // A response to a call shows that all earlier messages were read.
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    connected.link.stop().await;
    let sent: Vec<String> = log_lines(&log)
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(&line.text).unwrap())
        .map(|message| message["method"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(sent, ["server/discover", "initialize", "notifications/initialized", "tools/call"]);
}

// T9: the newest revision is never offered inside `initialize`.
#[tokio::test]
async fn initialize_offers_the_newest_old_revision() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server = Server::new(
        ScriptedStdio::new(&[]).with_option("--versions", "2025-11-25,2026-07-28").with_log(&log),
    );
    let connected = server.connect_as(Era::Old, LONG).await.unwrap();
    assert_eq!(connected.session.protocol(), AgreedProtocol::Old(ProtocolVersion::NEWEST_OLD));
    connected.link.stop().await;
    let first: serde_json::Value = serde_json::from_str(&log_lines(&log)[0].text).unwrap();
    assert_eq!(first["method"], "initialize");
    assert_eq!(first["params"]["protocolVersion"], "2025-11-25");
}

// T9 B14
#[tokio::test]
async fn invalid_initialize_result_is_tolerated_or_refused() {
    for script in ["no-capabilities", "null-capabilities", "no-server-info"] {
        assert!(Server::scripted(&[script]).connect().await.is_ok(), "{script}");
    }
    for script in ["version:9999", "version-number"] {
        let error = Server::scripted(&[script]).connect().await.unwrap_err();
        assert!(matches!(error, Failure::Protocol(_)), "{script}: {error:?}");
    }
}

// B14 N6
#[tokio::test]
async fn instructions_are_cut() {
    let connected = Server::scripted(&["long-instructions:1000000"]).connect().await.unwrap();
    let instructions = connected.session.server_description().instructions.clone().unwrap();
    assert!(instructions.clean_text().chars().count() <= 2048 + "… [truncated]".chars().count());
    assert!(instructions.clean_text().ends_with("… [truncated]"));
}

// F03 L3
#[tokio::test]
async fn a_server_that_never_answers_is_given_up_at_the_limit() {
    let start = Instant::now();
    let error =
        Server::scripted(&["hang-start"]).connect_as(Era::Auto, Duration::from_secs(2)).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Connecting, .. }), "{error:?}");
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert!(start.elapsed() < Duration::from_secs(4));
}
