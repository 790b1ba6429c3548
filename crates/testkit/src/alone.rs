//! Runs a test in a process of its own: what a process holds, and the most it ever held, belong to all tests in it.

use std::io;
use std::process::Command;

/// Runs an ignored test of the calling test program, by its whole name.
///
/// # Errors
/// When it fails, with what it said.
#[expect(clippy::disallowed_methods, reason = "a test of ours, which ends by itself")]
pub fn alone(test: &str) -> io::Result<()> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()?;
    let said = [child.stdout, child.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if child.status.success() && said.contains("1 passed") {
        Ok(())
    } else {
        Err(io::Error::other(said.into_owned()))
    }
}
