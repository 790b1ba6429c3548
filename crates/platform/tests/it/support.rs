//! Shared helpers: waiting for a condition, and guarded testkit processes.

use mcparley_platform::process::{GuardedProcess, ProgramLaunch, spawn};
use mcparley_testkit::{HostileKind, processes_tagged, testkit_path};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Waits until `condition` holds; fails after `limit`.
pub(crate) fn wait_for(what: &str, limit: Duration, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A field of `/proc/<pid>/stat` after the name: 0 is the state, 1 the parent.
pub(crate) fn stat_field(pid: u32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(field).map(str::to_owned)
}

/// All processes of the machine.
pub(crate) fn all_processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The child processes of this process: each test has a process to itself.
pub(crate) fn children() -> Vec<u32> {
    let myself = std::process::id().to_string();
    all_processes().filter(|&pid| stat_field(pid, 1).as_deref() == Some(&myself)).collect()
}

/// A tag no other process has.
pub(crate) fn new_tag(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{name}-{}-{number}", std::process::id())
}

/// Fails unless no process with `tag` is left within `limit`.
///
/// A process that is just replacing itself can hide from one scan of `/proc`, not from ten in a row.
pub(crate) fn assert_gone(tag: &str, limit: Duration) {
    let is_gone = || (0..10).all(|_| processes_tagged(tag).is_empty());
    wait_for(&format!("{tag} gone"), limit, is_gone);
}

/// A launch of `program` with only the usual `PATH`.
pub(crate) fn launch(program: &str, args: &[&str]) -> ProgramLaunch {
    ProgramLaunch {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: None,
    }
}

/// A guarded hostile server with all its processes up.
pub(crate) fn hostile(kind: HostileKind, tag: &str) -> GuardedProcess {
    let program = testkit_path().into_os_string().into_string().unwrap();
    let launch = launch(&program, &["hostile", kind.as_str(), "--tag", tag]);
    let mut server = spawn(&launch).unwrap();
    assert_eq!(first_line(&mut server), "ready\n");
    server
}

/// The first line of a server's output.
pub(crate) fn first_line(server: &mut GuardedProcess) -> String {
    let mut line = String::new();
    let out = File::from(server.take_stdout().unwrap());
    BufReader::new(out).read_line(&mut line).unwrap();
    line
}

/// The whole output of a program that ends by itself.
pub(crate) fn output(launch: &ProgramLaunch) -> String {
    let mut server = spawn(launch).unwrap();
    let mut text = String::new();
    let mut out = File::from(server.take_stdout().unwrap());
    out.read_to_string(&mut text).unwrap();
    text
}

/// Whether this process is root, which some tests need. In CI it has to be.
pub(crate) fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    assert!(is_root || std::env::var_os("CI").is_none(), "this test proves nothing unless it is run by root");
    if !is_root {
        println!("skipped: only root can do this");
    }
    is_root
}

/// Short enough for a user, long enough for a busy machine.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}
