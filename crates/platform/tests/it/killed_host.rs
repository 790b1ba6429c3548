//! A host that is killed leaves nothing behind.

use crate::support::{assert_gone, new_tag};
use mcparley_testkit::{HostileKind, example_path, processes_tagged, testkit_path};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 50;

/// A host process with one ready server; host, guardhouse, guardian and server carry the tag.
fn host(kind: HostileKind, tag: &str) -> Child {
    let mut host = Command::new(example_path("guarded"))
        .args(["--tag", tag])
        .arg(testkit_path())
        .args(["hostile", kind.as_str(), "--tag", tag])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = host.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{kind:?}");
    host
}

fn kill_and_count(kind: HostileKind, signal: Signal) -> Duration {
    let tag = new_tag(kind.as_str());
    let mut host = host(kind, &tag);
    // Host, guardhouse and guardian in addition to the processes of the kind.
    assert_eq!(processes_tagged(&tag).len(), kind.process_count() + 3, "{kind:?}");
    let start = Instant::now();
    kill_process(Pid::from_child(&host), signal).unwrap();
    host.wait().unwrap();
    assert_gone(&tag, Duration::from_secs(1));
    start.elapsed()
}

fn kill_often(kind: HostileKind) {
    let times: Vec<Duration> = (0..RUNS).map(|_| kill_and_count(kind, Signal::KILL)).collect();
    println!("{kind:?}: 0 left in {RUNS} of {RUNS} runs, slowest {:?}", times.iter().max());
}

// F22
#[test]
fn heavy_nothing_is_left_of_a_polite_server() {
    kill_often(HostileKind::Polite);
}

// F22
#[test]
fn heavy_nothing_is_left_of_a_stubborn_server() {
    kill_often(HostileKind::Stubborn);
}

// F22
#[test]
fn heavy_nothing_is_left_of_a_server_with_a_child() {
    kill_often(HostileKind::Child);
}

// F22
#[test]
fn heavy_nothing_is_left_of_a_server_with_a_daemon() {
    kill_often(HostileKind::Daemon);
}

// F22
#[test]
fn heavy_nothing_is_left_of_a_server_with_fifty_daemons() {
    kill_often(HostileKind::Daemons);
}

// F23
#[test]
fn nothing_is_left_when_other_signals_end_the_host() {
    // Not the ones for damaged memory: the standard library catches the first of those.
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::ABORT] {
        kill_and_count(HostileKind::Daemon, signal);
    }
}
