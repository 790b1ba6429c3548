//! What servers say in log messages: how much is asked for, and who hears it.

use std::path::Path;

use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::{AgentSpec, LogMessage, Speaker, Status};
use mcparley_testkit::{HttpServer, Scripted, log_lines};
use serde_json::json;
use tokio::sync::broadcast;

use crate::alive::{LONG, http, own, scripted, servers, stdio};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn logging(version: &str, log: &Path) -> serde_json::Value {
    stdio(&Scripted::stdio(&["logging"]).with("--versions", version).logged(log))
}

/// The levels that were heard, once there was one of the highest.
async fn heard(messages: &mut broadcast::Receiver<LogMessage>) -> Vec<String> {
    let mut levels = Vec::new();
    while levels.last().is_none_or(|level| level != "emergency") {
        let message = tokio::time::timeout(LONG, messages.recv()).await.unwrap().unwrap();
        let Speaker::Server { level, logger } = message.line.from else { panic!("{message:?}") };
        assert_eq!(logger.as_deref(), Some("kit"));
        assert_eq!(message.line.text.raw(), format!(r#"{{"said":"a {level}"}}"#));
        levels.push(level);
    }
    levels
}

/// Waits until the level stands behind so many lines of the log.
async fn until_level_is_heard(log: &Path, level: &str, before: usize) {
    let said = format!(r#""level":"{level}""#);
    let waiting = async {
        while !log_lines(log).iter().skip(before).any(|line| line.text.contains(&said)) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.unwrap();
}

// X8
#[tokio::test]
async fn a_server_says_as_much_as_it_is_asked_to_in_both_eras() {
    for version in ERAS {
        let (_folder, log, _) = own("levels");
        let remote = HttpServer::start_with(&["logging"], &["--versions", version, "--answer", "sse"]);
        let alive = servers([("local", logging(version, &log)), ("remote", http(&remote))]).start();
        alive.host.set_log_level(None, LogLevel::Alert);
        alive.host.ready(LONG).await;
        let mut messages = alive.host.log_messages();
        for name in ["local", "remote"] {
            if version == "2025-11-25" {
                until_both_have_heard(&remote, &log).await;
            }
            alive.echo(name, "hi").await.unwrap();
            assert_eq!(heard(&mut messages).await, ["alert", "emergency"], "{version} {name}");
        }
        let (lines, _) = alive.host.logs(&ServerName::new("local")).unwrap();
        let said = lines.iter().filter(|line| matches!(&line.from, Speaker::Server { .. })).count();
        assert_eq!(said, 2, "{version}: they are kept as well");
    }
}

/// Waits until both servers of the old era have heard the level.
async fn until_both_have_heard(remote: &HttpServer, log: &Path) {
    until_level_is_heard(log, "alert", 0).await;
    let waiting = async {
        while remote.stats()["post"]["logging/setLevel"] != 1 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.unwrap();
}

// X8
#[tokio::test]
async fn a_level_holds_across_reconnects_and_may_be_another_for_one_server() {
    for version in ERAS {
        let (_folder, log, _) = own("again");
        let alive = servers([("one", logging(version, &log))]).ready().await;
        let one = ServerName::new("one");
        alive.host.set_log_level(None, LogLevel::Debug);
        alive.host.set_log_level(Some(&one), LogLevel::Emergency);
        alive.host.disable(&one).await;
        alive.until("one", |status| matches!(status, Status::Disabled)).await;
        let before = log_lines(&log).len();
        alive.host.enable(&one).await;
        alive.reach("one").await;
        if version == "2025-11-25" {
            until_level_is_heard(&log, "emergency", before).await;
        }
        let mut messages = alive.host.log_messages();
        alive.echo("one", "hi").await.unwrap();
        assert_eq!(heard(&mut messages).await, ["emergency"], "{version}");
    }
}

// X8
#[tokio::test]
async fn a_server_that_offers_no_logging_is_asked_for_none() {
    for version in ERAS {
        let (_folder, log, _) = own("silent");
        let plain = stdio(&Scripted::stdio(&[]).with("--versions", version).logged(&log));
        let alive = servers([("one", plain)]).start();
        alive.host.set_log_level(None, LogLevel::Debug);
        alive.echo("one", "hi").await.unwrap();
        let lines = log_lines(&log);
        let asked = |line: &&str| line.contains("setLevel") || line.contains("logLevel");
        assert_eq!(lines.iter().map(|line| line.text.as_str()).filter(asked).count(), 0, "{version}");
    }
}

// X8: memory and disk are not a server's to fill.
#[tokio::test]
async fn a_flood_of_messages_is_cut_off_and_told() {
    let alive = servers([("one", scripted(&["flood:5000"]))]).ready().await;
    alive.echo("one", "hi").await.unwrap();
    let lines = || alive.host.logs(&ServerName::new("one")).unwrap().0;
    let said = lines().iter().filter(|line| matches!(&line.from, Speaker::Server { .. })).count();
    assert!((400..=600).contains(&said), "{said}");
    let told = async {
        // Some of the store has come back by then.
        while !lines().iter().any(|line| line.text.raw().ends_with("log messages were left out")) {
            alive.echo("one", "hi").await.unwrap();
        }
    };
    tokio::time::timeout(LONG, told).await.unwrap();
}

// X7 X8
#[tokio::test]
async fn an_agent_hears_the_servers_it_brought_and_nobody_else_does() {
    let (_folder, log, _) = own("agents");
    let alive = servers([("shared", logging("2025-11-25", &log))]).ready().await;
    let spec = AgentSpec::new("a").bring("mine", &scripted(&["logging"])).within(LONG);
    let agent = alive.host.agent(spec.require("mine")).await.unwrap();
    let (mut of_host, mut of_agent) = (alive.host.log_messages(), agent.log_messages());
    let call = mcparley::Call::to("mine", "echo", json!({ "message": "hi" }));
    agent.call(call.with_consent(mcparley::Consent::Given)).await.unwrap();
    assert_eq!(heard(&mut of_agent).await.len(), 8);
    assert!(matches!(of_host.try_recv(), Err(broadcast::error::TryRecvError::Empty)));
}
