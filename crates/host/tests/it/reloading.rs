//! A changed configuration applies without a restart, and touches no unchanged server (C13, C11).

use std::time::{Duration, Instant};

use mcparley::host::ServerChanges;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use mcparley::{Call, CallError};
use mcparley_testkit::{ScriptedStdio, log_starts, processes_tagged};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, is_connected, own, scripted, servers, stdio, until_gone, with};
use crate::world::chmod;

/// Sooner than files are looked at without a reason.
const SOON: Duration = Duration::from_secs(20);

fn rewrite(alive: &Alive, servers: &Value) {
    alive.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
}

fn server_names(list: &[&str]) -> Vec<ServerName> {
    list.iter().map(|name| ServerName::new(name)).collect()
}

/// Waits until the host is as wanted, however it gets there.
async fn until(alive: &Alive, wanted: impl Fn(&Alive) -> bool) {
    let begun = Instant::now();
    while !wanted(alive) {
        assert!(begun.elapsed() < LONG, "{:?}", alive.host.servers());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn has(alive: &Alive, name: &str) -> bool {
    alive.host.servers().iter().any(|server| server.name.as_str() == name)
}

// C11 C13
#[tokio::test]
async fn only_changed_servers_are_restarted() {
    let (_folder, log, _) = own("only-changed");
    let logged = |name: &str| stdio(&ScriptedStdio::new(&[]).with_log(&log.with_extension(name)));
    let starts = |name: &str| log_starts(&log.with_extension(name)).len();
    let alive = servers([("same", logged("same")), ("other", logged("other")), ("gone", logged("gone"))])
        .ready()
        .await;
    let process = alive.call("same", "pid", json!({})).await.unwrap().to_text();
    let order = |alive: &Alive| -> Vec<String> {
        alive.host.publish_catalog().iter().map(|entry| entry.name.to_string()).collect()
    };
    let before = order(&alive);

    let other = with(logged("other"), "env", json!({ "CHANGED": "yes" }));
    let same = with(logged("same"), "timeout", 123_456);
    rewrite(&alive, &json!({ "same": same, "other": other, "new": logged("new") }));
    let change = alive.host.reload().await;
    let ServerChanges { added, removed, changed, .. } = change;
    assert_eq!(
        (added, removed, changed),
        (server_names(&["new"]), server_names(&["gone"]), server_names(&["other"]))
    );
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    assert_eq!(alive.call("same", "pid", json!({})).await.unwrap().to_text(), process);
    assert_eq!((starts("same"), starts("other"), starts("gone")), (1, 2, 1));
    assert!(is_connected(&alive.status("new")) && is_connected(&alive.status("other")));
    assert!(!has(&alive, "gone"));
    // N11: shown tools keep their position.
    let after = order(&alive);
    let kept: Vec<&String> = before.iter().filter(|name| !name.starts_with("mcp__gone")).collect();
    assert_eq!(after.iter().take(kept.len()).collect::<Vec<_>>(), kept);
}

// C13
#[tokio::test]
async fn a_written_file_applies_by_itself() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    rewrite(&alive, &json!({ "one": scripted(&[]), "two": with(scripted(&[]), "cwd", "/") }));
    until(&alive, |alive| has(alive, "two") && is_connected(&alive.status("two"))).await;
    rewrite(&alive, &json!({ "two": with(scripted(&[]), "cwd", "/") }));
    until(&alive, |alive| !has(alive, "one")).await;
    assert!(is_connected(&alive.status("two")));
}

// C13 C3
#[tokio::test]
async fn a_file_in_a_folder_that_was_not_there_is_noticed_too() {
    let alive = servers([]).ready().await;
    let settings = json!({ "mcpServers": { "late": scripted(&[]) } }).to_string();
    alive.world.write("home/.claude/settings.json", &settings);
    until(&alive, |alive| has(alive, "late") && is_connected(&alive.status("late"))).await;
}

// C13
#[tokio::test]
async fn the_target_of_a_linked_file_is_followed_too() {
    let alive = servers([]).ready().await;
    let target = alive.world.path("elsewhere/settings.json");
    alive.world.write("elsewhere/settings.json", "{}");
    std::fs::create_dir_all(alive.world.path("home/.claude")).unwrap();
    std::os::unix::fs::symlink(&target, alive.world.path("home/.claude/settings.json")).unwrap();
    let rules = |alive: &Alive| alive.host.loaded_config().settings.rules.len();
    let before = rules(&alive);
    // The first change may be noticed with the link, the second only at the target.
    for (round, deny) in [json!(["mcp__one"]), json!(["mcp__one", "mcp__two"])].into_iter().enumerate() {
        let begun = Instant::now();
        std::fs::write(&target, json!({ "permissions": { "deny": deny } }).to_string()).unwrap();
        until(&alive, |alive| rules(alive) > before + round).await;
        assert!(begun.elapsed() < SOON, "round {round}");
    }
}

// C13 F88
#[tokio::test]
async fn a_file_that_may_be_trusted_again_counts_at_once() {
    let alive = servers([]).ready().await;
    alive.world.write("managed/managed-settings.json", r#"{"enableAllProjectMcpServers": true}"#);
    let (beside, file) = (alive.world.path("beside"), alive.world.path("home/project/.mcp.json"));
    alive.world.write("beside", &json!({ "mcpServers": { "theirs": scripted(&[]) } }).to_string());
    chmod(&beside, 0o666);
    std::fs::rename(&beside, &file).unwrap();
    until(&alive, |alive| !alive.host.loaded_config().problems.is_empty()).await;
    assert!(!has(&alive, "theirs"));
    let begun = Instant::now();
    chmod(&file, 0o644);
    until(&alive, |alive| has(alive, "theirs")).await;
    assert!(begun.elapsed() < SOON);
}

// C13
#[tokio::test]
async fn later_of_two_concurrent_reloads_wins() {
    let alive = servers([]).ready().await;
    let wish = |name: &str| vec![json!({ "mcpServers": { name: { "command": "true" } } }).to_string()];
    for round in 0..100 {
        let (earlier, later) = (format!("early{round}"), format!("late{round}"));
        tokio::join!(alive.host.set_servers(wish(&earlier)), alive.host.set_servers(wish(&later)));
        assert!(has(&alive, &later) && !has(&alive, &earlier), "round {round}");
    }
}

// F88
#[tokio::test]
async fn a_file_swapped_under_its_old_size_and_time_is_noticed() {
    let alive = servers([("one", with(scripted(&[]), "cwd", "/usr"))]).ready().await;
    let file = alive.world.path("home/.claude.json");
    let (text, meta) = (std::fs::read_to_string(&file).unwrap(), file.metadata().unwrap());
    let swapped = text.replace(r#""/usr""#, r#""/bin""#);
    assert_eq!(swapped.len(), text.len());
    let beside = alive.world.path("home/beside");
    std::fs::write(&beside, swapped).unwrap();
    std::fs::File::options()
        .write(true)
        .open(&beside)
        .unwrap()
        .set_modified(meta.modified().unwrap())
        .unwrap();
    let mut events = alive.host.server_events();
    std::fs::rename(&beside, &file).unwrap();
    assert_eq!(file.metadata().unwrap().modified().unwrap(), meta.modified().unwrap());
    // The old one is stopped, the new one comes.
    let stopped = async { while !matches!(events.recv().await.unwrap().status, ServerStatus::Stopped) {} };
    tokio::time::timeout(LONG, stopped).await.unwrap();
    until(&alive, |alive| is_connected(&alive.status("one"))).await;
}

// F69
#[tokio::test]
async fn calls_on_a_changed_server_finish_before_it_restarts() {
    let (_folder, log, _) = own("finish");
    let logged = stdio(&ScriptedStdio::new(&[]).with_log(&log));
    let alive = servers([("slow", logged.clone())]).ready().await;
    let running = alive.call("slow", "slow", json!({ "ms": 700 }));
    let change = async {
        until(&alive, |_| {
            mcparley_testkit::log_lines(&log).iter().any(|line| line.text.contains("\"slow\""))
        })
        .await;
        rewrite(&alive, &json!({ "slow": with(logged.clone(), "env", json!({ "A": "b" })) }));
        alive.host.reload().await;
        // Comes while the old one still works, and is answered by the new one.
        alive.echo("slow", "next").await
    };
    let (running, next) = tokio::join!(running, change);
    assert!(!running.unwrap().is_error);
    assert_eq!(next.unwrap(), "next");
    assert_eq!(log_starts(&log).len(), 2);
}

// F69 C13
#[tokio::test]
async fn a_call_that_waits_for_a_changed_server_waits_through_the_next_change_too() {
    let alive = servers([("one", scripted(&[]))]).allow("mcp__one").ready().await;
    assert!(alive.host.publish_catalog().get("mcp__one__echo").is_some());
    rewrite(&alive, &json!({ "one": scripted(&["hang-start"]) }));
    assert_eq!(alive.host.reload().await.changed, server_names(&["one"]));
    let public = alive.host.call(Call::new("mcp__one__echo", json!({ "message": "public" })));
    let calls = async { tokio::join!(alive.echo("one", "hi"), public) };
    let change = async {
        until(&alive, |alive| matches!(alive.status("one"), ServerStatus::Pending { .. })).await;
        rewrite(&alive, &json!({ "one": with(scripted(&[]), "cwd", "/") }));
        alive.host.reload().await;
    };
    let ((echo, public), ()) = tokio::join!(calls, change);
    assert_eq!(echo.unwrap(), "hi");
    assert_eq!(public.unwrap().to_text(), "public");
}

// F69 K6
#[tokio::test]
async fn a_call_that_does_not_finish_ends_after_five_seconds_and_says_why() {
    let (_folder, log, tag) = own("cut");
    let logged = stdio(&ScriptedStdio::new(&["call-hang"]).with_log(&log).with_option("--tag", &tag));
    let alive = servers([("hangs", logged)]).ready().await;
    let begun = Instant::now();
    let running = alive.call("hangs", "add", json!({ "a": 1, "b": 2 }));
    let change = async {
        until(&alive, |_| {
            mcparley_testkit::log_lines(&log).iter().any(|line| line.text.contains("tools/call"))
        })
        .await;
        rewrite(&alive, &json!({}));
        alive.host.reload().await
    };
    let (running, change) = tokio::join!(running, change);
    assert_eq!(change.removed, server_names(&["hangs"]));
    let error = running.unwrap_err();
    assert!(matches!(error, CallError::Stopped { .. }) && error.is_outcome_unknown(), "{error}");
    assert!(begun.elapsed() >= Duration::from_secs(5) && begun.elapsed() < Duration::from_secs(8));
    until_gone(&tag, Duration::from_secs(5));
}

// C13
#[tokio::test]
async fn half_written_file_has_no_effect_until_it_is_complete() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    alive.world.write("home/.claude.json", r#"{"mcpServers": {"one": "#);
    let change = alive.host.reload().await;
    assert_eq!(change.held_back.len(), 1, "{change:?}");
    assert!(change.held_back[0].to_string().contains(".claude.json"));
    assert!(is_connected(&alive.status("one")));
    rewrite(&alive, &json!({}));
    until(&alive, |alive| !has(alive, "one")).await;
}

// C13
#[tokio::test]
async fn emptied_file_has_no_effect_either() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    alive.world.write("home/.claude.json", "");
    assert_eq!(alive.host.reload().await.held_back.len(), 1);
    assert!(is_connected(&alive.status("one")));
    std::fs::remove_file(alive.world.path("home/.claude.json")).unwrap();
    until(&alive, |alive| !has(alive, "one")).await;
}

// P3 C13
#[tokio::test]
async fn a_broken_file_holds_no_other_file_back() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let deny = |tool: &str| {
        let settings = json!({ "permissions": { "deny": [tool] } }).to_string();
        alive.world.write("home/.claude/settings.json", &settings);
    };
    // One that could never be read …
    alive.world.write("home/project/.mcp.json", "{ broken");
    deny("mcp__one__echo");
    until(&alive, |alive| {
        alive.host.loaded_config().settings.rules.iter().any(|rule| rule.text() == "mcp__one__echo")
    })
    .await;
    assert!(matches!(alive.echo("one", "hi").await, Err(CallError::Denied { .. })));
    // … and one that could, and whose servers go on.
    alive.world.write("home/.claude.json", "{ broken");
    deny("mcp__one__pid");
    let change = alive.host.reload().await;
    assert_eq!(change.held_back.len(), 1, "{change:?}");
    assert!(matches!(alive.call("one", "pid", json!({})).await, Err(CallError::Denied { .. })));
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
}

// C5 C13
#[tokio::test]
async fn broken_managed_file_stops_all_servers_at_once() {
    let (_folder, _, tag) = own("managed");
    let entry = stdio(&ScriptedStdio::new(&[]).with_option("--tag", &tag));
    let alive = servers([("one", entry)]).ready().await;
    assert!(!processes_tagged(&tag).is_empty());
    alive.world.write("managed/managed-mcp.json", "{");
    until(&alive, |alive| !has(alive, "one")).await;
    until_gone(&tag, LONG);
}

// C7 B21 H06
#[tokio::test]
async fn what_a_repository_adds_while_the_host_runs_is_not_started() {
    let (_folder, _, tag) = own("repository");
    let alive = servers([]).ready().await;
    let entry = stdio(&ScriptedStdio::new(&[]).with_option("--tag", &tag));
    alive.world.write("home/project/.mcp.json", &json!({ "mcpServers": { "sneaky": entry } }).to_string());
    until(&alive, |alive| !alive.host.loaded_config().plan.servers_by_name("sneaky").is_empty()).await;
    assert!(!has(&alive, "sneaky"));
    assert_eq!(processes_tagged(&tag), Vec::<u32>::new());
}

// C1 C13
#[tokio::test]
async fn the_embedding_program_replaces_its_own_servers() {
    let alive = servers([("user", scripted(&[]))]).ready().await;
    let own = json!({ "mcpServers": { "mine": with(scripted(&[]), "cwd", "/") } }).to_string();
    let change = alive.host.set_servers(vec![own]).await;
    assert_eq!(change.added, server_names(&["mine"]));
    alive.reach("mine").await;
    let change = alive.host.set_servers(Vec::new()).await;
    assert_eq!(change.removed, server_names(&["mine"]));
    assert!(is_connected(&alive.status("user")));
}

// P3 C13
#[tokio::test]
async fn a_new_rule_holds_for_the_next_call() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    assert!(alive.echo("one", "hi").await.is_ok());
    let settings = json!({ "permissions": { "deny": ["mcp__one__echo"] } }).to_string();
    alive.world.write("home/.claude/settings.json", &settings);
    alive.host.reload().await;
    let error = alive.echo("one", "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
    assert!(is_connected(&alive.status("one")), "the server goes on");
}

// L10 C13
#[tokio::test]
async fn nothing_starts_in_a_host_that_was_shut_down() {
    let (_folder, log, _) = own("after-the-end");
    let alive = servers([("one", scripted(&[]))]).ready().await;
    alive.host.shut_down().await;
    rewrite(&alive, &json!({ "one": scripted(&[]), "two": stdio(&ScriptedStdio::new(&[]).with_log(&log)) }));
    assert_eq!(alive.host.reload().await, ServerChanges::default());
    assert!(!has(&alive, "two"));
    assert!(!log.exists(), "it was not started");
}

// C13 F69
#[tokio::test]
async fn fifty_calls_go_on_while_another_server_of_the_project_changes() {
    let (_folder, log, _) = own("fifty");
    let logged = |name: &str| stdio(&ScriptedStdio::new(&[]).with_log(&log.with_extension(name)));
    let starts = |name: &str| log_starts(&log.with_extension(name)).len();
    let project = |changed: Value| {
        json!({ "mcpServers": { "changed": changed, "one": logged("one"), "two": logged("two") } })
            .to_string()
    };
    let making = servers([]);
    let alive = making.start();
    alive.world.write("managed/managed-settings.json", r#"{"enableAllProjectMcpServers": true}"#);
    alive.world.write("home/project/.mcp.json", &project(logged("changed")));
    until(&alive, |alive| {
        ["changed", "one", "two"].iter().all(|name| has(alive, name) && is_connected(&alive.status(name)))
    })
    .await;

    let calls = (0..50).map(|number| {
        let server = if number % 2 == 0 { "one" } else { "two" };
        alive.call(server, "slow", json!({ "ms": 1_500 }))
    });
    let edit = async {
        let received = |name: &str| mcparley_testkit::log_lines(&log.with_extension(name));
        until(&alive, |_| received("two").iter().any(|line| line.text.contains("\"slow\""))).await;
        alive
            .world
            .write("home/project/.mcp.json", &project(with(logged("changed"), "env", json!({ "A": "b" }))));
        until(&alive, |_| starts("changed") == 2).await;
    };
    let (answers, ()) = tokio::join!(crate::together(calls), edit);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 50);
    assert_eq!((starts("changed"), starts("one"), starts("two")), (2, 1, 1));
}
