//! Requests of another process to reconnect a server: handled once, for the right server, regardless of
//! backoff.

use std::path::Path;

use mcparley::config::StartPolicy;
use mcparley::host::{prepare_reconnect, publish_reconnect, request_reconnect};
use mcparley::model::name::ServerName;
use mcparley::pool::connect::ConnectContext;
use mcparley::pool::connection::ServerStatus;
use mcparley::{AgentSpec, Paths};
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, Making, is_connected, own, scripted, servers, stdio};

const REQUESTS: &str = "state/reconnect.json";

fn logged(log: &Path, name: &str) -> Value {
    stdio(&ScriptedStdio::new(&[]).with_log(&log.with_extension(name)))
}

fn starts(log: &Path, name: &str) -> usize {
    log_starts(&log.with_extension(name)).len()
}

/// The places of the host, with the file of requests.
fn following(making: &Making) -> Paths {
    let mut paths = making.paths();
    paths.reconnects = Some(making.path(REQUESTS));
    paths.cache = Some(making.path("cache"));
    paths
}

fn start(making: Making) -> (Alive, Paths) {
    let paths = following(&making);
    let alive = making.start_in(|own| *own = paths.clone());
    (alive, paths)
}

/// Asks for the server as another process would.
fn request(alive: &Alive, paths: &Paths, name: &str) {
    let loaded = alive.host.loaded_config();
    let context = ConnectContext::new(&loaded.env, paths);
    request_reconnect(&context, loaded.plan.servers_by_name(name).first().unwrap()).unwrap();
}

/// Waits until a server with this log has been started so often and answers.
async fn until_started(alive: &Alive, log: &Path, name: &str, times: usize) {
    let mut events = alive.host.server_events();
    let waiting = async {
        while starts(log, name) < times || !is_connected(&alive.status(name)) {
            // One that fell behind looks again.
            let _event = events.recv().await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.unwrap();
}

// L6
#[tokio::test]
async fn request_is_acted_on_once_and_for_its_server_only() {
    let (_folder, log, _) = own("request-once");
    let (alive, paths) = start(servers([("one", logged(&log, "one")), ("two", logged(&log, "two"))]));
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    let process = alive.call("one", "pid", json!({})).await.unwrap().to_text();
    request(&alive, &paths, "one");
    until_started(&alive, &log, "one", 2).await;
    assert_ne!(alive.call("one", "pid", json!({})).await.unwrap().to_text(), process);
    assert_eq!((starts(&log, "one"), starts(&log, "two")), (2, 1));
    // The file is read again for another server, and holds the first request still.
    request(&alive, &paths, "two");
    until_started(&alive, &log, "two", 2).await;
    assert_eq!(starts(&log, "one"), 2, "an old request is not acted on again");
}

// L6: a gateway gets the request on its socket first, then sees it in the file.
#[tokio::test]
async fn request_that_came_directly_is_ignored_in_the_file() {
    let (_folder, log, _) = own("request-direct");
    let (alive, paths) = start(servers([("one", logged(&log, "one")), ("two", logged(&log, "two"))]));
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    let loaded = alive.host.loaded_config();
    let context = ConnectContext::new(&loaded.env, &paths);
    let server = loaded.plan.servers_by_name("one").into_iter().next().unwrap();
    let direct = prepare_reconnect(&context, server).unwrap();
    let names = alive.host.reconnect_on_request(&direct).await;
    assert_eq!(names, [ServerName::new("one")]);
    until_started(&alive, &log, "one", 2).await;
    publish_reconnect(&context, &direct).unwrap();
    request(&alive, &paths, "two");
    until_started(&alive, &log, "two", 2).await;
    assert_eq!(starts(&log, "one"), 2, "one request is acted on once");
}

// L6
#[tokio::test]
async fn request_from_before_the_start_is_not_replayed() {
    let (_folder, log, _) = own("request-old");
    let making = servers([("one", logged(&log, "one")), ("two", logged(&log, "two"))]);
    let (alive, paths) = start(making);
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    request(&alive, &paths, "one");
    until_started(&alive, &log, "one", 2).await;
    alive.host.shut_down().await;
    let again =
        mcparley::Host::builder(&paths, &alive.world.run_options).start_with(StartPolicy::All).start();
    let next = Alive { host: again, world: alive.world };
    assert!(next.host.wait_until_ready(LONG).await.settled);
    assert_eq!(starts(&log, "one"), 3);
    request(&next, &paths, "two");
    until_started(&next, &log, "two", 3).await;
    assert_eq!(starts(&log, "one"), 3, "the request was for the host before");
}

// L6 L12
#[tokio::test]
async fn failed_server_is_tried_at_once_and_its_failure_forgotten() {
    let (folder, _, _) = own("request-failed");
    let mended = folder.path().join("mended");
    let server = ScriptedStdio::new(&[]);
    let run = format!(
        "test -e '{}' || exit 3; exec '{}' {}",
        mended.display(),
        server.program.display(),
        server.args.join(" ")
    );
    let (alive, paths) = start(servers([("one", json!({ "command": "sh", "args": ["-c", run] }))]));
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    assert!(matches!(alive.status("one"), ServerStatus::Failed(_)));
    let failures = || std::fs::read_dir(alive.world.path("cache/failures")).unwrap().count();
    assert_eq!(failures(), 1);
    std::fs::write(&mended, "").unwrap();
    request(&alive, &paths, "one");
    assert_eq!(failures(), 0);
    alive.until("one", is_connected).await;
}

// L6 X7
#[tokio::test]
async fn server_that_an_agent_brings_is_reconnected_too() {
    let (_folder, log, _) = own("request-agent");
    let (alive, paths) = start(servers([("one", scripted(&[])), ("same", logged(&log, "same"))]));
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    let spec = AgentSpec::new("helper").share_server("one").bring_server("mine", &logged(&log, "mine"));
    let agent = alive.host.start_agent(spec).await.unwrap();
    agent.connect_server(&ServerName::new("mine")).await.unwrap();
    let mut events = agent.server_events();
    // Another process knows the same server under another name.
    let elsewhere = servers([("other", logged(&log, "mine"))]);
    let other =
        elsewhere.start_in(|own| *own = Paths { reconnects: paths.reconnects.clone(), ..own.clone() });
    request(&other, &paths, "other");
    let reconnected = async { while !is_connected(&events.recv().await.unwrap().status) {} };
    tokio::time::timeout(LONG, reconnected).await.unwrap();
    assert_eq!(starts(&log, "same"), 1);
}
