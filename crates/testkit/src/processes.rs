//! Counts what is left of a process and all it started.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More than the command lines and the environments of tests have.
const MOST: u64 = 256 * 1024;

/// The living processes that carry `--tag <tag>` on their command line; zombies do not count.
///
/// A guardian forked by a tagged host has the host's command line and counts as well.
///
/// # Panics
///
/// If there is no `/proc` to look into: nothing found would then prove nothing.
pub fn processes_tagged(tag: &str) -> Vec<u32> {
    processes_where(|pid| is_tagged(pid, tag))
}

/// The living processes that were started with the variable `name=value`; zombies do not count.
///
/// For programs that take no tag. A child that was given another environment does not count.
///
/// # Panics
///
/// If there is no `/proc` to look into: nothing found would then prove nothing.
pub fn processes_with_variable(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{name}={value}");
    processes_where(|pid| words(pid, "environ").iter().any(|word| word == wanted.as_bytes()))
}

#[expect(clippy::expect_used, reason = "an unreadable /proc must fail the test")]
fn processes_where(is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("/proc is readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_wanted(pid))
        .collect()
}

fn is_tagged(pid: u32, tag: &str) -> bool {
    words(pid, "cmdline").windows(2).any(|pair| pair == [b"--tag".as_slice(), tag.as_bytes()])
}

/// What is separated by zeroes in a file of the process; of a zombie, and of one that has just ended, nothing.
fn words(pid: u32, file: &str) -> Vec<Vec<u8>> {
    let text = content(pid, file).unwrap_or_default();
    text.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()
}

fn content(pid: u32, file: &str) -> Option<Vec<u8>> {
    let path = Path::new("/proc").join(pid.to_string()).join(file);
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut text).ok()?;
    Some(text)
}
