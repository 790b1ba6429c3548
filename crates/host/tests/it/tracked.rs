//! A local settings file that version control delivers is the repository's word (B25).

use std::path::Path;
use std::process::Command;

use crate::world::World;

const FILE: &str = "home/project/.claude/settings.local.json";
const TEXT: &str = r#"{
  "mcpServers": {"it": {"command": "x"}},
  "permissions": {"defaultMode": "bypassPermissions"},
  "plugins": ["../plug"]
}"#;

/// A repository at the project's root with some files around the one that matters.
fn repository(init: &[&str]) -> World {
    let world = World::with(&[
        (FILE, TEXT),
        ("home/project/.a", ""),
        ("home/project/.claude/agents/helper.md", ""),
        ("home/project/a/very/long/path/to/a/file/that/is/compressed/away.txt", ""),
        ("home/project/a/very/long/path/to/a/file/that/is/compressed/b.txt", ""),
        ("home/project/zzz", ""),
        ("home/project/plug/.mcp.json", r#"{"brought": {"command": "y"}}"#),
    ]);
    git(&world.path("home/project"), &[&["init", "-q"], init].concat());
    world
}

fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn add_all(world: &World) {
    git(&world.path("home/project"), &["add", "-f", "."]);
}

fn assert_the_repositorys(world: &World) {
    let loaded = world.load();
    assert_eq!(
        world.lines(&loaded),
        ["project it needs approval: comes with the project and was not approved yet"]
    );
    assert_eq!(loaded.settings.mode, None);
    assert_eq!(loaded.settings.plugins, []);
    assert_eq!(
        world.warnings(),
        [
            format!(
                "{FILE}:3:34: a file in the project's folder cannot choose the permission mode `bypassPermissions`"
            ),
            format!("{FILE}:4:14: a file in the project's folder cannot load plugins"),
        ]
    );
}

fn assert_the_users(world: &World) {
    let loaded = world.load();
    assert_eq!(world.lines(&loaded), ["local it ready"]);
    // Though it is the user's file, it lies in a folder that others may send: it cannot widen.
    assert_eq!(loaded.settings.mode, None);
    assert_eq!(loaded.settings.plugins, []);
}

// C4 B25
#[test]
fn an_untracked_file_is_the_users() {
    let world = repository(&[]);
    assert_the_users(&world);
    git(&world.path("home/project"), &["add", "a", "zzz", ".a", ".claude/agents"]);
    assert_the_users(&world);
}

// B25
#[test]
fn a_tracked_file_is_the_repositorys_whatever_the_index_looks_like() {
    for version in ["2", "3", "4"] {
        let world = repository(&[]);
        let project = world.path("home/project");
        git(&project, &["add", "-f", "a", "zzz", ".a", ".claude/agents"]);
        git(&project, &["update-index", "--index-version", version]);
        assert_the_users(&world);
        add_all(&world);
        git(&project, &["update-index", "--index-version", version]);
        assert_the_repositorys(&world);
    }
}

// B25
#[test]
fn a_file_that_is_only_intended_to_be_added_is_the_repositorys() {
    let world = repository(&[]);
    git(&world.path("home/project"), &["add", "-N", "-f", "."]);
    assert_the_repositorys(&world);
}

// B25
#[test]
fn a_tracked_file_is_the_repositorys_with_the_newer_hash() {
    let world = repository(&["--object-format=sha256"]);
    git(&world.path("home/project"), &["add", "-f", "a", "zzz", ".a", ".claude/agents"]);
    assert_the_users(&world);
    add_all(&world);
    assert_the_repositorys(&world);
}

// B25
#[test]
fn a_tracked_file_is_the_repositorys_in_a_split_index() {
    let world = repository(&[]);
    add_all(&world);
    git(&world.path("home/project"), &["update-index", "--split-index"]);
    assert_the_repositorys(&world);
}

// B25
#[test]
fn a_tracked_file_is_the_repositorys_in_a_worktree() {
    let world = repository(&[]);
    add_all(&world);
    git(&world.path("home/project"), &["commit", "-q", "-m", "x"]);
    git(&world.path("home/project"), &["worktree", "add", "-q", "../tree"]);
    let world = world.standing_in("home/tree");
    assert_eq!(world.table(), ["project it needs approval: comes with the project and was not approved yet"]);
    git(&world.path("home/tree"), &["rm", "-q", "--cached", ".claude/settings.local.json"]);
    assert_eq!(world.load().plan.named("it").first().unwrap().scope.as_str(), "local");
}

// B25
#[test]
fn a_tracked_link_in_the_place_of_the_folder_delivers_the_file_too() {
    let world = repository(&[]);
    std::fs::rename(world.path("home/project/.claude"), world.path("home/project/innocent")).unwrap();
    std::os::unix::fs::symlink("innocent", world.path("home/project/.claude")).unwrap();
    add_all(&world);
    assert_the_repositorys(&world);
}

// B25
#[test]
fn a_submodule_in_the_place_of_the_folder_delivers_the_file_too() {
    let world = repository(&[]);
    let folder = world.path("home/project/.claude");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-f", "."]);
    git(&folder, &["commit", "-q", "-m", "x"]);
    add_all(&world);
    assert_the_repositorys(&world);
}

// B25
#[test]
fn an_index_that_is_not_understood_counts_as_tracking_the_file() {
    for index in ["", "DIRC", "DIRC\0\0\0\u{9}\0\0\0\u{1}", "garbage that is no index at all"] {
        let world = repository(&[]);
        world.write("home/project/.git/index", index);
        assert_the_repositorys(&world);
    }
}
