//! Which protocol is agreed on, and that probing breaks nobody.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{Scripted, log_lines};
use mcparley_wire::handshake::{Introduction, connect};
use mcparley_wire::{Failure, Phase, Spoken, Version};
use serde_json::json;

use crate::world::{LONG, Server, call, introduction, log_file, text};

// T9
#[tokio::test]
async fn every_revision_is_agreed_on_and_calls_work_in_it() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut server = Server::new(Scripted::stdio(&[]).with("--versions", version));
        let connected = server.connect().await.unwrap();
        assert_eq!(connected.session.spoken().version().as_str(), version);
        assert!(connected.session.about().offers("tools"));
        assert!(!connected.session.about().offers("bogus"));
        let answer = call(&connected, "echo", json!({"message": "hi"})).await.unwrap();
        assert_eq!(text(&answer), "hi", "{version}");
        connected.link.stop().await;
    }
}

// T9: as a server does that gets its versions from a peer which is not there yet.
#[tokio::test]
async fn a_server_that_refuses_the_version_it_speaks_is_asked_once_more() {
    for (times, is_connected) in [("1", true), ("2", false)] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        let scripted = Scripted::stdio(&["refuse-version"]).with("--versions", "2026-07-28");
        let scripted = scripted.with("--on", "server/discover").with("--times", times).logged(&log);
        let connected = Server::new(scripted).connect().await;
        assert_eq!(connected.is_ok(), is_connected, "{times}");
        let probes = log_lines(&log).iter().filter(|line| line.text.contains("server/discover")).count();
        assert_eq!(probes, 2, "{times}");
    }
}

// T9 X6
#[tokio::test]
async fn what_we_can_do_is_said_with_every_request_of_the_new_era() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server = Server::new(Scripted::stdio(&[]).with("--versions", "2026-07-28").logged(&log));
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
async fn what_only_one_era_has_is_said_in_that_one() {
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
        let mut server = Server::new(Scripted::stdio(&[]).with("--versions", version).logged(&log));
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
async fn whatever_an_old_server_does_with_the_probe_it_is_connected_to() {
    for (script, starts) in [("discover:-32602", 1), ("discover:-32600-no-id", 1), ("discover:exit", 2)] {
        let mut server = Server::scripted(&[script]);
        let connected = server.connect().await.unwrap();
        assert_eq!(connected.session.spoken(), Spoken::Old(Version::NEWEST_OLD), "{script}");
        assert_eq!(server.starts, starts, "{script}");
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    }
}

// T9 U2
#[tokio::test]
async fn whoever_watches_hears_of_every_step_before_it_is_taken() {
    use mcparley_wire::handshake::Step::{Greet, Open, Probe, Reopen};
    for (script, versions, era, steps) in [
        (&[][..], "2026-07-28", Era::Auto, &[Open, Probe][..]),
        (&[], "2025-11-25", Era::Auto, &[Open, Probe, Greet]),
        (&[], "2025-11-25", Era::Old, &[Open, Greet]),
        (&["discover:exit"], "2025-11-25", Era::Auto, &[Open, Probe, Reopen, Greet]),
        (&["exit-start"], "2025-11-25", Era::Auto, &[Open, Probe, Reopen, Greet]),
    ] {
        let mut server = Server::new(Scripted::stdio(script).with("--versions", versions));
        drop(server.connect_as(era, LONG).await);
        assert_eq!(server.steps, steps, "{script:?} {versions} {era:?}");
    }
}

// T9
#[tokio::test]
async fn a_silent_server_gets_a_fraction_of_the_limit_and_then_the_old_greeting_on_the_same_process() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server = Server::new(Scripted::stdio(&["discover:silent"]).logged(&log));
    let start = Instant::now();
    let connected = server.connect_as(Era::Auto, Duration::from_secs(5)).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "a fifth of the limit");
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(server.starts, 1);
    // An answer to a call shows that everything before it was read.
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
async fn the_old_greeting_offers_the_newest_old_revision() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let mut server =
        Server::new(Scripted::stdio(&[]).with("--versions", "2025-11-25,2026-07-28").logged(&log));
    let connected = server.connect_as(Era::Old, LONG).await.unwrap();
    assert_eq!(connected.session.spoken(), Spoken::Old(Version::NEWEST_OLD));
    connected.link.stop().await;
    let first: serde_json::Value = serde_json::from_str(&log_lines(&log)[0].text).unwrap();
    assert_eq!(first["method"], "initialize");
    assert_eq!(first["params"]["protocolVersion"], "2025-11-25");
}

// T9 B14
#[tokio::test]
async fn a_greeting_that_lies_is_survived_or_refused() {
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
    let instructions = connected.session.about().instructions.clone().unwrap();
    assert!(instructions.clean().chars().count() <= 2048 + "… [truncated]".chars().count());
    assert!(instructions.clean().ends_with("… [truncated]"));
}

// F03 L3
#[tokio::test]
async fn a_server_that_never_answers_is_given_up_at_the_limit() {
    let start = Instant::now();
    let error =
        Server::scripted(&["hang-start"]).connect_as(Era::Auto, Duration::from_secs(2)).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: Phase::Connecting, .. }), "{error:?}");
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert!(start.elapsed() < Duration::from_secs(4));
}
