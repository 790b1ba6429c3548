//! What a call leaves behind, however it ends, and what is seen of it meanwhile.

use std::process::Stdio;
use std::time::{Duration, Instant};

use mcparley_cli::exit;
use mcparley_testkit::{HttpServer, ScriptedStdio, processes_tagged};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::talk::{entry, good, heard, scripted, world};
use crate::terminal;
use crate::world::wait_for;

/// Longer than a loaded machine takes to start a program.
const PATIENCE: Duration = Duration::from_secs(20);

// F20 F22 L9
#[test]
fn a_call_that_is_killed_leaves_no_process() {
    let tag = format!("call-kill-{}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let hostile =
        ScriptedStdio::new(&["call-hang", "ignore-term", "daemon"]).with_option("--tag", &tag).with_log(&log);
    let world = world(&json!({"one": entry(&hostile)}));
    let mut command = world.command(&["call", "one", "echo", "message=hi"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the call", PATIENCE, || !heard(&log, "tools/call").is_empty());
    assert!(!processes_tagged(&tag).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
}

// F23 K2: the server hears that nobody waits any more, and ends.
#[test]
fn a_call_that_is_interrupted_is_cancelled_and_leaves_no_process() {
    let tag = format!("call-int-{}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // One that ends at the signal might end before it has read the message.
    let slow = ScriptedStdio::new(&["call-hang", "ignore-term"]).with_option("--tag", &tag).with_log(&log);
    let world = world(&json!({"one": entry(&slow)}));
    let mut command = world.command(&["call", "one", "echo", "message=hi"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the call", PATIENCE, || !heard(&log, "tools/call").is_empty());
    let start = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(exit::INTERRUPTED.number)));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
    assert_eq!(heard(&log, "notifications/cancelled").len(), 1);
}

// K2 U3
#[test]
fn on_a_terminal_the_progress_of_a_call_is_seen() {
    let mut world = good();
    world.set("TERM", "xterm");
    let (code, out, shown) = terminal::run(&mut world.command(&["call", "good", "slow", "ms=1500"]), false);
    assert_eq!((code, out.as_str()), (0, "done\n"));
    assert!(shown.contains("calling mcp__good__slow … ") && shown.contains(" %\u{1b}"), "{shown:?}");
    assert!(shown.ends_with("\r\u{1b}[K"), "{shown:?}");
}

// K2: who does not look is not told, and the server is not asked to tell.
#[test]
fn through_a_pipe_no_progress_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({"good": entry(&ScriptedStdio::new(&[]).with_log(&log))}));
    world.ok(&["call", "good", "slow", "ms=10"]);
    let calls = heard(&log, "tools/call");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["params"]["_meta"]["progressToken"], serde_json::Value::Null);
}

// N7 B45: text is data in a pipe and harmless on a terminal.
#[test]
fn text_is_unchanged_in_a_pipe_and_sanitized_on_a_terminal() {
    let mut world = good();
    world.set("TERM", "xterm");
    let text = "a\u{1b}[2J\u{202e}b\u{200b}\r\nc\n";
    let message = format!("message={text}");
    let args = ["call", "good", "echo", &message];
    assert_eq!(world.ok(&args), text);
    let (_, _, shown) = terminal::run(&mut world.command(&args), true);
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
    assert!(shown.contains("\\x1b[2J"), "{shown:?}");
}

// F18 K6: a tool that kills its server fails its call, and the message says what is not known.
#[test]
fn a_server_that_dies_during_a_call_is_reported() {
    let world = world(&json!({"good": scripted(&[])}));
    let done = world.mcparley(&["call", "good", "crash"]);
    assert_eq!(done.code, i32::from(exit::UNREACHABLE.number), "{done:?}");
    assert!(done.err.contains("whether it took effect is unknown"), "{done:?}");
    assert!(done.err.contains("hint: check whether it took effect"), "{done:?}");
}

// F23: the main thread stands in a read that nobody ends.
#[test]
fn a_call_that_waits_for_standard_input_can_be_interrupted() {
    let tag = format!("call-input-{}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world =
        world(&json!({"one": entry(&ScriptedStdio::new(&[]).with_option("--tag", &tag).with_log(&log))}));
    let mut command = world.command(&["call", "one", "echo", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _open = child.stdin.take();
    wait_for("the list of tools", PATIENCE, || !heard(&log, "tools/list").is_empty());
    let start = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(exit::INTERRUPTED.number)));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
}

// F23 K2 T3: a server behind a URL lives on, so it must hear that nobody waits any more.
#[test]
fn an_interrupted_call_is_cancelled_at_a_remote_server() {
    let remote = HttpServer::start(&["call-hang"]);
    let world = world(&json!({"remote": {"url": remote.url()}}));
    let mut command = world.command(&["call", "remote", "echo", "message=hi"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the call", PATIENCE, || remote.stats()["post"]["tools/call"] == 1);
    let start = Instant::now();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(exit::TERMINATED.number)));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let stats = remote.stats();
    assert_eq!(
        (&stats["post"]["notifications/cancelled"], &stats["delete"]),
        (&json!(1), &json!(1)),
        "{stats}"
    );
}

// K2: not now and then, so it is tried some times.
#[test]
fn a_call_that_runs_out_of_time_is_cancelled_every_time_before_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let slow = ScriptedStdio::new(&["call-hang", "ignore-term"]).with_log(&log);
    let remote = HttpServer::start(&["call-hang"]);
    let world = world(&json!({"one": entry(&slow), "remote": {"url": remote.url()}}));
    for round in 1..=5 {
        for server in ["one", "remote"] {
            let ended = world.mcparley(&["call", server, "echo", "message=hi", "--timeout", "100"]);
            assert!(ended.err.contains("timed out after 100ms"), "{ended:?}");
        }
        assert_eq!(heard(&log, "notifications/cancelled").len(), round);
        assert_eq!(remote.stats()["post"]["notifications/cancelled"], round);
    }
}
