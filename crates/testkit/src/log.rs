//! Reads what a scripted server wrote to its `--log`.
//!
//! A line is `<microseconds> < <what was received>`, or `<microseconds> + <process id>` for a start.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// More than any test lets a host send.
const LOG: u64 = 512 * 1024 * 1024;

/// One line that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When, on the machine's monotonic clock: comparable between processes.
    pub at: Duration,
    /// The line on stdio; on HTTP an object with `method`, `path`, `headers` and `body`.
    pub text: String,
}

/// Every line that servers with this log received, in order.
///
/// # Panics
///
/// If the log cannot be read: nothing seen would then prove nothing.
pub fn log_lines(path: &Path) -> Vec<LogLine> {
    entries(path, "<")
}

/// When servers with this log started; the text is the process id.
///
/// # Panics
///
/// If the log cannot be read.
pub fn log_starts(path: &Path) -> Vec<LogLine> {
    entries(path, "+")
}

#[expect(clippy::expect_used, reason = "an unreadable log must fail the test")]
fn entries(path: &Path, mark: &str) -> Vec<LogLine> {
    let mut text = Vec::new();
    let file = File::open(path).expect("the log is there");
    file.take(LOG).read_to_end(&mut text).expect("the log is readable");
    String::from_utf8_lossy(&text).split('\n').filter_map(|line| entry(line, mark)).collect()
}

fn entry(line: &str, mark: &str) -> Option<LogLine> {
    let (micros, rest) = line.split_once(' ')?;
    let (found, text) = rest.split_once(' ')?;
    let at = Duration::from_micros(micros.parse().ok()?);
    (found == mark).then(|| LogLine { at, text: text.to_owned() })
}
