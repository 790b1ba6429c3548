//! Signals every descendant of a process, found by scanning `/proc`, or the direct children of this process,
//! of which the kernel keeps a list.
//!
//! Runs in the guardian after the fork: only stack memory, no panics. Being the subreaper makes the
//! guardian an ancestor of every process that was ever started below it, daemons included.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Capacity for descendants per sweep. A larger tree is caught by the next sweep, when these are dead.
const KNOWN: usize = 4096;

/// Limit on scans of `/proc` per sweep.
const PASSES: usize = 4;

/// Enough for `/proc/<pid>/stat` up to the parent: the name before it has at most 64 bytes.
const STAT: usize = 256;

/// Sends `signal` once to every descendant of `root`.
///
/// A scan finds a whole branch at once as long as children have higher process ids than their parents. Where
/// they have not, the next scan finds them, so scans go on until one finds no new process, or for [`PASSES`]:
/// a tree that forks as fast as it is scanned is left to the next sweep, because its dead are not reaped
/// meanwhile.
pub(super) fn signal_descendants(root: Pid, signal: Signal) {
    let Ok(proc) = open_at(CWD, c"/proc", OFlags::DIRECTORY) else {
        return;
    };
    let mut known = KnownPids { root, pids: [0; KNOWN], count: 0 };
    for _ in 0..PASSES {
        let before = known.count;
        if scan_proc(&proc, &mut known, signal).is_err() || known.count == before {
            return;
        }
    }
}

/// Sends `signal` to every child of this process that `is_meant`, and returns their number; 0 where the
/// kernel has no list of children.
///
/// Takes microseconds where scanning `/proc` takes milliseconds, and more the busier the machine is: fast
/// enough for daemons that fork again and again.
pub(super) fn signal_children(signal: Signal, is_meant: impl Fn(Pid) -> bool) -> u32 {
    let mut count = 0_u32;
    let Ok(list) = open_at(CWD, c"/proc/thread-self/children", OFlags::empty()) else {
        return count;
    };
    let mut numbers = PidParser::default();
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = rustix::io::read(&list, &mut buffer) {
        for &byte in buffer.get(..length).unwrap_or_default() {
            if let Some(child) = numbers.push_byte(byte).filter(|child| is_meant(*child)) {
                // The child has not been reaped, so the process id is still its own.
                rustix::process::kill_process(child, signal).unwrap_or_default();
                count = count.saturating_add(1);
            }
        }
    }
    count
}

/// Incremental parser of process ids, each followed by a blank, in chunks of any size.
#[derive(Debug, Default)]
struct PidParser {
    value: i32,
}

impl PidParser {
    /// Consumes one byte; returns the process id that it completes.
    fn push_byte(&mut self, byte: u8) -> Option<Pid> {
        match char::from(byte).to_digit(10) {
            Some(digit) => {
                let digit = i32::try_from(digit).unwrap_or_default();
                self.value = self.value.saturating_mul(10).saturating_add(digit);
                None
            }
            None => Pid::from_raw(std::mem::take(&mut self.value)),
        }
    }
}

struct KnownPids {
    root: Pid,
    pids: [i32; KNOWN],
    count: usize,
}

impl KnownPids {
    fn contains_pid(&self, pid: Pid) -> bool {
        let known = self.pids.get(..self.count).unwrap_or_default();
        known.contains(&pid.as_raw_pid())
    }

    fn is_parent(&self, pid: Pid) -> bool {
        pid == self.root || self.contains_pid(pid)
    }

    /// Adds a process id; false if there is no space left.
    fn add_pid(&mut self, pid: Pid) -> bool {
        let Some(slot) = self.pids.get_mut(self.count) else {
            return false;
        };
        *slot = pid.as_raw_pid();
        self.count = self.count.saturating_add(1);
        true
    }
}

fn scan_proc(proc: &OwnedFd, known: &mut KnownPids, signal: Signal) -> Result<(), Errno> {
    rustix::fs::seek(proc, rustix::fs::SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut entries = RawDir::new(proc, &mut buffer);
    while let Some(entry) = entries.next() {
        let Some(pid) = parse_pid_name(entry?.file_name()) else {
            continue;
        };
        let is_new = pid != known.root && !known.contains_pid(pid);
        if is_new && is_descendant(proc, pid, known) && known.add_pid(pid) {
            signal_through_pidfd(proc, pid, known, signal);
        }
    }
    Ok(())
}

fn is_descendant(proc: &OwnedFd, pid: Pid, known: &KnownPids) -> bool {
    parent_pid(proc, pid).is_some_and(|parent| known.is_parent(parent))
}

/// Signals a process through a pidfd, checking its parent again: between the scan and the signal its
/// process id may have been reused. A process that we may not signal is skipped.
fn signal_through_pidfd(proc: &OwnedFd, pid: Pid, known: &KnownPids, signal: Signal) {
    let sent = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(held) if is_descendant(proc, pid, known) => rustix::process::pidfd_send_signal(held, signal),
        Err(Errno::NOSYS) => rustix::process::kill_process(pid, signal),
        Ok(_) | Err(_) => Ok(()),
    };
    sent.unwrap_or_default();
}

/// Reads the parent of `pid`, if it lives.
fn parent_pid(proc: &OwnedFd, pid: Pid) -> Option<Pid> {
    let mut path = [0; 24];
    let stat = open_at(proc, stat_path(pid, &mut path)?, OFlags::empty()).ok()?;
    let mut buffer = [0; STAT];
    let length = rustix::io::read(&stat, &mut buffer).ok()?;
    parse_parent_pid(buffer.get(..length)?)
}

/// Parses the parent, the second field after the name, which is in parentheses and may itself contain blanks
/// and parentheses. The first field is the state: a zombie has no children any more.
fn parse_parent_pid(stat: &[u8]) -> Option<Pid> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = stat.get(name_end..)?.split(|&byte| byte == b' ').skip(1);
    match fields.next()? {
        b"Z" | b"X" => None,
        _ => parse_pid(fields.next()?),
    }
}

/// Formats `<pid>/stat` with its final NUL into `buffer`.
fn stat_path(pid: Pid, buffer: &mut [u8; 24]) -> Option<&CStr> {
    let mut rest = pid.as_raw_pid().unsigned_abs();
    let mut digits = [0_u8; 10];
    let mut count = 0_usize;
    for slot in digits.iter_mut().rev() {
        *slot = b'0'.wrapping_add((rest % 10) as u8);
        rest /= 10;
        count = count.saturating_add(1);
        if rest == 0 {
            break;
        }
    }
    let digits = digits.get(digits.len().saturating_sub(count)..)?;
    let text = digits.iter().chain(b"/stat\0");
    for (slot, byte) in buffer.iter_mut().zip(text) {
        *slot = *byte;
    }
    CStr::from_bytes_until_nul(buffer).ok()
}

fn parse_pid_name(name: &CStr) -> Option<Pid> {
    parse_pid(name.to_bytes())
}

fn parse_pid(digits: &[u8]) -> Option<Pid> {
    let mut value = 0_i32;
    for &digit in digits {
        let digit = char::from(digit).to_digit(10)?;
        value = value.checked_mul(10)?.checked_add(i32::try_from(digit).ok()?)?;
    }
    Pid::from_raw(value)
}

fn open_at(directory: impl AsFd, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests;
