//! Lists the leftover processes of a hostile process or a server.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The size limit: more than the command lines and environments of tests have.
const MOST: u64 = 256 * 1024;

/// The living processes with `--tag <tag>` on their command line; zombies do not count.
///
/// A guardian forked by a tagged host has the host's command line and counts as well.
///
/// # Panics
///
/// If `/proc` is not readable: an empty result would then prove nothing.
pub fn processes_tagged(tag: &str) -> Vec<u32> {
    filter_processes(|pid| is_tagged(pid, tag))
}

/// The living processes that were started with the variable `name=value`; zombies do not count.
///
/// For programs that take no tag. A child that was given another environment does not count.
///
/// # Panics
///
/// If `/proc` is not readable: an empty result would then prove nothing.
pub fn processes_with_variable(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{name}={value}");
    filter_processes(|pid| process_words(pid, "environ").iter().any(|word| word == wanted.as_bytes()))
}

#[expect(clippy::expect_used, reason = "an unreadable /proc must fail the test")]
fn filter_processes(is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("/proc is readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_wanted(pid))
        .collect()
}

fn is_tagged(pid: u32, tag: &str) -> bool {
    process_words(pid, "cmdline").windows(2).any(|pair| pair == [b"--tag".as_slice(), tag.as_bytes()])
}

/// The NUL-separated words of a process file; empty for a zombie and for a process that has just exited.
fn process_words(pid: u32, file: &str) -> Vec<Vec<u8>> {
    let text = read_process_file(pid, file).unwrap_or_default();
    text.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()
}

fn read_process_file(pid: u32, file: &str) -> Option<Vec<u8>> {
    let path = Path::new("/proc").join(pid.to_string()).join(file);
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut text).ok()?;
    Some(text)
}
