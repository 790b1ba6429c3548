//! One vault and many processes; a full disk.

use mcparley_auth::vault::{EntryId, ExpectedEntry, KeyStorage, Vault, VaultError, VaultSettings};
use mcparley_model::explain::Explain as _;
use mcparley_model::secret::Secret;
use mcparley_platform::file::FileWriteError;
use mcparley_testkit::example_path;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::renewals::cancelled_after;

const LONG: Duration = Duration::from_secs(20);

fn open(folder: &Path) -> Vault {
    Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) })
}

fn user(folder: &Path, command: &str, rest: &[&str]) -> Child {
    let mut program = Command::new(example_path("vault_user"));
    program.arg(command).arg(folder).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped());
    program.spawn().unwrap()
}

fn wait_for_all(users: Vec<Child>) {
    for mut user in users {
        assert!(user.wait().unwrap().success());
    }
}

fn shared() -> EntryId {
    EntryId::new("server", "shared")
}

/// Another process that holds the lock of the shared entry.
fn holder(folder: &Path) -> Child {
    let mut child = user(folder, "hold", &[]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    child
}

// F79 A2
#[tokio::test]
async fn heavy_eight_processes_that_write_at_once_lose_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    wait_for_all((0..8).map(|it| user(folder.path(), "fill", &[&format!("w{it}"), "50"])).collect());
    println!("400 writes by 8 processes in {:?}", start.elapsed());
    let entries = open(folder.path()).list_entries("server").await.unwrap();
    assert_eq!(entries.len(), 400);
    for (id, entry) in entries {
        assert_eq!(entry.value.expose(), id.as_str().as_bytes());
    }
    let key_lines = fs::read_to_string(folder.path().join("vault")).unwrap();
    assert_eq!(key_lines.lines().filter(|line| line.starts_with("key ")).count(), 1);
    let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("vault"), mode("key"), mode("locks")), (0o600, 0o600, 0o700));
}

// F79 A3
#[tokio::test]
async fn heavy_a_value_changed_by_eight_processes_under_its_lock_misses_no_change() {
    let folder = tempfile::tempdir().unwrap();
    wait_for_all((0..8).map(|_| user(folder.path(), "count", &["20"])).collect());
    let entry = open(folder.path()).read_entry(&shared()).await.unwrap().unwrap();
    assert_eq!(entry.value.expose(), b"160");
}

// F81
#[tokio::test]
async fn waiting_too_long_for_an_entry_lock_is_a_busy_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = holder(folder.path());
    let vault = open(folder.path());
    let limit = Duration::from_millis(100);
    let error = vault.lock_entry(&shared(), limit).await.unwrap_err();
    assert!(matches!(error, VaultError::Busy { after } if after == limit), "{error:?}");
    vault.lock_entry(&EntryId::new("server", "another"), Duration::ZERO).await.unwrap();
    assert!(other.try_wait().unwrap().is_none());
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    vault.lock_entry(&shared(), LONG).await.unwrap();
}

// F82
#[tokio::test(flavor = "multi_thread")]
async fn killed_lock_holder_releases_the_entry_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = holder(folder.path());
    let vault = open(folder.path());
    let waiting = tokio::spawn(async move {
        let _held = vault.lock_entry(&shared(), LONG).await.unwrap();
        Instant::now()
    });
    other.kill().unwrap();
    other.wait().unwrap();
    let killed = Instant::now();
    let taken = waiting.await.unwrap().saturating_duration_since(killed);
    println!("taken {taken:?} after the kill");
    assert!(taken <= Duration::from_millis(100), "{taken:?}");
}

// A3
#[tokio::test]
async fn tasks_exclude_each_other_and_a_canceled_wait_leaves_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let vault = open(folder.path());
    let held = vault.lock_entry(&shared(), LONG).await.unwrap();
    let busy = vault.lock_entry(&shared(), Duration::ZERO).await;
    assert!(matches!(busy, Err(VaultError::Busy { .. })), "two hold the same lock");
    // Canceled before the first attempt, and at every later one.
    for polls in 1..=5 {
        assert!(!cancelled_after(polls, vault.lock_entry(&shared(), LONG)).await, "two hold the same lock");
    }
    drop(held);
    let _held = vault.lock_entry(&shared(), Duration::ZERO).await.unwrap();
}

// F73
#[test]
fn full_disk_keeps_the_old_entries_and_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    wait_for_all(vec![user(folder.path(), "fill", &["first", "5"])]);
    let before = fs::read(folder.path().join("vault")).unwrap();
    // A file size limit fails like a full disk, and needs no privilege.
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$@\"";
    let mut program = Command::new("bash");
    program.args(["-c", script, "bash"]).arg(example_path("vault_user")).arg("fill").arg(folder.path());
    let output = program.args(["second", "20"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("no space left to write"), "{said}");
    assert!(said.contains("hint: free some space"), "{said}");
    let after = fs::read(folder.path().join("vault")).unwrap();
    assert!(after.len() >= before.len() && after.ends_with(b"\nend\n"));
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["key", "locks", "vault"]);
}

// F75
#[tokio::test]
async fn unwritable_folder_allows_reading_and_reports_writing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in-the-way"), "").unwrap();
    let vault = open(&folder.path().join("in-the-way/vault"));
    assert_eq!(vault.read_entry(&shared()).await.unwrap(), None);
    let written = vault.write_entry(&shared(), Secret::new(vec![1]), ExpectedEntry::Any).await;
    let error = written.unwrap_err();
    assert!(
        matches!(&error, VaultError::Write(cause) if matches!(**cause, FileWriteError::Io { .. })),
        "{error:?}"
    );
    assert_eq!(error.hint(), None);
}
