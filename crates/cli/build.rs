//! Passes the version to the program; a release also names the commit it was built from.
//!
//! Other builds do not look at the commit, because each one would compile the crate again.
#![expect(clippy::disallowed_methods, reason = "a build script reads its environment and asks git")]

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = is_release.then(find_commit).flatten();
    let suffix = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=MCPARLEY_VERSION={}{suffix}", env!("CARGO_PKG_VERSION"));
}

/// The commit of the working tree; absent outside of a repository.
fn find_commit() -> Option<String> {
    let log = ask_git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    ask_git(&["rev-parse", "--short=12", "HEAD"])
}

fn ask_git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
