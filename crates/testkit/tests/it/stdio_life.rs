//! Tests of the scripts about the lifecycle of the process.

use crate::stdio_client::{Stdio, start};
use mcparley_testkit::{ScriptedStdio, log_lines, log_starts, processes_tagged};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

pub(crate) const WORDS: &[&str] = &[
    "exit-start",
    "hang-start",
    "call-exit",
    "call-hang",
    "partial-exit",
    "close-stdout",
    "close-stdin",
    "no-read",
    "crash-loop",
    "ignore-term",
    "daemon",
];

fn called(script: &str) -> Stdio {
    let mut server = start(&[script]);
    server.greet();
    server.echo();
    server
}

#[test]
fn exit_start_exits_with_its_reason_on_stderr() {
    let mut server = start(&["exit-start"]);
    assert_eq!((server.line(), server.wait().code()), (None, Some(3)));
    assert_eq!(server.stderr(), b"exit-start: the database is missing\n");
}

#[test]
fn hang_start_reads_and_never_answers() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut server = Stdio::start(&ScriptedStdio::new(&["hang-start"]).with_log(&log));
    server.request(1, "initialize", &json!({}));
    assert!(server.end().success());
    assert_eq!(server.line(), None);
    assert_eq!(log_lines(&log).len(), 1);
}

#[test]
fn call_exit_ends_the_process() {
    let mut server = called("call-exit");
    assert_eq!((server.line(), server.wait().code()), (None, Some(4)));
    let mut server = called("partial-exit");
    let half = server.line().unwrap();
    assert!(half.starts_with(br#"{"jsonrpc":"2.0","id":2,"#) && !half.ends_with(b"}}"));
    assert_eq!((server.line(), server.wait().code()), (None, Some(6)));
}

#[test]
fn a_closed_stdin_is_a_broken_pipe_and_the_server_lives() {
    let mut server = called("close-stdin");
    assert_eq!(server.message()["id"], 2);
    assert!(server.try_send(&json!({})).is_err());
    assert!(server.child.try_wait().unwrap().is_none());
}

#[test]
fn hanging_call_does_not_block_other_requests() {
    let mut server = called("call-hang");
    assert_eq!(server.ask("ping", &json!({}))["id"], 7);
    assert!(server.end().success());
    assert_eq!(server.line(), None);
}

#[test]
fn a_closed_stdout_leaves_the_server_alive() {
    let mut after_greeting = start(&["close-stdout:init"]);
    after_greeting.greet();
    for mut server in [called("close-stdout"), after_greeting] {
        assert_eq!(server.line(), None);
        assert_eq!(server.child.try_wait().unwrap(), None);
        assert!(server.end().success());
    }
}

#[test]
fn no_read_stops_reading_after_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut server = Stdio::start(&ScriptedStdio::new(&["no-read"]).with_log(&log));
    server.greet();
    server.echo();
    assert!(server.end().success());
    assert_eq!(server.line(), None);
    assert_eq!(log_lines(&log).len(), 1, "only initialize");
}

#[test]
fn crash_loop_answers_handshake_and_exits_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    for _ in 0..2 {
        let mut server = Stdio::start(&ScriptedStdio::new(&["crash-loop"]).with_log(&log));
        server.request(1, "initialize", &json!({}));
        assert_eq!(server.message()["id"], 1);
        assert_eq!(server.wait().code(), Some(5));
    }
    assert_eq!(log_starts(&log).len(), 2);
}

#[test]
fn ignore_term_ignores_signals_and_end_of_input() {
    let mut server = start(&["ignore-term"]);
    server.greet();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill_process(Pid::from_child(&server.child), signal).unwrap();
    }
    assert_eq!(server.ask("ping", &json!({}))["id"], 7);
    server.close_stdin();
    assert!(server.is_quiet());
    assert_eq!(server.child.try_wait().unwrap(), None);
}

#[test]
fn a_daemon_outlives_its_server() {
    let tag = format!("scripted-daemon-{}", std::process::id());
    let mut server = Stdio::start(&ScriptedStdio::new(&["daemon"]).with_option("--tag", &tag));
    server.greet();
    assert_eq!(processes_tagged(&tag).len(), 2);
    assert!(server.end().success());
    let left = processes_tagged(&tag);
    for pid in &left {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
    }
    assert_eq!(left.len(), 1);
}

#[test]
fn faults_can_be_aimed_and_counted() {
    let mut server = Stdio::start(&ScriptedStdio::new(&["unknown-id"]).with_option("--times", "1"));
    server.greet();
    server.echo();
    assert_eq!(server.message()["id"], 987_654_321);
    server.echo();
    assert_eq!(server.message()["id"], 2);
    let mut server = Stdio::start(&ScriptedStdio::new(&["unknown-id"]).with_option("--on", "initialize"));
    assert_eq!(server.greet()["id"], 987_654_321);
    server.echo();
    assert_eq!(server.message()["id"], 2);
}

#[test]
fn once_option_limits_faults_to_first_process() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("lied").display().to_string();
    let scripted = ScriptedStdio::new(&["exit-start"]).with_option("--once", &mark);
    assert_eq!(Stdio::start(&scripted).wait().code(), Some(3));
    assert_eq!(Stdio::start(&scripted).greet()["id"], 1);
}
