//! Package runners that download a server before they start it: the download is visible in the state.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::alive::{LONG, is_connected, servers};

/// Writes a program of this name that "downloads" until its pipe is written to.
fn write_runner(folder: &Path, name: &str, script: &str) -> PathBuf {
    let home = folder.join(name);
    std::fs::create_dir(&home).unwrap();
    let server = ScriptedStdio::new(&[]);
    let serve = format!("'{}' {}", server.program.display(), server.args.join(" "));
    let write = |file: &str, text: &str| {
        let path = home.join(file);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    };
    // The behavior of `bun` when it adds a package.
    write("add", "read line < pipe\n");
    let script = script.replace("SERVE", &serve);
    let begin = "cd \"$(dirname \"$0\")\"";
    let runner = write(name, &format!("#!/bin/bash\n{begin}\n{script}\n"));
    let made = std::process::Command::new("mkfifo").arg(home.join("pipe")).status().unwrap();
    assert!(made.success());
    runner
}

fn finish_download(runner: &Path) {
    let pipe = runner.parent().unwrap().join("pipe");
    std::fs::File::options().write(true).open(pipe).unwrap().write_all(b"\n").unwrap();
}

// L3
#[tokio::test]
async fn state_says_which_runner_downloads_until_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let runners = [
        // Downloads itself, and starts the server as a child.
        ("npx", write_runner(folder.path(), "npx", "read line < pipe\nSERVE; true")),
        ("pnpm", write_runner(folder.path(), "pnpm", "read line < pipe\nSERVE; true")),
        ("yarn", write_runner(folder.path(), "yarn", "read line < pipe\nSERVE; true")),
        // Has an installer download.
        ("bunx", write_runner(folder.path(), "bunx", "(exec -a bun bash add server)\nSERVE; true")),
        // Has others download, and becomes the server.
        ("pipx", write_runner(folder.path(), "pipx", "(read line < pipe; true)\nexec SERVE")),
    ];
    let entry = |path: &PathBuf| -> Value { json!({ "command": path, "args": ["dlx", "server"] }) };
    let alive = servers(runners.iter().map(|(name, path)| (*name, entry(path)))).start();
    let mut events = alive.host.server_events();
    let all_download = async {
        let downloader = |name: &str| alive.status(name).downloader().map(str::to_owned);
        while !runners.iter().all(|(name, _)| downloader(name).as_deref() == Some(*name)) {
            // One that fell behind looks again.
            let _event = events.recv().await;
        }
    };
    tokio::time::timeout(LONG, all_download).await.unwrap();
    for (name, path) in &runners {
        assert_eq!(alive.status(name).reason(), Some(format!("`{name}` is downloading it")));
        let (lines, _) = alive.host.server_log(&mcparley::model::name::ServerName::new(name)).unwrap();
        assert!(lines.iter().any(|line| line.text.raw().contains("is downloading")), "{lines:?}");
        finish_download(path);
    }
    for (name, _) in &runners {
        alive.until(name, is_connected).await;
        assert_eq!(alive.status(name).downloader(), None);
    }
}
