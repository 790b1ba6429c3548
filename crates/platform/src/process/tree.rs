//! Signals every descendant of a process, found by looking through `/proc`, or the children of this one, of which the
//! system keeps a list.
//!
//! Runs in the guardian after the fork: only stack memory, no panics. Being the subreaper makes the
//! guardian an ancestor of everything that was ever started below it, daemons included.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Descendants one sweep can hold. A larger tree is caught by the next sweep, when these are dead.
const KNOWN: usize = 4096;

/// How often one sweep looks through `/proc` at most.
const PASSES: usize = 4;

/// Enough for `/proc/<pid>/stat` up to the parent: the name before it has at most 64 bytes.
const STAT: usize = 256;

/// Sends `signal` once to every descendant of `root`.
///
/// A process found only because its parent was found before it needs no further look, as long as
/// children have higher numbers than their parents. Where they have not, the next pass finds them, so
/// passes go on until one finds nobody new, or for [`PASSES`]: a tree that grows as fast as it is looked at is for the
/// next sweep, because nobody waits for its dead meanwhile.
pub(super) fn signal_descendants(root: Pid, signal: Signal) {
    let Ok(proc) = open(CWD, c"/proc", OFlags::DIRECTORY) else {
        return;
    };
    let mut known = Known { root, pids: [0; KNOWN], count: 0 };
    for _ in 0..PASSES {
        let before = known.count;
        if pass(&proc, &mut known, signal).is_err() || known.count == before {
            return;
        }
    }
}

/// Sends `signal` to every child of this process that `is_meant`, and says to how many. Does nothing where the system
/// has no list of them.
///
/// Takes microseconds where looking through `/proc` takes milliseconds, and more the busier the machine is: enough for
/// daemons that never stay the same process for long.
pub(super) fn signal_children(signal: Signal, is_meant: impl Fn(Pid) -> bool) -> u32 {
    let mut count = 0_u32;
    let Ok(list) = open(CWD, c"/proc/thread-self/children", OFlags::empty()) else {
        return count;
    };
    let mut numbers = Numbers::default();
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = rustix::io::read(&list, &mut buffer) {
        for &byte in buffer.get(..length).unwrap_or_default() {
            if let Some(child) = numbers.next(byte).filter(|child| is_meant(*child)) {
                // Not waited for yet, so the number is still the child's.
                rustix::process::kill_process(child, signal).unwrap_or_default();
                count = count.saturating_add(1);
            }
        }
    }
    count
}

/// Reads numbers with a blank behind each, however they come in pieces.
#[derive(Debug, Default)]
struct Numbers {
    value: i32,
}

impl Numbers {
    /// The number that this byte is the end of.
    fn next(&mut self, byte: u8) -> Option<Pid> {
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

struct Known {
    root: Pid,
    pids: [i32; KNOWN],
    count: usize,
}

impl Known {
    fn contains(&self, pid: Pid) -> bool {
        let known = self.pids.get(..self.count).unwrap_or_default();
        known.contains(&pid.as_raw_pid())
    }

    fn is_parent(&self, pid: Pid) -> bool {
        pid == self.root || self.contains(pid)
    }

    /// Whether there was room to note it.
    fn add(&mut self, pid: Pid) -> bool {
        let Some(slot) = self.pids.get_mut(self.count) else {
            return false;
        };
        *slot = pid.as_raw_pid();
        self.count = self.count.saturating_add(1);
        true
    }
}

fn pass(proc: &OwnedFd, known: &mut Known, signal: Signal) -> Result<(), Errno> {
    rustix::fs::seek(proc, rustix::fs::SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut entries = RawDir::new(proc, &mut buffer);
    while let Some(entry) = entries.next() {
        let Some(pid) = number(entry?.file_name()) else {
            continue;
        };
        let is_new = pid != known.root && !known.contains(pid);
        if is_new && is_descendant(proc, pid, known) && known.add(pid) {
            deliver(proc, pid, known, signal);
        }
    }
    Ok(())
}

fn is_descendant(proc: &OwnedFd, pid: Pid, known: &Known) -> bool {
    parent(proc, pid).is_some_and(|parent| known.is_parent(parent))
}

/// Holds the process before looking at it a second time: between the first look and the signal its
/// number may have passed to a stranger. A process that cannot be signalled is not ours to end.
fn deliver(proc: &OwnedFd, pid: Pid, known: &Known, signal: Signal) {
    let sent = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(held) if is_descendant(proc, pid, known) => rustix::process::pidfd_send_signal(held, signal),
        Err(Errno::NOSYS) => rustix::process::kill_process(pid, signal),
        Ok(_) | Err(_) => Ok(()),
    };
    sent.unwrap_or_default();
}

/// The parent of `pid`, if it lives.
fn parent(proc: &OwnedFd, pid: Pid) -> Option<Pid> {
    let mut path = [0; 24];
    let stat = open(proc, stat_path(pid, &mut path)?, OFlags::empty()).ok()?;
    let mut buffer = [0; STAT];
    let length = rustix::io::read(&stat, &mut buffer).ok()?;
    parent_in(buffer.get(..length)?)
}

/// The parent is the second field after the name, which stands in parentheses and may itself hold blanks and parentheses.
/// The first says whether it is dead and only waited for: then it has no children any more.
fn parent_in(stat: &[u8]) -> Option<Pid> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = stat.get(name_end..)?.split(|&byte| byte == b' ').skip(1);
    match fields.next()? {
        b"Z" | b"X" => None,
        _ => decimal(fields.next()?),
    }
}

/// `<pid>/stat` with its final NUL, written into `buffer`.
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

fn number(name: &CStr) -> Option<Pid> {
    decimal(name.to_bytes())
}

fn decimal(digits: &[u8]) -> Option<Pid> {
    let mut value = 0_i32;
    for &digit in digits {
        let digit = char::from(digit).to_digit(10)?;
        value = value.checked_mul(10)?.checked_add(i32::try_from(digit).ok()?)?;
    }
    Pid::from_raw(value)
}

fn open(directory: impl AsFd, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests;
