//! Ends: of a client, of a server, of the daemon.

use std::time::Duration;

use mcparley::model::name::ServerName;
use mcparley_daemon::{Daemon, DaemonError};
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{World, entry, is_running};

// U5 L14
#[tokio::test]
async fn server_without_clients_ends_after_its_idle_time() {
    let world = World::new();
    let restless = entry(&ScriptedStdio::new(&[])).field("idleTimeout", 50);
    let client = world.client_with("project", "project", &restless, |host| host);
    let process = client.pid().await;
    client.host.shut_down().await;
    world.wait_for_status(|status| status.copies.is_empty()).await;
    while is_running(process) {
        tokio::task::yield_now().await;
    }
}

// U5 G8
#[tokio::test]
async fn server_of_one_session_ends_soon_after_its_client_unless_commands_go_on_with_the_session() {
    let world = World::new();
    let never = entry(&ScriptedStdio::new(&[])).field("share", "never");
    let client = |session: &str| world.client_with("project", session, &never, |host| host);
    let (agent, command) = (client("agent"), client("command:project"));
    let processes = (agent.pid().await, command.pid().await);
    agent.host.shut_down().await;
    command.host.shut_down().await;
    world.wait_for_status(|status| status.copies.len() == 1).await;
    assert_eq!(client("command:project").pid().await, processes.1);
    while is_running(processes.0) {
        tokio::task::yield_now().await;
    }
}

// U5
#[tokio::test]
async fn daemon_without_clients_ends_with_its_servers() {
    let mut world = World::with_idle_time(Duration::from_millis(50));
    let client = world.client("project", &ScriptedStdio::new(&[]));
    let process = client.pid().await;
    client.host.shut_down().await;
    world.wait_until_ended().await;
    assert!(!is_running(process));
    assert!(!world.paths.socket().exists());
}

// U5
#[tokio::test]
async fn user_has_one_daemon() {
    let world = World::new();
    assert!(matches!(Daemon::open(&world.paths), Err(DaemonError::Running)));
}

// U5
#[tokio::test]
async fn socket_that_a_killed_daemon_left_is_replaced() {
    let mut world = World::new();
    world.kill_daemon().await;
    let _killed = std::fs::remove_file(world.paths.socket());
    std::os::unix::net::UnixListener::bind(world.paths.socket()).unwrap();
    world.restart_daemon();
    let client = world.client("project", &ScriptedStdio::new(&[]));
    client.pid().await;
    assert!(client.uses_daemon());
}

// L6 K6
#[tokio::test]
async fn crash_of_a_server_reads_as_that_of_an_own_process_and_the_next_call_works() {
    let mut world = World::new();
    let server = ScriptedStdio::new(&[]);
    let shared = world.client("project", &server);
    let before = shared.pid().await;
    let crash = shared.call("crash", json!({})).await.unwrap_err().to_string();
    assert_ne!(shared.pid().await, before);
    assert!(shared.uses_daemon());
    world.kill_daemon().await;
    let own = world.client("project", &server);
    assert_eq!(own.call("crash", json!({})).await.unwrap_err().to_string(), crash);
    assert!(!own.uses_daemon());
}

// L6
#[tokio::test]
async fn crash_of_a_server_fails_only_the_calls_of_that_server_and_all_clients_get_the_next_one() {
    let world = World::new();
    let server = ScriptedStdio::new(&[]);
    let (first, second) = (world.client("project", &server), world.client("project", &server));
    assert_eq!(first.pid().await, second.pid().await);
    let waiting = second.call("slow", json!({ "ms": 600_000 }));
    let crashing = first.call("crash", json!({}));
    let (waited, crashed) = tokio::join!(waiting, crashing);
    for error in [waited.unwrap_err(), crashed.unwrap_err()] {
        assert!(error.to_string().contains("the server exited with code 9"), "{error}");
    }
    assert_eq!(first.pid().await, second.pid().await);
}

// L1 U5
#[tokio::test]
async fn reconnect_on_request_starts_the_server_again_once_for_all_clients() {
    let world = World::new();
    let server = ScriptedStdio::new(&[]);
    let (first, second) = (world.client("project", &server), world.client("project", &server));
    let before = first.pid().await;
    assert_eq!(second.pid().await, before);
    let name = ServerName::new("one");
    tokio::join!(first.host.reconnect_server(&name), second.host.reconnect_server(&name));
    // A call in the moment of the change is still answered by the old process.
    while first.pid().await == before || second.pid().await == before {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.pid().await, first.pid().await);
    let copies = world.status().await.copies;
    assert!(copies.iter().all(|copy| copy.copy <= 2), "started again more than once: {copies:?}");
}
