//! Process information from `/proc`, as far as measurements need it.

use std::collections::HashSet;
use std::io;

/// A descendant of this process.
#[derive(Clone, Debug)]
pub(crate) struct ChildProcess {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// Whether the process is a zombie: it has exited and was not reaped.
    pub(crate) is_zombie: bool,
    /// The command line.
    pub(crate) words: Vec<String>,
}

impl ChildProcess {
    /// The value of an option on its command line.
    pub(crate) fn option_value(&self, name: &str) -> Option<&str> {
        let place = self.words.iter().position(|word| word == name)?;
        self.words.get(place + 1).map(String::as_str)
    }
}

/// All descendants of this process, from one scan of `/proc`.
pub(crate) fn list_descendants() -> io::Result<Vec<ChildProcess>> {
    let all: Vec<ChildProcess> = std::fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read_process)
        .collect();
    // A process id always fits.
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
    Ok(ours.map(|one| ChildProcess { words: read_command_line(one.pid), ..one }).collect())
}

/// Parses `pid (name) state parent …`; the name may contain any character.
fn read_process(pid: i32) -> Option<ChildProcess> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    Some(ChildProcess { pid, parent: fields.next()?.parse().ok()?, is_zombie, words: Vec::new() })
}

fn read_command_line(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// A memory size in a process's status, in bytes; absent once the process has exited.
pub(crate) fn memory_size(process: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The processor time of a process so far, in seconds; absent once it has exited.
pub(crate) fn processor_seconds(pid: u32) -> Option<f64> {
    /// The ticks of a second in `/proc`, on every Linux.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any character; state and parent come after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok());
    Some((ticks(11)? + ticks(12)?) / TICKS)
}

/// The number of open file descriptors of this process.
pub(crate) fn count_open_files() -> io::Result<usize> {
    // The folder itself is open while it is read.
    Ok(std::fs::read_dir("/proc/self/fd")?.count().saturating_sub(1))
}
