//! Servers as processes: start, exit and shutdown.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_platform::process::ProgramLaunch;
use mcparley_testkit::{ScriptedStdio, log_lines, processes_tagged};
use mcparley_wire::peer::{PeerCallOptions, PingHandler};
use mcparley_wire::transport::stdio::StdioTransport;
use mcparley_wire::{Failure, Obstacle, RequestParams, ServerExit};
use serde_json::json;

use crate::world::{Server, call, log_file, text};

// F01
#[tokio::test]
async fn server_that_exits_at_once_reports_its_code_and_stderr() {
    let mut server = Server::scripted(&["exit-start"]);
    let error = server.connect_as(Era::Old, Duration::from_secs(10)).await.unwrap_err();
    let Failure::Closed { exit: Some(ServerExit { code: Some(3), .. }), .. } = error else {
        panic!("{error:?}");
    };
}

// F02 F28
#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    for (program, cwd, stood) in [
        ("no-such-program", None, Obstacle::NoProgram),
        ("/no/such/program", None, Obstacle::NoProgram),
        ("/etc", None, Obstacle::Directory),
        ("/etc/passwd", None, Obstacle::NotExecutable),
        ("sh", Some("/no/such"), Obstacle::WorkingDirectory),
    ] {
        let launch = ProgramLaunch {
            program: program.into(),
            args: Vec::new(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: cwd.map(Into::into),
        };
        let error = StdioTransport::open(&launch, std::sync::Arc::new(PingHandler)).await.unwrap_err();
        let Failure::Refused { obstacle, reason, .. } = error else { panic!("{error:?}") };
        assert_eq!(obstacle, stood);
        assert!(reason.contains(cwd.unwrap_or(program)), "{reason}");
    }
}

// F04
#[tokio::test]
async fn calls_in_flight_end_when_the_server_dies_and_say_that_the_outcome_is_unknown() {
    let connected = Server::scripted(&["call-exit"]).connect().await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..5 {
        let session = connected.session.clone();
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        calls.spawn(async move { session.call("tools/call", params, PeerCallOptions::default()).await });
    }
    let start = Instant::now();
    for outcome in calls.join_all().await {
        assert!(matches!(outcome, Err(Failure::Closed { .. })), "{outcome:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(3));
}

// F14
#[tokio::test]
async fn partial_line_and_end_of_output_fail_the_call_at_once() {
    let connected = Server::scripted(&["partial-exit"]).connect().await.unwrap();
    let start = Instant::now();
    assert!(call(&connected, "echo", json!({"message": "x"})).await.is_err());
    assert!(start.elapsed() < Duration::from_secs(3));
}

// F09
#[tokio::test]
async fn a_server_that_closes_its_output_is_over_and_gone() {
    let tag = format!("wire-closed-{}", std::process::id());
    let scripted = ScriptedStdio::new(&["close-stdout:call"]).with_option("--tag", &tag);
    let connected = Server::new(scripted).connect().await.unwrap();
    assert!(!processes_tagged(&tag).is_empty());
    let start = Instant::now();
    let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(error, Failure::Closed { .. }), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(processes_tagged(&tag).is_empty(), "it does not live on unheard");
}

// F10
#[tokio::test]
async fn a_server_that_closes_its_input_and_lives_fails_all_calls_at_once() {
    let tag = format!("wire-closed-input-{}", std::process::id());
    let scripted = ScriptedStdio::new(&["close-stdin"]).with_option("--tag", &tag);
    let connected = Server::new(scripted).connect().await.unwrap();
    let slow = call(&connected, "slow", json!({"ms": 60_000}));
    let mut slow = std::pin::pin!(slow);
    let answered = call(&connected, "echo", json!({"message": "last"}));
    let answer = tokio::select! {
        biased;
        answer = &mut slow => panic!("{answer:?}"),
        answer = answered => answer.unwrap(),
    };
    assert_eq!(text(&answer), "last");

    let start = Instant::now();
    let written = call(&connected, "echo", json!({"message": "x"}));
    let (written, in_flight) = tokio::join!(written, slow);
    let took = start.elapsed();
    for error in [written.unwrap_err(), in_flight.unwrap_err()] {
        assert_eq!(error.to_string(), "the connection ended: the server has closed its input");
        assert!(matches!(error, Failure::Closed { sent: true, .. }), "{error:?}");
    }
    assert!(took < Duration::from_secs(1), "{took:?}");
    let error = call(&connected, "echo", json!({"message": "y"})).await.unwrap_err();
    assert!(matches!(error, Failure::Closed { sent: false, .. }), "{error:?}");
}

/// The parent of a process, which for a server is its guardian.
fn guardian_of(pid: u32) -> rustix::process::Pid {
    let stat =
        mcparley_platform::file::read_text(format!("/proc/{pid}/stat").as_ref(), 4096).unwrap().unwrap();
    let (_, fields) = stat.text.rsplit_once(')').unwrap();
    let parent = fields.split_whitespace().nth(1).unwrap();
    rustix::process::Pid::from_raw(parent.parse().unwrap()).unwrap()
}

// F101
#[tokio::test]
async fn calls_fail_when_the_guardian_is_killed_though_a_child_holds_the_output() {
    let tag = format!("wire-bereft-{}", std::process::id());
    let scripted = ScriptedStdio::new(&[]);
    let mut command = vec![scripted.program.to_string_lossy().into_owned()];
    command.extend(scripted.args);
    let script = r#"sh -c 'sleep 1000; true' --tag "$0" & exec "$@""#;
    let args = ["-c", script, &tag].into_iter().map(str::to_owned).chain(command).collect();
    let mut server = Server::new(ScriptedStdio { program: "/bin/sh".into(), args });
    let connected = server.connect().await.unwrap();
    assert!(!processes_tagged(&tag).is_empty());

    let slow = call(&connected, "slow", json!({"ms": 60_000}));
    let guardian = guardian_of(connected.link.pid());
    let kill = async {
        // When this is answered, the call is in flight.
        call(&connected, "echo", json!({"message": "x"})).await.unwrap();
        rustix::process::kill_process(guardian, rustix::process::Signal::KILL).unwrap();
        Instant::now()
    };
    let (failure, killed) = tokio::join!(slow, kill);
    let error = failure.unwrap_err();
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    assert_eq!(error.to_string(), "the connection ended: the guardian of the server was killed");
    let gone = async {
        while !processes_tagged(&tag).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the rest of the tree is ended");
    let again = server.connect().await.unwrap();
    assert_eq!(text(&call(&again, "echo", json!({"message": "on"})).await.unwrap()), "on");
}

// F07 K3
#[tokio::test]
async fn call_dropped_right_before_the_stop_still_sends_its_cancellation() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        // Ignores signals, so that messages that were sent in time are also read in time.
        let scripted = ScriptedStdio::new(&["ignore-term"]).with_log(&log);
        let connected = Server::new(scripted).connect().await.unwrap();
        let params = RequestParams::new()
            .with_member("name", &"slow")
            .with_member("arguments", &json!({"ms": 60_000}));
        let slow = connected.session.call("tools/call", params, PeerCallOptions::default());
        assert!(tokio::time::timeout(Duration::from_millis(20), slow).await.is_err());
        connected.link.stop().await;
        let told =
            log_lines(&log).iter().filter(|line| line.text.contains("notifications/cancelled")).count();
        assert_eq!(told, 1);
    }
}

// F07
#[tokio::test]
async fn dropped_call_sends_one_cancellation_and_the_next_call_works() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let connected = Server::new(ScriptedStdio::new(&[]).with_log(&log)).connect().await.unwrap();
    let params =
        RequestParams::new().with_member("name", &"slow").with_member("arguments", &json!({"ms": 60_000}));
    let slow = connected.session.call("tools/call", params, PeerCallOptions::default());
    assert!(tokio::time::timeout(Duration::from_millis(200), slow).await.is_err());
    assert_eq!(text(&call(&connected, "echo", json!({"message": "next"})).await.unwrap()), "next");
    connected.link.stop().await;
    let cancelled =
        log_lines(&log).iter().filter(|line| line.text.contains("notifications/cancelled")).count();
    assert_eq!(cancelled, 1);
}

// T1 B57
#[tokio::test]
async fn a_server_sees_exactly_the_environment_it_is_given() {
    let connected = Server::scripted(&[]).connect().await.unwrap();
    let answer = text(&call(&connected, "env", json!({})).await.unwrap());
    let env: std::collections::BTreeMap<String, String> = serde_json::from_str(&answer).unwrap();
    assert_eq!(env.keys().collect::<Vec<_>>(), ["MARK", "PATH"]);
}

// L8 L9 F18 F20
#[tokio::test]
async fn stopping_ends_a_stubborn_server_and_all_it_started() {
    let tag = format!("wire-{}", std::process::id());
    let scripted = ScriptedStdio::new(&["ignore-term", "daemon"]).with_option("--tag", &tag);
    let connected = Server::new(scripted).connect().await.unwrap();
    assert!(processes_tagged(&tag).len() >= 2);
    let start = Instant::now();
    connected.link.stop().await;
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    assert!(processes_tagged(&tag).is_empty());
}

// L9 F25
#[tokio::test]
async fn dropping_a_server_ends_it_and_leaves_no_descriptor() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let connected = Server::scripted(&[]).connect().await.unwrap();
    drop(connected);
    let before = descriptors();
    for _ in 0..20 {
        let connected = Server::scripted(&[]).connect_as(Era::Old, Duration::from_secs(10)).await.unwrap();
        let pid = connected.link.pid();
        let peer = connected.session.peer().clone();
        drop(connected);
        peer.wait_until_ended().await;
        assert!(!std::path::Path::new(&format!("/proc/{pid}/exe")).exists());
    }
    assert!(descriptors() <= before + 2, "{} then {}", before, descriptors());
}
