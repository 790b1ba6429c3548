//! Tests that hostile processes behave as their kinds say; otherwise tests that use them would prove nothing.

use mcparley_testkit::{HostileKind, processes_tagged, testkit_path};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(kind: HostileKind, tag: &str) -> Child {
    let mut child = Command::new(testkit_path())
        .args(["hostile", kind.as_str(), "--tag", tag])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{kind:?}");
    child
}

fn kill_all(tag: &str) {
    for pid in processes_tagged(tag) {
        let pid = Pid::from_raw(pid.cast_signed()).unwrap();
        // A process that has just exited by itself is fine too.
        kill_process(pid, Signal::KILL).unwrap_or_default();
    }
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 5 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn every_kind_has_its_process_count() {
    for kind in HostileKind::FIVE {
        let tag = format!("count-{}-{}", kind.as_str(), std::process::id());
        let mut child = start(kind, &tag);
        let count = processes_tagged(&tag).len();
        kill_all(&tag);
        child.wait().unwrap();
        assert_eq!(count, kind.process_count(), "{kind:?}");
        wait_for("all killed", || processes_tagged(&tag).is_empty());
    }
}

#[test]
fn polite_kind_exits_at_end_of_input() {
    let tag = format!("polite-{}", std::process::id());
    let mut child = start(HostileKind::Polite, &tag);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn stubborn_kind_exits_only_on_sigkill() {
    let tag = format!("stubborn-{}", std::process::id());
    let mut child = start(HostileKind::Stubborn, &tag);
    drop(child.stdin.take());
    let pid = Pid::from_child(&child);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill_process(pid, signal).unwrap();
    }
    // Ignored signals are dropped when they are sent, so there is nothing to wait for.
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().unwrap();
    child.wait().unwrap();
}
