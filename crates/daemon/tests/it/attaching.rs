//! How clients find, start and ask the daemon.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcparley::RunOptions;
use mcparley::model::name::ServerName;
use mcparley_daemon::{Daemon, DaemonError, DaemonPaths};
use mcparley_platform::dirs::Directories;
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{Client, World, entry, start_daemon};

/// The paths of the same user in another login session.
fn paths_of_other_session(world: &World) -> DaemonPaths {
    let runtime = world.root.join("runtime").to_str().unwrap().to_owned();
    let directories = Directories::for_home(&world.root.join("home"), |name| {
        (name == "XDG_RUNTIME_DIR").then(|| runtime.clone())
    });
    DaemonPaths::new(&directories)
}

fn run_options() -> RunOptions {
    RunOptions::default().with_server("one", entry(&ScriptedStdio::new(&[])))
}

// U5
#[tokio::test]
async fn user_with_two_login_sessions_has_one_daemon_that_both_use() {
    let world = World::new();
    let other = paths_of_other_session(&world);
    assert_ne!(other.socket(), world.paths.socket());
    assert!(matches!(Daemon::open(&other), Err(DaemonError::Running)));
    let here = world.client_at(&world.paths, "project", ("a", None), (&run_options(), |host| host));
    let there = world.client_at(&other, "project", ("b", None), (&run_options(), |host| host));
    assert_eq!(here.pid().await, there.pid().await);
    assert!(there.uses_daemon());
}

/// The process that answers after this one. A call in the moment of its end fails.
async fn next_process(client: &Client, before: u32) -> u32 {
    loop {
        match client.call("pid", json!({})).await.map(|text| text.parse().unwrap()) {
            Ok(process) if process != before => return process,
            Ok(_) | Err(_) => tokio::task::yield_now().await,
        }
    }
}

// U5 L9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_a_killed_daemon_start_one_and_share_again() {
    let mut world = World::new();
    let next = Arc::new(Mutex::new(None));
    let starts = Arc::new(AtomicUsize::new(0));
    let starter = || {
        let (paths, next, starts) = (world.paths.clone(), Arc::clone(&next), Arc::clone(&starts));
        Arc::new(move || {
            starts.fetch_add(1, Ordering::Relaxed);
            *next.lock().unwrap() = Some(start_daemon(&paths, |daemon| daemon));
            Ok(())
        })
    };
    let client = |session| {
        world.client_at(&world.paths, "project", (session, Some(starter())), (&run_options(), |host| host))
    };
    let clients = [client("a"), client("b"), client("c")];
    let before = clients[0].pid().await;
    for client in &clients {
        assert_eq!(client.pid().await, before);
    }
    world.kill_daemon().await;
    let mut after = Vec::new();
    for client in &clients {
        after.push(next_process(client, before).await);
        assert!(client.uses_daemon(), "{:?}", client.fallbacks);
    }
    assert_eq!(after, [after[0]; 3]);
    assert_eq!(starts.load(Ordering::Relaxed), 1);
    if let Some((runtime, _)) = next.lock().unwrap().take() {
        runtime.shutdown_background();
    }
}

// U5
#[tokio::test]
async fn client_asks_again_when_the_daemon_ends_in_the_moment_of_its_request() {
    let mut world = World::new();
    world.kill_daemon().await;
    let _old = std::fs::remove_file(world.paths.socket());
    let listener = UnixListener::bind(world.paths.socket()).unwrap();
    let answering = std::thread::spawn(move || {
        let (ended, _) = listener.accept().unwrap();
        BufReader::new(&ended).read_line(&mut String::new()).unwrap();
        drop(ended);
        let (stream, _) = listener.accept().unwrap();
        BufReader::new(&stream).read_line(&mut String::new()).unwrap();
        writeln!(&stream, "{}", json!({ "mcparley": "refused", "reason": "draining" })).unwrap();
    });
    let client = world.client("project", &ScriptedStdio::new(&[]));
    client.pid().await;
    assert_eq!(*client.fallbacks.lock().unwrap(), ["it is ending"]);
    tokio::task::spawn_blocking(|| answering.join().unwrap()).await.unwrap();
}

// U5
#[tokio::test]
async fn daemon_that_does_not_answer_is_not_asked_for_every_server() {
    let mut world = World::new();
    world.kill_daemon().await;
    let _old = std::fs::remove_file(world.paths.socket());
    let listener = UnixListener::bind(world.paths.socket()).unwrap();
    let client = world.client("project", &ScriptedStdio::new(&[]));
    let process = client.pid().await;
    let (_silent, _) = listener.accept().unwrap();
    client.host.reconnect_server(&ServerName::new("one")).await;
    // A call in the moment of the change is still answered by the old process.
    while client.pid().await == process {
        tokio::task::yield_now().await;
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the daemon was asked again");
    assert_eq!(*client.fallbacks.lock().unwrap(), ["it does not answer"]);
}

// U5
#[tokio::test]
async fn daemon_with_as_many_clients_as_it_takes_says_so_and_logs_it() {
    let world = World::with_daemon("home", |daemon| daemon.with_connection_limit(0));
    let client = world.client("project", &ScriptedStdio::new(&[]));
    client.pid().await;
    assert_eq!(*client.fallbacks.lock().unwrap(), ["it has too many clients"]);
    while !std::fs::read_to_string(&world.paths.log).unwrap_or_default().contains("refused a client") {
        tokio::task::yield_now().await;
    }
}

// U5
#[tokio::test]
async fn socket_with_a_path_longer_than_an_address_works() {
    let world = World::with_daemon(&"long/".repeat(30), |daemon| daemon);
    assert!(world.paths.socket().as_os_str().len() > 150);
    let client = world.client("project", &ScriptedStdio::new(&[]));
    client.pid().await;
    assert!(client.uses_daemon());
    assert_eq!(world.status().await.copies.len(), 1);
}
