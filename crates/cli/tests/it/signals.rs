//! A signal ends the program in order, and nothing is left of the servers it started.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, processes_tagged};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::world::{World, wait_for};

/// Longer than a loaded machine takes to start a program.
const PATIENCE: Duration = Duration::from_secs(20);

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A server that answers nothing, ends at nothing, and has a daemon.
fn stubborn(tag: &str) -> Value {
    let scripted = ScriptedStdio::new(&["hang-start", "ignore-term", "daemon"]).with_option("--tag", tag);
    json!({"command": scripted.program, "args": scripted.args})
}

fn world(servers: &Value) -> World {
    World::with(&[("home/.claude.json", &json!({"mcpServers": servers}).to_string())])
}

// F23 L9
#[test]
fn a_signal_ends_the_run_within_a_second_and_leaves_no_process() {
    let signals =
        [(Signal::HUP, exit::HANGUP), (Signal::INT, exit::INTERRUPTED), (Signal::TERM, exit::TERMINATED)];
    for (signal, code) in signals {
        let tag = format!("signal-{}-{}", code.number, std::process::id());
        let world = world(&json!({"one": stubborn(&tag), "two": stubborn(&tag)}));
        let mut command = world.command(&["list"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for("the start of both servers", PATIENCE, || processes_tagged(&tag).len() >= 4);
        let start = Instant::now();
        send(&child, signal);
        let done = child.wait_with_output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!(done.status.code(), Some(i32::from(code.number)), "{done:?}");
        let name = code.meaning.split('`').nth(1).unwrap();
        assert_eq!(String::from_utf8(done.stderr).unwrap(), format!("error: stopped by {name}\n"));
        wait_for("the end of both servers", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
    }
}

// F23: the program may stand in a write to a pipe that nobody reads.
#[test]
fn a_signal_ends_a_run_whose_reader_has_stopped_reading() {
    let good = ScriptedStdio::new(&[]);
    let mut servers = json!({"good": {"command": good.program, "args": good.args}});
    for n in 0..2_000 {
        servers[format!("invalid-{n}")] = json!({"type": "bogus"});
    }
    let world = world(&servers);
    let mut command = world.command(&["list", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 8]).unwrap();
    let start = Instant::now();
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(exit::TERMINATED.number)));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

// F23: `nohup` means it.
#[test]
fn a_signal_that_was_switched_off_stays_off() {
    let tag = format!("nohup-{}", std::process::id());
    let world = world(&json!({"one": stubborn(&tag)}));
    let script = format!("trap '' HUP; exec {} list", env!("CARGO_BIN_EXE_mcparley"));
    let mut command = world.command_of("/bin/sh".as_ref(), &["-c", &script]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the start of the server", PATIENCE, || processes_tagged(&tag).len() >= 2);
    send(&child, Signal::HUP);
    // Were it obeyed, it would be obeyed first.
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(i32::from(exit::TERMINATED.number)));
    wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
}
