//! Reads the `--log` of a scripted server.
//!
//! A line is `<microseconds> < <received text>`, or `<microseconds> + <process id>` for a start.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// The log size limit: more than any test lets a host send.
const LOG: u64 = 512 * 1024 * 1024;

/// One line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The time on the monotonic clock, comparable between processes.
    pub at: Duration,
    /// The received line on stdio; on HTTP an object with `method`, `path`, `headers` and `body`.
    pub text: String,
}

/// All lines that servers with this log received, in order.
///
/// # Panics
///
/// If the log cannot be read: an empty result would then prove nothing.
pub fn log_lines(path: &Path) -> Vec<LogLine> {
    read_entries(path, "<")
}

/// The starts of servers with this log; the text is the process id.
///
/// # Panics
///
/// If the log cannot be read.
pub fn log_starts(path: &Path) -> Vec<LogLine> {
    read_entries(path, "+")
}

#[expect(clippy::expect_used, reason = "an unreadable log must fail the test")]
fn read_entries(path: &Path, mark: &str) -> Vec<LogLine> {
    let mut text = Vec::new();
    let file = File::open(path).expect("the log is there");
    file.take(LOG).read_to_end(&mut text).expect("the log is readable");
    String::from_utf8_lossy(&text).split('\n').filter_map(|line| parse_entry(line, mark)).collect()
}

fn parse_entry(line: &str, mark: &str) -> Option<LogLine> {
    let (micros, rest) = line.split_once(' ')?;
    let (found, text) = rest.split_once(' ')?;
    let at = Duration::from_micros(micros.parse().ok()?);
    (found == mark).then(|| LogLine { at, text: text.to_owned() })
}
