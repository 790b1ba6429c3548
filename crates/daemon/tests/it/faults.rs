//! Faults of the daemon: its clients go on with servers of their own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::world::{World, is_running};

// U5
#[tokio::test]
async fn client_without_a_daemon_starts_its_server_at_once_and_says_so_once() {
    let mut world = World::new();
    world.kill_daemon().await;
    let server = ScriptedStdio::new(&[]);
    let client = world.client("project", &server);
    client.pid().await;
    client.host.reconnect_server(&mcparley::model::name::ServerName::new("one")).await;
    client.pid().await;
    assert_eq!(client.fallbacks.lock().unwrap().len(), 1);
}

// U5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_in_flight_fail_at_once_when_the_daemon_dies_and_the_next_ones_work() {
    let mut world = World::new();
    let server = ScriptedStdio::new(&[]);
    let clients: Vec<_> = (0..4).map(|_| Arc::new(world.client("project", &server))).collect();
    let process = clients[0].pid().await;
    let mut calls = JoinSet::new();
    for client in &clients {
        client.pid().await;
        for _ in 0..10 {
            let client = Arc::clone(client);
            calls.spawn(async move { client.call("slow", json!({ "ms": 600_000 })).await });
        }
    }
    // Every call has been sent once a call that was made after it is answered.
    while clients.iter().any(|client| client.host.running_calls().len() < 10) {
        tokio::task::yield_now().await;
    }
    for client in &clients {
        client.pid().await;
    }
    let killed = Instant::now();
    world.kill_daemon().await;
    while let Some(end) = calls.join_next().await {
        let error = end.unwrap().unwrap_err();
        assert!(error.to_string().contains("whether it took effect is unknown"), "{error}");
    }
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    for client in &clients {
        assert_ne!(client.pid().await, process);
    }
    while is_running(process) {
        tokio::task::yield_now().await;
    }
}

/// Answers every client of the daemon's socket with this line.
fn answer_with(world: &World, line: Option<&str>) -> std::thread::JoinHandle<()> {
    let _old = std::fs::remove_file(world.paths.socket());
    let listener = UnixListener::bind(world.paths.socket()).unwrap();
    let line = line.map(str::to_owned);
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut hello = String::new();
        BufReader::new(&stream).read_line(&mut hello).unwrap();
        let hello: Value = serde_json::from_str(&hello).unwrap();
        assert_eq!(hello["mcparley"], "attach");
        match line {
            Some(line) => writeln!(&stream, "{line}").unwrap(),
            // Silent until the client gives up.
            None => drop(BufReader::new(&stream).read_line(&mut String::new())),
        }
    })
}

// U5
#[tokio::test]
async fn daemon_that_refuses_is_silent_or_talks_nonsense_is_not_used() {
    let refused = |reason: &str| Some(json!({ "mcparley": "refused", "reason": reason }).to_string());
    let answers = [
        (refused("wire"), "it has another version"),
        (refused("full"), "it has too many clients"),
        (Some("nonsense".to_owned()), "its connection broke"),
        (None, "it does not answer"),
    ];
    for (answer, reason) in answers {
        let mut world = World::new();
        world.kill_daemon().await;
        let answering = answer_with(&world, answer.as_deref());
        let client = world.client("project", &ScriptedStdio::new(&[]));
        client.pid().await;
        let told = client.fallbacks.lock().unwrap().clone();
        assert!(told.len() == 1 && told[0].starts_with(reason), "{told:?}");
        client.host.shut_down().await;
        tokio::task::spawn_blocking(|| answering.join().unwrap()).await.unwrap();
    }
}

// U5
#[tokio::test]
async fn folder_that_others_can_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&world.paths.folder, open).unwrap();
    let client = world.client("project", &ScriptedStdio::new(&[]));
    client.pid().await;
    assert!(!client.uses_daemon());
}

/// Sends this line to the daemon, and returns its answer.
fn exchange(world: &World, line: &str) -> String {
    let mut stream = UnixStream::connect(world.paths.socket()).unwrap();
    stream.write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}

// U5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_cannot_be_read_are_refused_and_others_go_on() {
    let world = World::new();
    for line in ["nonsense\n", "{}\n", "{\"mcparley\":\"attach\",\"wire\":1}\n", "[]\n"] {
        assert_eq!(exchange(&world, line), "{\"mcparley\":\"refused\",\"reason\":\"malformed\"}\n", "{line}");
    }
    let old = exchange(&world, "{\"mcparley\":\"attach\",\"wire\":0}\n");
    assert_eq!(old, "{\"mcparley\":\"refused\",\"reason\":\"wire\"}\n");
    world.client("project", &ScriptedStdio::new(&[])).pid().await;
}

// U5: a client of another wire number, or of a newer program with the same one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemon_that_sees_a_newer_client_ends_with_its_last_one() {
    for newer in ["\"wire\":2", "\"wire\":1,\"version\":\"99.0.0\""] {
        let mut world = World::new();
        let client = world.client("project", &ScriptedStdio::new(&[]));
        client.pid().await;
        exchange(&world, "{\"mcparley\":\"attach\",\"wire\":1,\"version\":\"0.0.1\"}\n");
        assert!(!world.status().await.is_draining, "an older client is no upgrade");
        exchange(&world, &format!("{{\"mcparley\":\"attach\",{newer}}}\n"));
        assert!(world.status().await.is_draining, "{newer}");
        client.pid().await;
        client.host.shut_down().await;
        world.wait_until_ended().await;
    }
}

// U5: so that every program can show and end every daemon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_about_the_daemon_are_answered_for_every_version() {
    let world = World::new();
    for wire in [0, 1, 2] {
        let answer = exchange(&world, &format!("{{\"mcparley\":\"control\",\"wire\":{wire}}}\n"));
        assert!(answer.contains("\"welcome\""), "{answer}");
    }
    assert!(!world.status().await.is_draining, "a question is no client");
}

// F10 U5
#[tokio::test]
async fn server_that_cannot_start_fails_as_without_the_daemon() {
    let world = World::new();
    let client = world.client("project", &ScriptedStdio::new(&["exit-start"]));
    let error = client.call("pid", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("the server exited with code 3"), "{error}");
    assert!(client.uses_daemon(), "the daemon itself works");
    while !std::fs::read_to_string(&world.paths.log)
        .unwrap_or_default()
        .contains("`one` could not be started")
    {
        tokio::task::yield_now().await;
    }
}
