//! A home that cannot be written to: clear errors, and reading goes on (F75).

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use crate::world::{Output, World};

/// A user without privileges on every Linux system.
const NOBODY: u32 = 65_534;

fn chmod(path: PathBuf, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Runs the program as somebody whom permissions bind, which root is not.
fn run_bound(world: &World, args: &[&str]) -> Output {
    if !is_root() {
        return world.mcparley(args);
    }
    // The build folder may be closed to others, so the program comes along.
    let program = world.root.join("mcparley");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_mcparley"), &program).unwrap();
        chmod(program.clone(), 0o755);
    }
    let identity = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    let mut words =
        vec![identity[0].as_str(), identity[1].as_str(), "--clear-groups", program.to_str().unwrap()];
    words.extend(args);
    let mut command = world.command_of("setpriv".as_ref(), &words);
    world.finish(&mut command)
}

/// Gives the world away and closes these folders to writing.
fn closed(world: &World, folders: &[&str]) {
    let mut paths = vec![world.root.clone()];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        if is_root() {
            std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    for folder in folders {
        chmod(world.root.join(folder), 0o555);
    }
}

/// Opens them again, so that the temporary folder can be removed.
fn reopened(world: &World, folders: &[&str]) {
    for folder in folders {
        chmod(world.root.join(folder), 0o755);
    }
}

// F75
#[test]
fn in_a_read_only_home_writing_is_refused_and_reading_works() {
    let world = World::with(&[("home/.claude.json", r#"{"mcpServers": {"it": {"command": "x"}}}"#)]);
    let folders = ["home/project", "home"];
    closed(&world, &folders);
    let cases: [(&[&str], &str); 5] = [
        (&["add", "-s", "user", "--file", "settings", "new", "x"], "create directory `home/.claude`"),
        (&["add", "-s", "user", "new", "x"], "create `home/."),
        (&["add", "-s", "project", "new", "x"], "create `home/project/."),
        (&["add", "--file", "settings", "new", "x"], "create directory `home/project/.claude`"),
        (&["disable", "it"], "create `home/."),
    ];
    for (args, what) in cases {
        let done = run_bound(&world, args);
        assert_eq!((done.code, done.out.as_str()), (7, ""), "{args:?}: {done:?}");
        let what = format!("error: no permission to {what}");
        assert!(done.err.starts_with(&what), "{args:?}: {done:?}");
        let folder = if what.contains("/project/") { "home/project" } else { "home" };
        assert!(done.err.ends_with(&format!("hint: check who owns it: `ls -ld {folder}`\n")), "{done:?}");
    }
    let done = run_bound(&world, &["list", "--offline"]);
    assert_eq!(done, Output { code: 0, out: "it: x - ready\n".to_owned(), err: String::new() });
    reopened(&world, &folders);
    let left: Vec<String> = world.files().into_iter().filter(|file| file != "mcparley").collect();
    assert_eq!(left, ["home/.claude.json"]);
}

// F75
#[test]
fn an_unreadable_file_is_reported_and_the_others_load() {
    let world = World::with(&[
        ("home/.claude.json", r#"{"mcpServers": {"hidden": {"command": "x"}}}"#),
        ("home/.claude/settings.json", r#"{"mcpServers": {"it": {"command": "x"}}}"#),
    ]);
    closed(&world, &[]);
    chmod(world.root.join("home/.claude.json"), 0o000);
    let done = run_bound(&world, &["list", "--offline"]);
    assert_eq!((done.code, done.out.as_str()), (0, "it: x - ready\n"), "{done:?}");
    assert!(done.err.contains("no permission to read `home/.claude.json`"), "{done:?}");
    let done = run_bound(&world, &["add", "-s", "user", "--file", "claude-json", "new", "x"]);
    assert_eq!(done.code, 7, "{done:?}");
}

// F75 C5
#[test]
fn an_unreadable_managed_file_blocks_every_server() {
    let world = World::with(&[
        ("managed/managed-settings.json", "{}"),
        ("home/.claude.json", r#"{"mcpServers": {"it": {"command": "x"}}}"#),
    ]);
    closed(&world, &[]);
    chmod(world.root.join("managed/managed-settings.json"), 0o000);
    let done = run_bound(&world, &["list", "--offline"]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(
        done.out.starts_with("it: x - blocked: managed/managed-settings.json cannot be read: "),
        "{done:?}"
    );
}
