//! Shutdown of servers that do not want to end.

use crate::support::{assert_gone, first_line, hostile, launch, new_tag, soon, wait_for};
use mcparley_platform::process::{ProcessExit, spawn};
use mcparley_testkit::{HostileKind, processes_tagged, testkit_path};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::time::{Duration, Instant};

/// Twice the documented time, for a machine that is busy with other tests.
const BOUND: Duration = Duration::from_millis(1_500);

fn shut_down(kind: HostileKind) -> (ProcessExit, Duration) {
    let tag = new_tag(kind.as_str());
    let server = hostile(kind, &tag);
    let start = Instant::now();
    let exit = server.shut_down();
    let elapsed = start.elapsed();
    println!("{kind:?}: {exit:?} after {elapsed:?}");
    assert_gone(&tag, BOUND.saturating_sub(elapsed));
    (exit, elapsed)
}

#[test]
fn a_polite_server_ends_with_its_input_and_code_zero() {
    let (exit, elapsed) = shut_down(HostileKind::Polite);
    // The interrupt may come first.
    assert!(exit.is_success() || exit.signal == Some(2), "{exit:?}");
    assert!(elapsed < Duration::from_millis(400), "{elapsed:?}");
}

// F18
#[test]
fn a_server_that_ignores_everything_is_killed_in_time() {
    for kind in [HostileKind::Stubborn, HostileKind::Child] {
        let (exit, elapsed) = shut_down(kind);
        assert_eq!(exit, ProcessExit { code: None, signal: Some(9) });
        assert!(elapsed < BOUND, "{kind:?}: {elapsed:?}");
    }
}

// F20
#[test]
fn daemonised_grandchildren_are_gone_after_a_close() {
    for kind in [HostileKind::Daemon, HostileKind::Daemons] {
        let (exit, elapsed) = shut_down(kind);
        assert_eq!(exit.signal, Some(9));
        assert!(elapsed < BOUND, "{kind:?}: {elapsed:?}");
    }
}

// F20
#[test]
fn heavy_daemons_that_keep_forking_are_caught() {
    let tag = new_tag("alive");
    let server = hostile(HostileKind::Hoppers, &tag);
    wait_for("hoppers beside their server", BOUND, || processes_tagged(&tag).len() > 1);
    drop(server);
    assert_gone(&tag, BOUND);
    for _ in 0..20 {
        let (_, elapsed) = shut_down(HostileKind::Hoppers);
        assert!(elapsed < BOUND, "{elapsed:?}");
    }
}

#[test]
fn an_interrupt_reaches_the_server() {
    let script = "trap 'exit 7' INT; echo ready; while :; do sleep 0.01; done";
    let mut server = spawn(&launch("sh", &["-c", script])).unwrap();
    assert_eq!(first_line(&mut server), "ready\n");
    server.interrupt();
    assert_eq!(server.wait_until(soon()).unwrap().code, Some(7));
}

#[test]
fn a_termination_reaches_the_descendants_too() {
    // The shell survives the signal; it goes on because its child does not.
    let script = "trap : TERM; echo ready; sleep 1000; exit 5";
    let mut server = spawn(&launch("sh", &["-c", script])).unwrap();
    assert_eq!(first_line(&mut server), "ready\n");
    // Sent until it is received: after `ready` the shell still has to start its child.
    let limit = soon();
    while server.wait_until(Instant::now() + Duration::from_millis(50)).is_none() {
        assert!(Instant::now() < limit, "the child did not hear the signal");
        server.terminate();
    }
    assert_eq!(server.try_wait().unwrap().code, Some(5));
}

// F20
#[test]
fn processes_left_by_an_exited_server_are_killed() {
    let tag = new_tag("nest");
    let program = testkit_path().into_os_string().into_string().unwrap();
    // Starts one daemon, sees it ready, and exits.
    let launch = launch(&program, &["hostile", "nest-1-0", "--tag", &tag]);
    let mut server = spawn(&launch).unwrap();
    let exit = server.wait_until(soon());
    assert_eq!(exit, Some(ProcessExit { code: Some(0), signal: None }));
    assert!(processes_tagged(&tag).is_empty());
}

#[test]
fn dropping_the_handle_kills_the_tree() {
    let tag = new_tag("dropped");
    let server = hostile(HostileKind::Daemon, &tag);
    assert_eq!(processes_tagged(&tag).len(), HostileKind::Daemon.process_count());
    drop(server);
    assert!(processes_tagged(&tag).is_empty());
}

#[test]
fn the_status_descriptor_is_readable_only_when_the_tree_is_gone() {
    let tag = new_tag("status");
    let mut server = hostile(HostileKind::Daemon, &tag);
    let is_readable = |wait| {
        let fd = server.status_fd();
        let mut ready = [PollFd::new(&fd, PollFlags::IN)];
        let limit = Timespec { tv_sec: wait, tv_nsec: 0 };
        rustix::event::poll(&mut ready, Some(&limit)).unwrap() == 1
    };
    assert!(!is_readable(0));
    server.kill();
    assert!(is_readable(5));
    assert!(processes_tagged(&tag).is_empty());
    assert_eq!(server.try_wait().unwrap().signal, Some(9));
}
