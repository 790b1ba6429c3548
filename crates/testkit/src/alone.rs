//! Runs a test in its own process: memory use, and its peak, are counted per process and so shared by all
//! tests in it.

use std::io;
use std::process::Command;

/// Runs an ignored test of the current test program, by its full name, in a new process.
///
/// # Errors
/// When the test fails, with its output.
#[expect(clippy::disallowed_methods, reason = "a test of ours, which ends by itself")]
pub fn run_in_own_process(test: &str) -> io::Result<()> {
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
