//! What the system tells about processes, as far as measurements need it.

use std::collections::HashSet;
use std::io;

/// A process that this one started, or one of those did.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// Whether it has ended and nobody has asked for how.
    pub(crate) is_zombie: bool,
    /// Its command line.
    pub(crate) words: Vec<String>,
}

impl Process {
    /// What stands behind an option on its command line.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let place = self.words.iter().position(|word| word == name)?;
        self.words.get(place + 1).map(String::as_str)
    }
}

/// Everything that descends from this process, as one look at the system shows it.
pub(crate) fn descendants() -> io::Result<Vec<Process>> {
    let all: Vec<Process> = std::fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(process)
        .collect();
    // A process id, which is never large enough to lose anything.
    let mut known = HashSet::from([std::process::id() as i32]);
    loop {
        let before = known.len();
        known.extend(
            all.iter().filter(|one| known.contains(&one.parent)).map(|one| one.pid).collect::<Vec<_>>(),
        );
        if known.len() == before {
            break;
        }
    }
    let ours = all.into_iter().filter(|one| known.contains(&one.parent));
    Ok(ours.map(|one| Process { words: words(one.pid), ..one }).collect())
}

/// `pid (name) state parent …`; the name may hold anything.
fn process(pid: i32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    Some(Process { pid, parent: fields.next()?.parse().ok()?, is_zombie, words: Vec::new() })
}

fn words(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// One of the sizes in a process's status, in bytes; absent once it has ended.
pub(crate) fn memory(process: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// How many files, pipes and sockets this process has open.
pub(crate) fn open_files() -> io::Result<usize> {
    // The folder itself is open while it is read.
    Ok(std::fs::read_dir("/proc/self/fd")?.count().saturating_sub(1))
}
