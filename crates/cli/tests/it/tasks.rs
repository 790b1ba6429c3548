//! Detached calls: they outlive their command, and their state survives the daemon.

use std::path::PathBuf;
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::{HttpServer, ScriptedStdio};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::talk::{entry, heard, world};
use crate::terminal;
use crate::world::{World, wait_for};

/// Longer than a loaded machine takes to start a program.
const PATIENCE: Duration = Duration::from_secs(20);

/// A world whose daemon ends with the test, and the log of its server `one`.
struct DaemonWorld {
    world: World,
    log: PathBuf,
    _folder: TempDir,
}

impl DaemonWorld {
    fn new(scripts: &[&str]) -> Self {
        Self::with_server(&ScriptedStdio::new(scripts))
    }

    fn with_server(one: &ScriptedStdio) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let good = entry(&ScriptedStdio::new(&[]));
        let one = entry(&one.clone().with_log(&log));
        Self { world: world(&json!({ "good": good, "one": one })), log, _folder: folder }
    }

    /// Detaches a call, and returns the id of its task.
    fn detach(&self, words: &[&str]) -> String {
        let words = [&["call", "--detach"], words].concat();
        self.world.ok(&words).trim().to_owned()
    }

    fn json(&self, words: &[&str]) -> Value {
        let done = self.world.mcparley(words);
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"))
    }

    fn calls_heard(&self) -> usize {
        heard(&self.log, "tools/call").len()
    }

    fn kill_daemon(&self) {
        let pid = self.json(&["daemon", "status", "--json"])["daemon"]["pid"].as_i64().unwrap();
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        let is_gone = || self.world.mcparley(&["daemon", "status"]).code == i32::from(exit::NOT_FOUND.number);
        wait_for("the end of the daemon", PATIENCE, is_gone);
    }
}

impl Drop for DaemonWorld {
    fn drop(&mut self) {
        self.world.mcparley(&["daemon", "stop"]);
    }
}

// G10
#[test]
fn detached_call_outlives_its_command_and_its_result_is_printed_as_call_prints_it() {
    let here = DaemonWorld::new(&[]);
    let id = here.detach(&["good", "slow", "ms=600"]);
    assert_eq!(id.len(), 32, "{id}");
    let running = here.json(&["tasks", &id, "--json"]);
    assert_eq!((&running["task"]["state"], &running["result"]), (&json!("running"), &Value::Null));
    assert_eq!(here.json(&["daemon", "status", "--json"])["daemon"]["runningTasks"], 1);
    assert_eq!(
        here.world.ok(&["tasks", &id[..8], "--wait"]),
        here.world.ok(&["call", "good", "slow", "ms=1"])
    );
    let done = here.json(&["tasks", &id, "--json"]);
    assert_eq!(done["task"]["state"], "completed");
    assert_eq!(done["result"], here.json(&["call", "good", "slow", "ms=1", "--json"]));
    let table = here.world.ok(&["tasks"]);
    assert!(
        table.starts_with(&id[..8]) && table.contains("completed") && table.contains("good slow"),
        "{table}"
    );
}

// G10: SIGKILL in mid-call. Nothing is repeated, nothing that was complete is lost.
#[test]
fn killed_daemon_leaves_unknown_calls_and_complete_results() {
    let here = DaemonWorld::new(&["call-hang"]);
    let complete = here.detach(&["good", "echo", "message=kept"]);
    assert_eq!(here.world.ok(&["tasks", &complete, "--wait"]), "kept\n");
    let hung = here.detach(&["one", "echo", "message=hi"]);
    wait_for("the call", PATIENCE, || here.calls_heard() == 1);
    let waiting =
        here.world.command(&["tasks", &hung, "--wait"]).stderr(std::process::Stdio::piped()).spawn();
    here.kill_daemon();
    let waited = waiting.unwrap().wait_with_output().unwrap();
    assert_eq!(waited.status.code(), Some(i32::from(exit::FAILED.number)), "{waited:?}");
    for _ in ["without a daemon", "with the next daemon"] {
        let unknown = here.world.mcparley(&["tasks", &hung]);
        assert_eq!(unknown.code, i32::from(exit::FAILED.number));
        let text = "the outcome of `one echo` is unknown: the daemon ended while it ran, so it may have taken effect";
        assert!(unknown.err.contains(text), "{unknown:?}");
        assert_eq!(here.world.ok(&["tasks", &complete]), "kept\n");
        here.world.ok(&["daemon", "start"]);
    }
    assert_eq!(here.calls_heard(), 1, "the call is not repeated");
}

// G10: the end of the daemon on request is no crash, and tells the same.
#[test]
fn stopped_daemon_leaves_unknown_calls() {
    let here = DaemonWorld::new(&["call-hang"]);
    let hung = here.detach(&["one", "echo", "message=hi"]);
    wait_for("the call", PATIENCE, || here.calls_heard() == 1);
    here.world.ok(&["daemon", "stop"]);
    assert_eq!(here.json(&["tasks", "--json"])["tasks"][0]["state"], "unknown");
    here.world.ok(&["tasks", "forget", &hung]);
    assert_eq!(here.world.ok(&["tasks"]), "No tasks.\n");
}

// G10
#[test]
fn canceled_task_cancels_the_call_at_its_server() {
    let here = DaemonWorld::new(&["call-hang"]);
    let id = here.detach(&["one", "echo", "message=hi"]);
    wait_for("the call", PATIENCE, || here.calls_heard() == 1);
    assert_eq!(here.world.ok(&["tasks", "cancel", &id]), "`one echo` was canceled\n");
    wait_for("the cancellation", PATIENCE, || heard(&here.log, "notifications/cancelled").len() == 1);
    let again = here.world.mcparley(&["tasks", "cancel", &id]);
    assert_eq!(again.code, i32::from(exit::CONFLICT.number), "{again:?}");
    let unknown = here.world.mcparley(&["tasks", "ffff"]);
    assert_eq!(unknown.code, i32::from(exit::NOT_FOUND.number), "{unknown:?}");
}

// G10: a server that ends in mid-call is a failure that says what may have happened.
#[test]
fn server_that_exits_in_a_detached_call_is_told() {
    let here = DaemonWorld::new(&["call-exit"]);
    let id = here.detach(&["one", "echo", "message=hi"]);
    let failed = here.world.mcparley(&["tasks", &id, "--wait"]);
    assert!(failed.err.contains("exited with code 4; it may have taken effect"), "{failed:?}");
    assert_eq!((failed.code, here.calls_heard()), (i32::from(exit::FAILED.number), 1));
}

// G10: nobody is there to answer. In the new era a server that asks is told so before.
#[test]
fn questions_of_a_server_in_a_detached_call_are_refused_and_roots_are_answered() {
    for (version, script, answer) in [
        ("2025-11-25", "asks:form", "does not support elicitation"),
        ("2025-11-25", "asks:sampling", "error"),
        ("2025-11-25", "asks:roots", "/home/project"),
        ("2026-07-28", "asks:form", "cancel"),
        ("2026-07-28", "asks:roots", "/home/project"),
    ] {
        let here =
            DaemonWorld::with_server(&ScriptedStdio::new(&[script]).with_option("--versions", version));
        // A folder is a root only if it is a project.
        here.world.write("home/project/.mcp.json", "{}");
        let id = here.detach(&["one", "echo", "message=hi"]);
        let done = here.world.mcparley(&["tasks", &id, "--wait"]);
        assert!(format!("{}{}", done.out, done.err).contains(answer), "{version} {script}: {done:?}");
    }
}

// G10: a command on a terminal offers forms, and has left when the server asks.
#[test]
fn form_in_a_call_that_was_detached_on_a_terminal_is_canceled() {
    let mut here = DaemonWorld::new(&["asks:form"]);
    here.world.set("TERM", "xterm");
    let mut command = here.world.command(&["call", "--detach", "one", "echo", "message=hi"]);
    let (code, shown) = terminal::talk(&mut command, |_| None);
    assert_eq!(code, 0, "{shown}");
    let list = here.json(&["tasks", "--json"]);
    let done = here.world.mcparley(&["tasks", list["tasks"][0]["id"].as_str().unwrap(), "--wait"]);
    assert!(done.out.contains(r#""action":"cancel""#), "{done:?}");
}

// G10: the permission is decided before the daemon hears of the call.
#[test]
fn denied_call_is_not_detached() {
    let here = DaemonWorld::new(&[]);
    let done = here.world.mcparley(&[
        "--disallowed-tools",
        "mcp__one",
        "call",
        "--detach",
        "one",
        "echo",
        "message=hi",
    ]);
    assert_eq!(done.code, i32::from(exit::DENIED.number), "{done:?}");
    let done = here.world.mcparley(&["call", "one", "echo", "--detach"]);
    assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
    assert_eq!((here.calls_heard(), here.world.ok(&["tasks"])), (0, "No tasks.\n".to_owned()));
}

// G10
#[test]
fn tool_of_a_remote_server_cannot_be_detached() {
    let remote = HttpServer::start(&[]);
    let world = world(&json!({ "web": { "type": "http", "url": remote.url() } }));
    let done = world.mcparley(&["call", "web", "echo", "message=hi", "--detach"]);
    assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
    assert!(done.err.contains("`web` is not a program that the daemon can start"), "{done:?}");
    assert!(done.err.contains("hint: call it without `--detach`"), "{done:?}");
}

// G10: a full disk, simulated by a journal that cannot be written.
#[test]
fn call_whose_task_cannot_be_stored_is_not_sent() {
    let here = DaemonWorld::new(&[]);
    here.world.write("home/.local/state/mcparley/daemon/tasks", "no folder");
    let done = here.world.mcparley(&["call", "one", "echo", "message=hi", "--detach"]);
    assert_eq!(done.code, i32::from(exit::UNREACHABLE.number), "{done:?}");
    assert!(done.err.contains("the call was not sent, because its task cannot be stored"), "{done:?}");
    assert_eq!(here.calls_heard(), 0);
}

// G10
#[test]
fn damaged_file_of_the_journal_is_told_and_harms_no_other_task() {
    let here = DaemonWorld::new(&[]);
    let id = here.detach(&["good", "echo", "message=kept"]);
    here.world.ok(&["tasks", &id, "--wait"]);
    here.world.ok(&["daemon", "stop"]);
    here.world.write("home/.local/state/mcparley/daemon/tasks/bad.task", "{");
    here.world.ok(&["daemon", "start"]);
    let done = here.world.mcparley(&["tasks"]);
    assert!(done.err.contains("bad.task: it is damaged"), "{done:?}");
    assert_eq!(here.world.ok(&["tasks", &id]), "kept\n");
}
