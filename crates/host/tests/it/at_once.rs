//! A server that dies, is to be reconnected and says that its lists have changed, all at the same time.

use std::process::Command;
use std::time::Instant;

use mcparley::CallError;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use mcparley_testkit::{ScriptedStdio, processes_tagged};
use serde_json::json;

use crate::alive::{Alive, LONG, own, servers, stdio, until_gone};

/// The number of rounds; each starts two or three processes.
const ROUNDS: usize = 1_000;

// F67 L1 L4
#[tokio::test]
async fn heavy_rounds_of_death_and_reconnecting_at_once_leave_one_process_each() {
    let (_folder, _log, tag) = own("at-once");
    // Every reply to a call comes behind a few changes.
    let entry = stdio(&ScriptedStdio::new(&["list-changed-storm:20"]).with_option("--tag", &tag));
    let alive = servers([("dies", entry)]).ready().await;
    let mut events = alive.host.server_events();
    let mut was_reached = true;
    for round in 0..ROUNDS {
        let process = pid(&alive).await;
        all_at_once(&alive, &process, round).await;
        alive.reach("dies").await;
        let left = only_process(&tag).await;
        assert_eq!(pid(&alive).await, left, "round {round}");
        assert_ne!(left, process, "round {round}");
        while let Ok(event) = events.try_recv() {
            let is_reached = is_reached(&event.status);
            assert_ne!(was_reached, is_reached, "round {round}: connected and pending by turns");
            was_reached = is_reached;
        }
    }
    alive.host.shut_down().await;
    until_gone(&tag, LONG);
}

async fn pid(alive: &Alive) -> String {
    alive.call("dies", "pid", json!({})).await.unwrap().to_text()
}

async fn all_at_once(alive: &Alive, process: &str, round: usize) {
    let mut kill = Command::new("kill").args(["-9", process]).spawn().unwrap();
    if round.is_multiple_of(2) {
        kill.wait().unwrap();
    }
    let name = ServerName::new("dies");
    let (_, echoed) = tokio::join!(alive.host.reconnect_server(&name), alive.echo("dies", "hi"));
    match echoed {
        // The effect of a call whose server was killed meanwhile is unknown.
        Ok(_) | Err(CallError::Failed { .. }) => {}
        Err(other) => panic!("round {round}: {other}"),
    }
    // It may have come too late: the process was replaced and is gone.
    kill.wait().unwrap();
}

/// The one process that is left when those which were replaced have ended.
async fn only_process(tag: &str) -> String {
    let begun = Instant::now();
    loop {
        match processes_tagged(tag).as_slice() {
            [process] => return process.to_string(),
            several => assert!(begun.elapsed() < LONG, "{several:?}"),
        }
        tokio::task::yield_now().await;
    }
}

/// Only these two errors: the server is never given up, and never requires a sign-in.
fn is_reached(status: &ServerStatus) -> bool {
    match status {
        ServerStatus::Connected { .. } => true,
        ServerStatus::Pending { .. } => false,
        other => panic!("{other:?}"),
    }
}
