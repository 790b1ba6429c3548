//! Tries the packed release: checksums, the archive in a root of its own, the npm package without a network.
//!
//! Each program runs in a network namespace that has a loopback interface only, and in an empty home folder.

use std::path::Path;

use super::{Release, copy_file, write_file};
use crate::error::ChoreError;
use crate::step::ChoreStep;

/// A server in a shell script: enough of the protocol to list one tool and to call it.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"hello from demo"}]}' ;;
    *) result='' ;;
  esac
  [ -n "$id" ] || continue
  if [ -n "$result" ]; then
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
  else
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}\n' "$id"
  fi
done
"#;

/// Fails if a part of the release does not work.
pub(super) fn check_release(release: &Release, archive: &Path, package: &Path) -> Result<(), ChoreError> {
    let folder = tempfile::tempdir().map_err(ChoreError::file_error(&release.folder))?;
    check_sums(release)?;
    check_size(&release.program)?;
    check_archive(release, archive, &folder.path().join("archive"))?;
    check_bare_root(release, &folder.path().join("root"))?;
    check_package(package, &folder.path().join("npm"))
}

/// The most bytes of the program. The goal is 15 MB, which is missed; a larger program fails, so that the distance
/// does not grow unseen.
const MOST_BYTES: u64 = 25_000_000;
const GOAL_BYTES: u64 = 15_000_000;

/// Prints the size of the program, and fails if it is over the limit.
fn check_size(program: &Path) -> Result<(), ChoreError> {
    let bytes = std::fs::metadata(program).map_err(ChoreError::file_error(program))?.len();
    let goal = if bytes > GOAL_BYTES { "missed" } else { "met" };
    println!("size: {bytes} bytes; the limit is {MOST_BYTES}, the goal of {GOAL_BYTES} is {goal}");
    match bytes > MOST_BYTES {
        true => Err(ChoreError::TooLarge { file: program.display().to_string(), bytes, most: MOST_BYTES }),
        false => Ok(()),
    }
}

fn check_sums(release: &Release) -> Result<(), ChoreError> {
    let line = format!("cd '{}' && sha256sum --check --strict SHA256SUMS", release.folder.display());
    ChoreStep::program("sh".as_ref(), &["-c", &line]).run()
}

/// Unpacks the archive, and lists and calls a tool with the program in it.
fn check_archive(release: &Release, archive: &Path, folder: &Path) -> Result<(), ChoreError> {
    std::fs::create_dir_all(folder).map_err(ChoreError::file_error(folder))?;
    let (path, to) = (archive.to_string_lossy(), folder.to_string_lossy());
    ChoreStep::program("tar".as_ref(), &["--extract", "--file", &path, "--directory", &to]).run()?;
    let unpacked = folder.join(&release.name);
    for file in ["completions/_mcparley", "man/man1/mcparley.1", "LICENSE-MIT"] {
        let path = unpacked.join(file);
        std::fs::metadata(&path).map_err(ChoreError::file_error(&path))?;
    }
    try_tools(&unpacked.join("mcparley").to_string_lossy(), &folder.join("home"))
}

/// Runs the program in a root with no other files than its shared libraries, without and with `/etc/hosts`.
fn check_bare_root(release: &Release, root: &Path) -> Result<(), ChoreError> {
    copy_file(&release.program, &root.join("mcparley"))?;
    let path = release.program.to_string_lossy();
    let libraries = ChoreStep::program("ldd".as_ref(), &[&path]).run_silently().unwrap_or_default();
    for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        copy_file(Path::new(library), &root.join(library.trim_start_matches('/')))?;
    }
    std::fs::create_dir_all(root.join("home")).map_err(ChoreError::file_error(root))?;
    let entry = r#"{"mcpServers":{"web":{"type":"http","url":"http://localhost:9/mcp"}}}"#;
    let line = format!("/mcparley --mcp-config '{entry}' list");
    expect_text(&run_in_root(root, &line)?, "cannot be resolved", "a name that cannot be resolved")?;
    write_file(&root.join("etc/hosts"), "127.0.0.1 localhost\n")?;
    expect_text(&run_in_root(root, &line)?, "refused", "the name `localhost` in /etc/hosts")
}

/// Runs a command line in `root`, whatever its exit code; the shell stays outside.
fn run_in_root(root: &Path, line: &str) -> Result<String, ChoreError> {
    let line = format!("HOME=/home chroot '{}' {line} || true", root.display());
    isolate_shell(&line, root).run_for_output()
}

/// Runs the packed npm package with an empty home folder and an empty cache.
fn check_package(package: &Path, folder: &Path) -> Result<(), ChoreError> {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    copy_file(package, &folder.join(&*name))?;
    try_tools(&format!("npx --offline --yes './{name}'"), folder)
}

/// Lists the tools of a server and calls one, with an empty home folder.
fn try_tools(program: &str, home: &Path) -> Result<(), ChoreError> {
    let server = home.join("demo.sh");
    write_file(&server, SERVER)?;
    let entry = format!(r#"{{"mcpServers":{{"demo":{{"command":"sh","args":["{}"]}}}}}}"#, server.display());
    let run = |words: &str| {
        isolate_shell(&format!("{program} --mcp-config '{entry}' {words}"), home).run_for_output()
    };
    expect_text(&run("tools")?, "greet", "the tool `greet`")?;
    expect_text(&run("call demo greet")?, "hello from demo", "the answer of `greet`")
}

/// A shell in a network namespace with loopback only, and in an empty home folder.
fn isolate_shell(line: &str, home: &Path) -> ChoreStep {
    let script = format!("ip link set lo up; cd '{}' && {line}", home.display());
    let arguments = ["--map-root-user", "--net", "sh", "-c", &script];
    ChoreStep::program("unshare".as_ref(), &arguments).with_env("HOME", &home.to_string_lossy())
}

fn expect_text(output: &str, wanted: &str, subject: &str) -> Result<(), ChoreError> {
    match output.contains(wanted) {
        true => Ok(()),
        false => {
            eprint!("{output}");
            Err(ChoreError::Silent { line: "dist --check".to_owned(), wanted: subject.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{MOST_BYTES, check_size};
    use crate::error::ChoreError;

    #[test]
    fn program_above_the_limit_fails_and_the_error_says_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("mcparley");
        let file = File::create(&program).unwrap();
        file.set_len(MOST_BYTES).unwrap();
        check_size(&program).unwrap();
        file.set_len(MOST_BYTES + 1).unwrap();
        let error = check_size(&program).unwrap_err();
        assert!(matches!(&error, ChoreError::TooLarge { bytes, .. } if *bytes == MOST_BYTES + 1), "{error}");
    }
}
