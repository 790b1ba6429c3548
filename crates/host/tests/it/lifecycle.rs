//! Starts, crashes and restarts of servers.

use std::time::{Duration, Instant};

use mcparley::Call;
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines, log_starts, processes_tagged};
use serde_json::json;

use crate::alive::{Alive, LONG, http, is_connected, own, scripted, servers, stdio, until_gone, with};

fn failure(alive: &Alive, name: &str) -> String {
    match alive.status(name) {
        ServerStatus::Failed(error) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

// F01 L1 L3 L13
#[tokio::test]
async fn server_that_exits_at_start_fails_with_exit_code_and_stderr_and_delays_no_other() {
    let alive = servers([("bad", scripted(&["exit-start"])), ("good", scripted(&[]))]).ready().await;
    assert!(is_connected(&alive.status("good")));
    let ServerStatus::Failed(error) = alive.status("bad") else { panic!("{:?}", alive.status("bad")) };
    assert_eq!(error.to_string(), "the connection ended: the server exited with code 3");
    assert!(!error.stderr.clean_text().trim().is_empty());
    assert!(alive.echo("good", "hi").await.is_ok());
}

// F01 L3 L11
#[tokio::test]
async fn server_that_exits_before_listing_its_tools_fails_at_once() {
    let (_folder, log, _) = own("crash-loop");
    let begun = Instant::now();
    let entry = stdio(&ScriptedStdio::new(&["crash-loop"]).with_log(&log));
    let alive = servers([("loops", entry), ("good", stdio(&ScriptedStdio::new(&[])))]).ready().await;
    assert!(failure(&alive, "loops").contains("code 5"), "{}", failure(&alive, "loops"));
    assert_eq!(alive.echo("good", "hi").await.unwrap(), "hi");
    // The first pause before another attempt would be a second alone, and there would be five.
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(log_starts(&log).len() <= 2);
}

// F02 F28
#[tokio::test]
async fn start_error_names_the_program_or_folder_and_the_others_start() {
    let alive = servers([
        ("missing", json!({ "command": "no-such-program-anywhere" })),
        ("folder", json!({ "command": "/tmp" })),
        ("nowhere", with(scripted(&[]), "cwd", "/no/such/folder")),
        ("good", scripted(&[])),
    ])
    .ready()
    .await;
    assert!(failure(&alive, "missing").contains("no-such-program-anywhere"));
    assert!(failure(&alive, "folder").contains("/tmp"));
    assert!(failure(&alive, "nowhere").contains("/no/such/folder"));
    assert!(is_connected(&alive.status("good")));
}

// F03 L3
#[tokio::test]
async fn server_that_never_answers_times_out_and_is_killed() {
    let (_folder, _, tag) = own("never-answers");
    let entry = stdio(&ScriptedStdio::new(&["hang-start"]).with_option("--tag", &tag));
    let alive = servers([("hangs", entry)]).variable("MCP_TIMEOUT", "2000").ready().await;
    let took = alive.server("hangs").state.connect_time;
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(4), "{took:?}");
    assert!(failure(&alive, "hangs").contains("timed out"));
    until_gone(&tag, Duration::from_secs(5));
}

// F03 L3
#[tokio::test]
async fn server_that_never_lists_its_tools_fails_at_the_connect_timeout() {
    let entry = stdio(&ScriptedStdio::new(&["call-hang"]).with_option("--on", "tools/list"));
    let alive = servers([("mute", entry)]).variable("MCP_TIMEOUT", "2000").ready().await;
    let took = alive.server("mute").state.connect_time;
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(5), "{took:?}");
}

// F10 L6
#[tokio::test]
async fn a_server_that_closes_its_input_is_started_again_and_the_next_call_works() {
    let (_folder, log, _) = own("closed-input");
    let entry = stdio(&ScriptedStdio::new(&["close-stdin"]).with_log(&log));
    let alive = servers([("one", entry)]).ready().await;
    let begun = Instant::now();
    for message in ["a", "b", "c"] {
        assert_eq!(alive.echo("one", message).await.unwrap(), message);
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(log_starts(&log).len() >= 3);
}

// F30
#[tokio::test]
async fn a_refused_connection_fails_at_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let entry = json!({ "type": "http", "url": format!("http://127.0.0.1:{port}/mcp") });
    let begun = Instant::now();
    let alive = servers([("closed", entry)]).ready().await;
    assert!(matches!(alive.status("closed"), ServerStatus::Failed(_)));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

// F04 K6 L6
#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_its_calls_and_is_there_for_the_next() {
    let (_folder, log, _) = own("dies");
    let entry = stdio(&ScriptedStdio::new(&["call-exit"]).with_option("--on", "tools/call").with_log(&log));
    let once = log.with_extension("once");
    let entry = {
        let mut entry = entry;
        let args = entry["args"].as_array_mut().unwrap();
        args.extend([json!("--once"), json!(once)]);
        entry
    };
    let alive = servers([("dies", entry)]).ready().await;
    let calls = (0..5).map(|_| alive.call("dies", "add", json!({ "a": 1, "b": 2 })));
    let results = crate::together(calls).await;
    for result in results {
        let error = result.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error}");
    }
    assert_eq!(alive.echo("dies", "again").await.unwrap(), "again");
    assert!(is_connected(&alive.status("dies")));
    assert_eq!(log_starts(&log).len(), 2);
}

// L6
#[tokio::test]
async fn a_server_that_dies_idle_comes_back_by_itself() {
    let (_folder, log, _) = own("idle-death");
    let alive = servers([("dies", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    let process = alive.call("dies", "pid", json!({})).await.unwrap().to_text();
    let killed = std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
    assert!(killed.success());
    alive.until("dies", |status| !is_connected(status)).await;
    alive.until("dies", is_connected).await;
    assert_eq!(log_starts(&log).len(), 2);
    assert_ne!(alive.call("dies", "pid", json!({})).await.unwrap().to_text(), process);
}

// L4 F99
#[tokio::test]
async fn a_burst_of_calls_to_a_server_that_fails_starts_few_processes() {
    let (_folder, log, _) = own("burst");
    let entry = stdio(&ScriptedStdio::new(&["exit-start"]).with_log(&log));
    let alive = servers([("bad", entry)]).start_with(StartPolicy::OnDemand).start();
    for _ in 0..20 {
        let calls = (0..5).map(|_| alive.echo("bad", "hi"));
        for result in crate::together(calls).await {
            let error = result.unwrap_err();
            assert!(error.to_string().contains("code 3"), "{error}");
        }
    }
    // The probe and the fresh start after it are two processes; a second after a failure it is tried again.
    let starts = log_starts(&log).len();
    assert!((1..=6).contains(&starts), "{starts}");
}

// F09
#[tokio::test]
async fn a_server_that_closes_its_output_and_lives_on_is_replaced() {
    let (folder, _, tag) = own("closes-output");
    let once = folder.path().join("once");
    let scripted = ScriptedStdio::new(&["close-stdout:call"]).with_option("--tag", &tag);
    let entry = stdio(&scripted.with_option("--once", &once.to_string_lossy()));
    let alive = servers([("closes", entry)]).ready().await;
    let begun = Instant::now();
    let error = alive.call("closes", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(alive.echo("closes", "again").await.unwrap(), "again");
}

// L4
#[tokio::test]
async fn a_hundred_callers_open_one_connection() {
    let (_folder, log, _) = own("one-connection");
    let alive = servers([("one", stdio(&ScriptedStdio::new(&[]).with_log(&log)))])
        .start_with(StartPolicy::OnDemand)
        .start();
    assert!(matches!(alive.status("one"), ServerStatus::Dormant));
    let calls = (0..100).map(|number| alive.call("one", "echo", json!({ "message": number.to_string() })));
    for (number, result) in crate::together(calls).await.into_iter().enumerate() {
        assert_eq!(result.unwrap().to_text(), number.to_string());
    }
    assert_eq!(log_starts(&log).len(), 1);
}

// T9
#[tokio::test]
async fn era_of_a_server_is_probed_once() {
    let (folder, log, _) = own("era");
    let once = folder.path().join("once");
    let scripted = ScriptedStdio::new(&["call-exit"]).with_option("--versions", "2025-06-18").with_log(&log);
    let alive =
        servers([("old", stdio(&scripted.with_option("--once", &once.to_string_lossy())))]).ready().await;
    // Dies, and is reached again.
    alive.call("old", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert_eq!(alive.echo("old", "hi").await.unwrap(), "hi");
    let received = log_lines(&log);
    let count = |method: &str| received.iter().filter(|line| line.text.contains(method)).count();
    assert_eq!((count("server/discover"), count("\"initialize\"")), (1, 2));
}

// L8 L9 F18 F20
#[tokio::test]
async fn shutting_down_ends_stubborn_servers_and_their_children_within_the_limit() {
    let (_folder, _, tag) = own("stubborn");
    let entry = |script: &str| stdio(&ScriptedStdio::new(&[script]).with_option("--tag", &tag));
    let alive = servers([("term", entry("ignore-term")), ("fork", entry("daemon"))]).ready().await;
    let begun = Instant::now();
    alive.host.shut_down().await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    until_gone(&tag, Duration::from_secs(1));
    alive.host.reconnect_server(&mcparley::model::name::ServerName::new("term")).await;
    assert!(matches!(alive.status("term"), ServerStatus::Stopped));
    assert!(alive.echo("term", "hi").await.is_err());
}

// L8
#[tokio::test]
async fn shutting_down_also_ends_a_connection_that_was_replaced_and_is_still_in_use() {
    let (_folder, log, tag) = own("replaced");
    let once = log.with_extension("once");
    let stubborn =
        ScriptedStdio::new(&["call-hang", "ignore-term"]).with_option("--once", &once.to_string_lossy());
    let entry = stdio(&stubborn.with_option("--tag", &tag).with_log(&log));
    let alive = servers([("hangs", entry)]).ready().await;
    let host = alive.host.clone();
    let calling = tokio::spawn(async move {
        host.call(Call::new("mcp__hangs__echo", json!({ "message": "x" })).with_consent(Consent::Given)).await
    });
    while !std::fs::read_to_string(&log).unwrap_or_default().contains("tools/call") {
        tokio::task::yield_now().await;
    }
    alive.host.reconnect_server(&ServerName::new("hangs")).await;
    while log_starts(&log).len() < 2 {
        tokio::task::yield_now().await;
    }
    alive.until("hangs", is_connected).await;
    assert!(processes_tagged(&tag).len() >= 2);
    let begun = Instant::now();
    alive.host.shut_down().await;
    assert_eq!(processes_tagged(&tag), [0_u32; 0], "all are gone when it says so");
    assert!(begun.elapsed() >= Duration::from_millis(400), "each is given its time to end by itself");
    assert!(calling.await.unwrap().is_err());
}

// L9
#[tokio::test]
async fn dropping_the_host_leaves_no_process() {
    let (_folder, _, tag) = own("dropped");
    let entry = stdio(&ScriptedStdio::new(&["ignore-term"]).with_option("--tag", &tag));
    let alive = servers([("left", entry)]).ready().await;
    drop(alive);
    tokio::task::spawn_blocking(move || until_gone(&tag, LONG)).await.unwrap();
}

// L8 T3
#[tokio::test]
async fn shutdown_ends_the_http_session() {
    let server = HttpServer::start_with(&[], &["--versions", "2025-11-25"]);
    let alive = servers([("remote", http(&server))]).ready().await;
    assert!(is_connected(&alive.status("remote")));
    alive.host.shut_down().await;
    assert_eq!(server.stats()["delete"], 1);
}

// L13
#[tokio::test]
async fn readiness_has_a_deadline_and_says_what_is_missing() {
    let alive =
        servers([("slow", with(scripted(&["hang-start"]), "required", true)), ("good", scripted(&[]))])
            .start();
    alive.reach("good").await;
    let readiness = alive.host.wait_until_ready(Duration::ZERO).await;
    assert!(!readiness.settled && !readiness.is_ready());
    let words: Vec<_> = readiness.servers.iter().map(|server| server.state.status.as_str()).collect();
    assert_eq!(words, ["pending", "connected", "connected"]);
}

// L1
#[tokio::test]
async fn each_change_of_a_server_is_an_event() {
    let alive = servers([("one", scripted(&[]))]).start_with(StartPolicy::OnDemand).start();
    let mut events = alive.host.server_events();
    alive.reach("one").await;
    alive.host.shut_down().await;
    let mut words = Vec::new();
    while let Ok(event) = events.try_recv() {
        if event.server.as_str() == "one" {
            words.push(event.status.as_str());
        }
    }
    assert_eq!(words, ["pending", "connected", "disabled"]);
}

// F65 X6
#[tokio::test]
async fn a_server_that_asks_in_the_middle_of_a_call_is_answered() {
    let entry =
        stdio(&ScriptedStdio::new(&["server-request:roots/list"]).with_option("--versions", "2025-11-25"));
    let alive = servers([("asks", entry)]).ready().await;
    let project = alive.world.path("home/project");
    alive.host.set_roots([&project]);
    let answer = alive.echo("asks", "hi").await.unwrap();
    assert!(answer.contains(&format!("file://{}", project.display())), "{answer}");

    for (method, expected) in [("ping", "{}"), ("sampling/createMessage", "-32601")] {
        let script = format!("server-request:{method}");
        let entry = stdio(&ScriptedStdio::new(&[&script]).with_option("--versions", "2025-11-25"));
        let alive = servers([("asks", entry)]).ready().await;
        let answer = alive.echo("asks", "hi").await.unwrap();
        assert!(answer.contains(expected), "{method}: {answer}");
    }
}

// F25
#[tokio::test]
async fn two_hundred_lives_heavy_leave_no_zombie_and_no_open_file() {
    let (_folder, _, tag) = own("lives");
    let entry = stdio(&ScriptedStdio::new(&[]).with_option("--tag", &tag));
    let alive = servers([("one", entry)]).ready().await;
    let mut open = None;
    for round in 0..200 {
        alive.host.reconnect_server(&mcparley::model::name::ServerName::new("one")).await;
        assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
        if round == 20 {
            open = Some(open_files());
        }
    }
    alive.host.shut_down().await;
    until_gone(&tag, LONG);
    // A few may be on their way out; a leak would be hundreds.
    assert!(open_files() <= open.unwrap() + 4, "{} then {}", open.unwrap(), open_files());
    assert_eq!(zombies(), 0);
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Zombie children of this process.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str())
        })
        .count()
}

// T2 T9
#[tokio::test]
async fn sse_server_connects_by_type_and_by_url_alone() {
    let server = HttpServer::start(&["legacy-sse-only"]);
    let url = server.url();
    let entries = [
        ("named", json!({ "type": "sse", "url": url })),
        ("found", json!({ "type": "http", "url": format!("{url}?x=1") })),
    ];
    let alive = servers(entries).ready().await;
    for name in ["named", "found"] {
        assert!(is_connected(&alive.status(name)), "{name}: {:?}", alive.status(name));
        assert_eq!(alive.echo(name, "hi").await.unwrap(), "hi", "{name}");
    }
    alive.host.shut_down().await;
}

// F05 L6
#[tokio::test]
async fn server_that_keeps_dying_is_retried_five_times_with_backoff_and_then_fails() {
    let (_folder, log, tag) = own("keeps-dying");
    let entry = stdio(&ScriptedStdio::new(&[]).with_option("--tag", &tag).with_log(&log));
    let alive = servers([("dies", entry)]).ready().await;
    let mut pauses = Vec::new();
    for longest in [1, 2, 4, 8, 16] {
        kill_tagged(&tag);
        let begun = Instant::now();
        alive.until("dies", |status| !is_connected(status)).await;
        alive.until("dies", is_connected).await;
        pauses.push((begun.elapsed(), Duration::from_secs(longest)));
    }
    kill_tagged(&tag);
    alive.until("dies", |status| matches!(status, ServerStatus::Failed(_))).await;
    assert_eq!(log_starts(&log).len(), 6);
    // Starting takes a moment too, on a loaded machine a long one.
    assert!(pauses.iter().all(|(took, longest)| *took < *longest + Duration::from_secs(3)), "{pauses:?}");
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
}

fn kill_tagged(tag: &str) {
    let running = processes_tagged(tag);
    assert!(!running.is_empty());
    for process in running {
        // The guardian may have ended it with the one before.
        let _gone = std::process::Command::new("kill").args(["-9", &process.to_string()]).output().unwrap();
    }
}

// L6
#[tokio::test]
async fn servers_that_died_together_reconnect_with_jitter() {
    let (_folder, log, tag) = own("jitter");
    let names: Vec<String> = (0..12).map(|number| format!("s{number}")).collect();
    let entry = stdio(&ScriptedStdio::new(&[]).with_option("--tag", &tag).with_log(&log));
    let entries = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), with(entry.clone(), "env", json!({ "N": at.to_string() }))));
    let alive = servers(entries).variable("MCP_SERVER_CONNECTION_BATCH_SIZE", "12").ready().await;
    let mut events = alive.host.server_events();
    kill_tagged(&tag);
    let mut back = 0;
    while back < names.len() {
        let event = tokio::time::timeout(LONG, events.recv()).await.unwrap().unwrap();
        back += usize::from(is_connected(&event.status));
    }
    let starts: Vec<Duration> = log_starts(&log).iter().map(|line| line.at).collect();
    assert_eq!(starts.len(), 24);
    let again = &starts[12..];
    let spread = *again.iter().max().unwrap() - *again.iter().min().unwrap();
    // Twelve moments within a second; without jitter all are the same.
    assert!(spread > Duration::from_millis(300), "{spread:?}");
}

// T1 B10
#[tokio::test]
async fn a_server_that_logs_json_between_its_messages_is_understood() {
    let program = ScriptedStdio::new(&[]);
    let log = r#"{"level":30,"msg":"listening","error":null}"#;
    // A line of the log before each of its messages, by one writer, so that no line falls into another.
    let script = format!(
        r#"'{}' {} | while IFS= read -r line; do printf '%s\n' '{log}' "$line"; done"#,
        program.program.display(),
        program.args.join(" ")
    );
    let alive = servers([("logs", json!({ "command": "sh", "args": ["-c", script] }))]).ready().await;
    assert!(is_connected(&alive.status("logs")), "{:?}", alive.status("logs"));
    assert_eq!(alive.echo("logs", "hi").await.unwrap(), "hi");
}
