//! Counts what is left of a process and all it started.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More than the command lines of tests have.
const COMMAND_LINE: u64 = 64 * 1024;

/// The living processes that carry `--tag <tag>` on their command line; zombies do not count.
///
/// A guardian forked by a tagged host has the host's command line and counts as well.
///
/// # Panics
///
/// If there is no `/proc` to look into: nothing found would then prove nothing.
#[expect(clippy::expect_used, reason = "an unreadable /proc must fail the test")]
pub fn processes_tagged(tag: &str) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("/proc is readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_tagged(pid, tag))
        .collect()
}

fn is_tagged(pid: u32, tag: &str) -> bool {
    // The command line of a zombie, and of a process that has just ended, is empty.
    let line = command_line(pid).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
    words.windows(2).any(|pair| pair == [b"--tag".as_slice(), tag.as_bytes()])
}

fn command_line(pid: u32) -> Option<Vec<u8>> {
    let path = Path::new("/proc").join(pid.to_string()).join("cmdline");
    let mut line = Vec::new();
    let file = File::open(path).ok()?;
    file.take(COMMAND_LINE).read_to_end(&mut line).ok()?;
    Some(line)
}
