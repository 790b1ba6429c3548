//! The guardhouse: one for all servers of a host, ended with the last; running servers do not depend on it.

use crate::support::{
    assert_gone, children, first_line, hostile, launch, new_tag, output, stat_field, wait_for,
};
use mcparley_platform::process::{GuardedProcess, ProgramLaunch, SpawnError, spawn};
use mcparley_testkit::{HostileKind, processes_tagged};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(2);

/// The guardhouse process that started a server's guardian.
fn house_of(server: &GuardedProcess) -> u32 {
    let parent = |pid: u32| stat_field(pid, 1).unwrap().parse().unwrap();
    parent(parent(server.pid()))
}

#[test]
fn all_servers_of_a_host_share_one_guardhouse_that_goes_with_the_last() {
    let servers: Vec<GuardedProcess> = (0..5).map(|_| spawn(&launch("cat", &[])).unwrap()).collect();
    let houses: Vec<u32> = servers.iter().map(house_of).collect();
    assert_eq!(children(), [houses[0]]);
    assert!(houses.iter().all(|house| *house == houses[0]), "{houses:?}");
    drop(servers);
    assert_eq!(children(), Vec::<u32>::new());
}

// F25
#[test]
fn a_guardian_is_gone_with_its_server_though_the_guardhouse_stays() {
    let stays = spawn(&launch("cat", &[])).unwrap();
    let house = house_of(&stays);
    let guardians = || {
        let is_posted = |pid: &u32| stat_field(*pid, 1) == Some(house.to_string());
        crate::support::all_processes().filter(is_posted).count()
    };
    for _ in 0..20 {
        let server = spawn(&launch("cat", &[])).unwrap();
        assert_eq!(guardians(), 2);
        server.shut_down();
        assert_eq!(guardians(), 1);
        spawn(&launch("/no/such/program", &[])).unwrap_err();
        assert_eq!(guardians(), 1);
    }
}

#[test]
fn servers_outlive_a_killed_guardhouse_and_new_ones_get_another() {
    let tag = new_tag("orphaned");
    let old = hostile(HostileKind::Daemon, &tag);
    let mut echo = spawn(&launch("cat", &[])).unwrap();
    let house = Pid::from_raw(house_of(&old).cast_signed()).unwrap();
    kill_process(house, Signal::KILL).unwrap();
    let is_gone = || stat_field(house.as_raw_pid().cast_unsigned(), 0).is_none_or(|state| state == "Z");
    wait_for("guardhouse gone", LIMIT, is_gone);
    File::from(echo.take_stdin().unwrap()).write_all(b"still there\n").unwrap();
    assert_eq!(first_line(&mut echo), "still there\n");
    let new = spawn(&launch("cat", &[])).unwrap();
    assert_ne!(house_of(&new), house.as_raw_pid().cast_unsigned());
    assert_eq!(processes_tagged(&tag).len(), HostileKind::Daemon.process_count());
    drop(old);
    assert_gone(&tag, LIMIT);
    drop((echo, new));
    assert_eq!(children(), Vec::<u32>::new());
}

#[test]
fn server_inherits_the_current_attributes_of_its_host() {
    let _first = spawn(&launch("cat", &[])).unwrap();
    let lower = Rlimit { current: Some(333), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, lower).unwrap();
    assert_eq!(output(&launch("sh", &["-c", "ulimit -n"])), "333\n");
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o027));
    assert_eq!(output(&launch("sh", &["-c", "umask"])), "0027\n");
}

// F28
#[test]
fn server_without_a_directory_starts_in_the_current_directory_of_its_host() {
    let _first = spawn(&launch("cat", &[])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::create_dir(path.join("below")).unwrap();
    std::env::set_current_dir(&path).unwrap();
    assert_eq!(output(&launch("pwd", &[])), format!("{}\n", path.display()));
    let below = ProgramLaunch { cwd: Some("below".into()), ..launch("pwd", &[]) };
    assert_eq!(output(&below), format!("{}/below\n", path.display()));
}

#[test]
fn arguments_larger_than_a_socket_holds_arrive_whole() {
    let many = (0..10).map(|number| OsString::from(number.to_string().repeat(100_000)));
    let script = ["-c", "printf %s \"$@\" | cksum", "sh"].map(OsString::from);
    let expected = (0..10).map(|number| number.to_string().repeat(100_000)).collect::<String>();
    let args = script.into_iter().chain(many).collect();
    let counted = output(&ProgramLaunch { args, ..launch("sh", &[]) });
    assert!(counted.ends_with(&format!(" {}\n", expected.len())), "{counted}");
    let args = vec![OsString::from("x".repeat(3_000_000))];
    let error = spawn(&ProgramLaunch { args, ..launch("cat", &[]) }).unwrap_err();
    let expected = "the arguments and environment variables for `cat` exceed the limit of the system";
    assert_eq!(error.to_string(), expected);
    assert_eq!(output(&launch("echo", &["next"])), "next\n");
}

// F02
#[test]
fn heavy_servers_that_fail_at_the_same_time_each_report_their_own_reason() {
    let _stays = spawn(&launch("cat", &[])).unwrap();
    let attempt = |program: &str, is_right: fn(&SpawnError) -> bool| {
        for _ in 0..200 {
            let error = spawn(&launch(program, &[])).unwrap_err();
            assert!(is_right(&error), "{program}: {error}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| attempt("/no/such/program", |error| matches!(error, SpawnError::NotFound { .. })));
        scope.spawn(|| attempt("/etc/passwd", |error| matches!(error, SpawnError::NotExecutable { .. })));
        scope.spawn(|| attempt("/etc", |error| matches!(error, SpawnError::Directory { .. })));
    });
}
