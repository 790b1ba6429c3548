//! Log messages of servers: the requested level, and the listeners that receive them.

use std::path::Path;

use mcparley::AgentSpec;
use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use mcparley::pool::log::{LogMessage, LogSource};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::json;
use tokio::sync::broadcast;

use crate::alive::{LONG, http, own, scripted, servers, stdio};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn logging(version: &str, log: &Path) -> serde_json::Value {
    stdio(&ScriptedStdio::new(&["logging"]).with_option("--versions", version).with_log(log))
}

/// The levels that were heard, once there was one of the highest.
async fn heard(messages: &mut broadcast::Receiver<LogMessage>) -> Vec<String> {
    let mut levels = Vec::new();
    while levels.last().is_none_or(|level| level != "emergency") {
        let message = tokio::time::timeout(LONG, messages.recv()).await.unwrap().unwrap();
        let LogSource::Server { level, logger } = message.line.from else { panic!("{message:?}") };
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
async fn server_logs_at_the_requested_level_in_both_eras() {
    for version in ERAS {
        let (_folder, log, _) = own("levels");
        let remote = HttpServer::start_with(&["logging"], &["--versions", version, "--answer", "sse"]);
        let alive = servers([("local", logging(version, &log)), ("remote", http(&remote))]).start();
        alive.host.set_log_level(None, LogLevel::Alert);
        alive.host.wait_until_ready(LONG).await;
        let mut messages = alive.host.log_messages();
        for name in ["local", "remote"] {
            if version == "2025-11-25" {
                until_both_have_heard(&remote, &log).await;
            }
            alive.echo(name, "hi").await.unwrap();
            assert_eq!(heard(&mut messages).await, ["alert", "emergency"], "{version} {name}");
        }
        let (lines, _) = alive.host.server_log(&ServerName::new("local")).unwrap();
        let said = lines.iter().filter(|line| matches!(&line.from, LogSource::Server { .. })).count();
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
async fn log_level_holds_across_reconnects_and_can_be_set_per_server() {
    for version in ERAS {
        let (_folder, log, _) = own("again");
        let alive = servers([("one", logging(version, &log))]).ready().await;
        let one = ServerName::new("one");
        alive.host.set_log_level(None, LogLevel::Debug);
        alive.host.set_log_level(Some(&one), LogLevel::Emergency);
        alive.host.disable_server(&one).await;
        alive.until("one", |status| matches!(status, ServerStatus::Disabled)).await;
        let before = log_lines(&log).len();
        alive.host.enable_server(&one).await;
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
async fn server_without_logging_capability_gets_no_log_level() {
    for version in ERAS {
        let (_folder, log, _) = own("silent");
        let plain = stdio(&ScriptedStdio::new(&[]).with_option("--versions", version).with_log(&log));
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
async fn flood_of_log_messages_is_cut_off_with_a_note() {
    let alive = servers([("one", scripted(&["flood:5000"]))]).ready().await;
    alive.echo("one", "hi").await.unwrap();
    let lines = || alive.host.server_log(&ServerName::new("one")).unwrap().0;
    let said = lines().iter().filter(|line| matches!(&line.from, LogSource::Server { .. })).count();
    assert!((400..=600).contains(&said), "{said}");
    let told = async {
        // Some of the store has come back by then.
        while !lines().iter().any(|line| line.text.raw().ends_with("log messages were dropped")) {
            alive.echo("one", "hi").await.unwrap();
        }
    };
    tokio::time::timeout(LONG, told).await.unwrap();
}

// X7 X8
#[tokio::test]
async fn agent_alone_receives_log_messages_of_its_own_servers() {
    let (_folder, log, _) = own("agents");
    let alive = servers([("shared", logging("2025-11-25", &log))]).ready().await;
    let spec = AgentSpec::new("a").bring_server("mine", &scripted(&["logging"])).with_deadline(LONG);
    let agent = alive.host.start_agent(spec.require_server("mine")).await.unwrap();
    let (mut of_host, mut of_agent) = (alive.host.log_messages(), agent.log_messages());
    let call = mcparley::Call::on_server("mine", "echo", json!({ "message": "hi" }));
    agent.call(call.with_consent(mcparley::permission::Consent::Given)).await.unwrap();
    assert_eq!(heard(&mut of_agent).await.len(), 8);
    assert!(matches!(of_host.try_recv(), Err(broadcast::error::TryRecvError::Empty)));
}
