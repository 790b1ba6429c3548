//! The limit of servers that start at the same time, and their timeouts.

use std::time::{Duration, Instant};

use mcparley::pool::connect::ConnectContext;
use mcparley::pool::health::{HealthCheck, ServerHealth};
use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::json;

use crate::alive::{http, is_connected, own, servers};
use crate::world::World;

// L2 F70
#[tokio::test]
async fn no_more_local_servers_are_busy_at_once_than_the_limit_allows() {
    let (folder, _, _) = own("busy");
    let marks = folder.path().join("marks");
    let server = ScriptedStdio::new(&[]);
    // Works for a while without ever waiting, then serves.
    let script = format!(
        "echo b >> '{marks}'; i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo e >> '{marks}'; exec '{}' {}",
        server.program.display(),
        server.args.join(" "),
        marks = marks.display(),
    );
    let entry = |number: usize| json!({ "command": "sh", "args": ["-c", script, number.to_string()] });
    let names: Vec<String> = (0..6).map(|number| format!("s{number}")).collect();
    let entries = names.iter().enumerate().map(|(number, name)| (name.as_str(), entry(number)));
    let alive = servers(entries).variable("MCP_SERVER_CONNECTION_BATCH_SIZE", "2").ready().await;
    assert!(names.iter().all(|name| is_connected(&alive.status(name))), "{:?}", alive.host.servers());
    let marks = std::fs::read_to_string(&marks).unwrap();
    let mut busy = 0_i32;
    let busiest = marks.lines().map(|mark| {
        busy += if mark == "b" { 1 } else { -1 };
        busy
    });
    assert_eq!(busiest.max(), Some(2), "{marks}");
    assert_eq!(marks.lines().count(), 12);
}

// F70 F104 L2 L3
#[tokio::test]
async fn servers_that_only_wait_start_together_heavy() {
    let program = ScriptedStdio::new(&[]);
    let late = format!("sleep 1; exec '{}' {}", program.program.display(), program.args.join(" "));
    let remotes: Vec<HttpServer> =
        (0..20).map(|_| HttpServer::start_with(&["json-after:1000"], &["--on", "tools/list"])).collect();
    let local = |number: usize| {
        (format!("l{number}"), json!({ "command": "sh", "args": ["-c", late, number.to_string()] }))
    };
    let remote = |number: usize| (format!("r{number}"), http(&remotes[number]));
    let entries: Vec<_> = (0..20).map(local).chain((0..20).map(remote)).collect();
    let begun = Instant::now();
    let alive = servers(entries.iter().map(|(name, entry)| (name.as_str(), entry.clone()))).ready().await;
    let took = begun.elapsed();
    assert!(entries.iter().all(|(name, _)| is_connected(&alive.status(name))), "{:?}", alive.host.servers());
    assert!(took >= Duration::from_secs(1), "{took:?}");
    // By threes it would take seven seconds; the rest is for a loaded machine.
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// Looks at the server that this script, called `npx`, is; connecting may take so long, or twenty seconds while it downloads.
async fn look_at_runner(script: &str, limit: Duration) -> (ServerHealth, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let runner = folder.path().join("npx");
    std::fs::write(&runner, script).unwrap();
    std::fs::set_permissions(&runner, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut world = World::new();
    world.set("PATH", "/usr/bin:/bin");
    world.write("home/.claude.json", &json!({ "mcpServers": { "one": { "command": runner } } }).to_string());
    let loaded = world.load();
    let mut context = ConnectContext::new(&loaded.env, &world.paths());
    assert_eq!(context.dialer.download_limit, Some(Duration::from_secs(120)));
    context.dialer.limit = limit;
    context.dialer.download_limit = Some(Duration::from_secs(20));
    let servers: Vec<_> = loaded.plan.ready_servers().collect();
    let mut found = None;
    HealthCheck::with_context(context)
        .check_servers(&servers, |checked| found = Some((checked.health, checked.took)))
        .await;
    found.unwrap()
}

// L3
#[tokio::test]
async fn package_runner_that_still_downloads_gets_more_time() {
    let server = ScriptedStdio::new(&[]);
    let script = format!(
        "#!/bin/bash\nmkfifo \"$0.fifo\"; exec 9<>\"$0.fifo\"; read -t 3 -u 9\nexec '{}' {}\n",
        server.program.display(),
        server.args.join(" ")
    );
    let (health, took) = look_at_runner(&script, Duration::from_secs(1)).await;
    assert!(matches!(health, ServerHealth::Connected { .. }), "{health:?}");
    assert!(took >= Duration::from_secs(3), "{took:?}");
}

// L3
#[tokio::test]
async fn time_of_a_download_is_not_taken_from_listing() {
    // Its tools come in two parts, two seconds apart: more than the second that is left in any case.
    let server = ScriptedStdio::new(&["split-reply:2000"]).with_option("--on", "tools/list");
    let script = format!(
        "#!/bin/bash\nmkfifo \"$0.fifo\"; exec 9<>\"$0.fifo\"; read -t 4 -u 9\nexec '{}' {}\n",
        server.program.display(),
        server.args.join(" ")
    );
    let (health, took) = look_at_runner(&script, Duration::from_secs(4)).await;
    let ServerHealth::Connected { surface, .. } = &health else { panic!("{health:?}") };
    assert!(surface.gaps.is_empty() && !surface.tools.is_empty(), "{surface:?}");
    assert!(took >= Duration::from_secs(6), "{took:?}");
}

// L3
#[tokio::test]
async fn package_runner_that_has_started_a_silent_server_gets_no_more_time_than_others() {
    let (health, took) = look_at_runner("#!/bin/bash\nsleep 600; true\n", Duration::from_secs(1)).await;
    assert!(matches!(health, ServerHealth::Failed { .. }), "{health:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
}
