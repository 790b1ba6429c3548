//! The guardian itself: no leaks, no shared descriptors, and only `SIGKILL` ends it.

use crate::support::{assert_gone, children, hostile, launch, new_tag, soon, stat_field, wait_for};
use mcparley_platform::process::{GuardedProcess, ProcessExit, spawn};
use mcparley_testkit::{HostileKind, processes_tagged};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(2);

/// Counts the descriptors of this process: each test has a process to itself, so no other test opens any.
fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn guardian_of(server: &GuardedProcess) -> Pid {
    let parent = stat_field(server.pid(), 1).unwrap();
    Pid::from_raw(parent.parse().unwrap()).unwrap()
}

// F25
#[test]
fn heavy_200_cycles_leave_no_descriptor_and_no_zombie() {
    let cycle = || {
        let server = spawn(&launch("cat", &[])).unwrap();
        server.shut_down();
    };
    cycle();
    let before = open_descriptors();
    let start = Instant::now();
    for _ in 0..200 {
        cycle();
    }
    println!("200 cycles in {:?}", start.elapsed());
    assert_eq!(open_descriptors(), before);
    assert_eq!(children(), Vec::<u32>::new());
}

// F25
#[test]
fn heavy_failed_starts_leave_no_descriptor_and_no_zombie() {
    let start = || spawn(&launch("/no/such/program", &[])).unwrap_err();
    start();
    let before = open_descriptors();
    for _ in 0..50 {
        start();
    }
    assert_eq!(open_descriptors(), before);
    assert_eq!(children(), Vec::<u32>::new());
}

#[test]
fn heavy_many_threads_start_servers_while_others_allocate() {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..25 {
                    // Keeps the allocator's locks busy while others fork.
                    let noise: Vec<String> = (0..500).map(|n| format!("{round}-{n}")).collect();
                    let mut server = spawn(&launch("sh", &["-c", "exit 9"])).unwrap();
                    let exit = server.wait_until(soon());
                    assert_eq!(exit.unwrap().code, Some(9), "{}", noise.len());
                }
            });
        }
    });
}

#[test]
fn ending_one_server_leaves_the_others_alive_whichever_came_first() {
    let tags = [new_tag("first"), new_tag("second"), new_tag("third")];
    let [first, second, third] = tags.each_ref().map(|tag| hostile(HostileKind::Stubborn, tag));
    let alive = || tags.each_ref().map(|tag| processes_tagged(tag).len());
    assert_eq!(alive(), [1, 1, 1]);
    // If a later guardian inherited its link, the first would not notice its host's end.
    drop(first);
    assert_eq!(alive(), [0, 1, 1]);
    drop(third);
    assert_eq!(alive(), [0, 1, 0]);
    drop(second);
    assert_eq!(alive(), [0, 0, 0]);
}

#[test]
fn guardian_has_neither_folder_nor_descriptors_nor_name_of_its_host() {
    let server = hostile(HostileKind::Stubborn, &new_tag("open"));
    let guardian = guardian_of(&server).as_raw_pid();
    let name = fs::read_to_string(format!("/proc/{guardian}/comm")).unwrap();
    assert_eq!(name, "mcparley-guard\n");
    let open = fs::read_dir(format!("/proc/{guardian}/fd"));
    // The copy of the host's memory is unreadable for other programs of the same user; only root sees more.
    if !rustix::process::geteuid().is_root() {
        assert_eq!(open.unwrap_err().kind(), ErrorKind::PermissionDenied);
        return;
    }
    // The link and the signals.
    assert_eq!(open.unwrap().count(), 2);
    let cwd = fs::read_link(format!("/proc/{guardian}/cwd")).unwrap();
    assert_eq!(cwd.to_str(), Some("/"));
}

#[test]
fn guardian_does_not_receive_terminal_signals() {
    let tag = new_tag("deaf");
    let mut server = hostile(HostileKind::Polite, &tag);
    let guardian = guardian_of(&server);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::PIPE] {
        kill_process(guardian, signal).unwrap();
    }
    assert_eq!(server.try_wait(), None);
    drop(server.take_stdin());
    let expected = ProcessExit { code: Some(0), signal: None };
    assert_eq!(server.wait_until(soon()), Some(expected));
}

#[test]
fn a_server_does_not_survive_a_killed_guardian() {
    let tag = new_tag("bereft");
    let mut server = hostile(HostileKind::Stubborn, &tag);
    kill_process(guardian_of(&server), Signal::KILL).unwrap();
    assert_eq!(server.wait_until(soon()), Some(ProcessExit::default()));
    assert_gone(&tag, LIMIT);
    drop(server);
    assert_eq!(children(), Vec::<u32>::new());
}

// F101
#[test]
fn orphans_of_a_killed_guardian_are_killed_by_the_guardhouse() {
    for kind in [HostileKind::Child, HostileKind::Daemon, HostileKind::Daemons] {
        let tag = new_tag("inherited");
        // The guardhouse has other servers to keep, and ends with the last.
        let other = spawn(&launch("cat", &[])).unwrap();
        let mut server = hostile(kind, &tag);
        kill_process(guardian_of(&server), Signal::KILL).unwrap();
        assert_eq!(server.wait_until(soon()), Some(ProcessExit::default()));
        assert_gone(&tag, LIMIT);
        assert_ne!(stat_field(other.pid(), 0).as_deref(), None, "{kind:?}: nobody else is ended");
        drop((server, other));
        wait_for("guardhouse gone", LIMIT, || children().is_empty());
    }
}

#[test]
fn orphans_that_end_while_their_server_lives_are_not_left_as_zombies() {
    let script = "(sh -c 'echo $$; exec sleep 0.01' &) ; read line";
    let mut server = spawn(&launch("sh", &["-c", script])).unwrap();
    let orphan: u32 = crate::support::first_line(&mut server).trim().parse().unwrap();
    wait_for("orphan reaped", LIMIT, || stat_field(orphan, 0).is_none());
    assert_eq!(server.try_wait(), None);
}
