//! Detached programs of the user, such as a browser.

use crate::support::{launch, wait_for};
use mcparley_platform::process::{
    DetachedStatus, ProcessExit, ProgramLaunch, SpawnError, is_running, launch_detached,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

fn shell(folder: &Path, script: &str) -> ProgramLaunch {
    ProgramLaunch { cwd: Some(folder.to_owned()), ..launch("sh", &["-c", script]) }
}

fn numbers(file: &Path) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

// B65 H01
#[test]
fn detached_program_that_ends_in_time_returns_its_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let ended = |script: &str| launch_detached(&shell(folder.path(), script), LONG).unwrap();
    assert_eq!(ended("exit 0"), DetachedStatus::Ended(ProcessExit { code: Some(0), signal: None }));
    assert_eq!(ended("exit 3"), DetachedStatus::Ended(ProcessExit { code: Some(3), signal: None }));
    assert_eq!(ended("kill -9 $$"), DetachedStatus::Ended(ProcessExit { code: None, signal: Some(9) }));
}

#[test]
fn detached_program_that_cannot_start_returns_the_reason() {
    let error = launch_detached(&launch("no-such-program", &[]), LONG).unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    let lost = ProgramLaunch { cwd: Some(PathBuf::from("/no/such/folder")), ..launch("sh", &[]) };
    let error = launch_detached(&lost, LONG).unwrap_err();
    assert!(matches!(error, SpawnError::WorkingDirectory { .. }), "{error}");
}

// H01
#[test]
fn detached_program_has_its_own_session_and_leaves_no_zombie() {
    let folder = tempfile::tempdir().unwrap();
    let (facts, go) = (folder.path().join("facts"), folder.path().join("go"));
    // Writes its process and session ids, its streams and its environment; runs until the file `go` exists.
    let script = "seen=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); \
                  { echo $$ $(cut -d' ' -f6 /proc/$$/stat) $seen; env; } > facts.new; \
                  mv facts.new facts; while [ -e facts ] && [ ! -e go ]; do sleep 0.01; done";
    let running = launch_detached(&shell(folder.path(), script), Duration::from_millis(1)).unwrap();
    assert_eq!(running, DetachedStatus::Running);
    wait_for("its facts", LONG, || facts.exists());
    let text = fs::read_to_string(&facts).unwrap();
    let [pid, session] = numbers(&facts)[..2] else { panic!("{text}") };
    assert_eq!(pid, session);
    assert_eq!(text.matches("/dev/null").count(), 3, "{text}");
    assert!(!text.contains("CARGO"), "{text}");
    assert!(is_running(pid));
    fs::write(&go, "").unwrap();
    // Every launch of another program reaps those that have ended.
    wait_for("it is waited for", LONG, || {
        launch_detached(&launch("true", &[]), LONG).unwrap();
        !is_running(pid)
    });
}
