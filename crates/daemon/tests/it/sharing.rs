//! The clients that use one process of a server, and those that do not.

use std::ffi::OsString;
use std::time::SystemTime;

use mcparley::RunOptions;
use mcparley::model::name::ServerName;
use mcparley::pool::client_offer::ClientOffer;
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{World, entry};

fn plain() -> ScriptedStdio {
    ScriptedStdio::new(&[])
}

// U5 G8
#[tokio::test]
async fn clients_of_one_folder_share_a_process() {
    let world = World::new();
    let (first, second) = (world.client("project", &plain()), world.client("project", &plain()));
    let process = first.pid().await;
    assert_eq!(second.pid().await, process);
    let status = world.status().await;
    assert_eq!(status.copies.len(), 1);
    assert_eq!(status.copies[0].process, Some(process));
    assert_eq!(status.copies[0].clients.len(), 2);
    assert!(first.uses_daemon() && second.uses_daemon());
}

// U5 G8
#[tokio::test]
async fn process_outlives_the_client_that_started_it() {
    let world = World::new();
    let first = world.client("project", &plain());
    let process = first.pid().await;
    first.host.shut_down().await;
    let second = world.client("project", &plain());
    assert_eq!(second.pid().await, process);
}

// U5 G8
#[tokio::test]
async fn clients_in_different_folders_have_processes_in_their_own_folders() {
    let world = World::new();
    let (first, second) = (world.client("here", &plain()), world.client("there", &plain()));
    assert_ne!(first.pid().await, second.pid().await);
    for (client, folder) in [(&first, "here"), (&second, "there")] {
        let env = client.call("env", json!({})).await.unwrap();
        let project = world.root.join("home").join(folder);
        assert!(env.contains(project.to_str().unwrap()), "{env}");
    }
    let status = world.status().await;
    let explanation = "2 copies, one per project folder; `share: always` if it does not use the folder";
    assert_eq!(status.copies[0].explanation.as_deref(), Some(explanation));
}

// G8
#[tokio::test]
async fn entry_with_share_always_has_one_process_for_all_folders_without_their_names() {
    let world = World::new();
    let always = entry(&plain()).field("share", "always");
    let (first, second) = (
        world.client_with("here", "here", &always, |host| host),
        world.client_with("there", "there", &always, |host| host),
    );
    assert_eq!(first.pid().await, second.pid().await);
    let env = first.call("env", json!({})).await.unwrap();
    assert!(!env.contains("CLAUDE_PROJECT_DIR"), "{env}");
}

// G8
#[tokio::test]
async fn entry_with_share_never_has_a_process_for_each_session() {
    let world = World::new();
    let never = entry(&plain()).field("share", "never");
    let client = |session: &str| world.client_with("project", session, &never, |host| host);
    let (first, second, third) = (client("a"), client("a"), client("b"));
    let process = first.pid().await;
    assert_eq!(second.pid().await, process, "the same session");
    assert_ne!(third.pid().await, process, "another session");
}

// U5 P3
#[tokio::test]
async fn permissions_of_clients_of_one_process_are_their_own() {
    let world = World::new();
    let free = world.client("project", &plain());
    let options = RunOptions { disallowed_tools: vec!["mcp__one__echo".to_owned()], ..RunOptions::default() };
    let options = options.with_server("one", entry(&plain()));
    let strict = world.client_of("project", "project", &options, |host| host);
    assert_eq!(free.call("echo", json!({ "message": "hi" })).await.unwrap(), "hi");
    let denial = strict.call("echo", json!({ "message": "hi" })).await.unwrap_err();
    assert!(denial.to_string().contains("denied by deny rule"), "{denial}");
    assert_eq!(strict.pid().await, free.pid().await, "one process for both");
}

// U5 L1
#[tokio::test]
async fn server_that_one_client_disables_stays_enabled_for_the_other() {
    let world = World::new();
    let (first, second) = (world.client("project", &plain()), world.client("project", &plain()));
    let process = first.pid().await;
    assert!(first.host.disable_server(&ServerName::new("one")).await);
    while first.call("pid", json!({})).await.is_ok() {
        // A call in the moment of the change may still be answered.
        tokio::task::yield_now().await;
    }
    assert_eq!(second.pid().await, process);
}

/// The logs of the clients' servers: names, sizes and times of their files.
fn log_files(world: &World) -> Vec<(OsString, u64, SystemTime)> {
    let files = std::fs::read_dir(world.root.join("logs")).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> = files
        .filter_map(|file| {
            let metadata = file.metadata().ok()?;
            Some((file.file_name(), metadata.len(), metadata.modified().ok()?))
        })
        .collect();
    files.sort();
    files
}

// U5
#[tokio::test]
async fn standard_error_of_a_server_is_logged_by_the_next_client_when_the_logging_one_leaves() {
    let world = World::new();
    let server = ScriptedStdio::new(&["stderr-flood:1"]);
    let (first, second) = (world.client("project", &server), world.client("project", &server));
    first.pid().await;
    second.pid().await;
    while log_files(&world).iter().map(|(_, bytes, _)| bytes).sum::<u64>() < 5000 {
        tokio::task::yield_now().await;
    }
    // Writes the rest of its log.
    first.host.shut_down().await;
    world.wait_for_status(|status| status.copies[0].clients.len() == 1).await;
    let before = log_files(&world);
    second.pid().await;
    while log_files(&world) == before {
        tokio::task::yield_now().await;
    }
}

// G8
#[tokio::test]
async fn equal_lists_in_different_folders_do_not_prove_that_a_server_ignores_capabilities() {
    let world = World::new();
    let asking = |folder: &str, offer: ClientOffer| {
        world.client_with(folder, folder, &entry(&plain()), |host| host.client_offer(offer))
    };
    let (here, there) = (asking("here", ClientOffer::ALL), asking("there", ClientOffer::default()));
    here.pid().await;
    there.pid().await;
    let other = asking("here", ClientOffer::default());
    assert_ne!(other.pid().await, here.pid().await);
}
