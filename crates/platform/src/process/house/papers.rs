//! What a process inherits from the one that starts it and cannot be told afterwards: who it is, what it may do, and
//! what its limits are.

use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, getrlimit};
use std::os::fd::OwnedFd;

/// Of one thread, in the words of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Papers {
    status: Vec<u8>,
    limits: [Rlimit; 6],
}

/// Where the papers of one thread are looked up, again and again: finding the file takes longer than reading it.
#[derive(Debug)]
pub(super) struct Office {
    thread: Pid,
    file: OwnedFd,
}

/// More than the kernel writes, unless the user is in hundreds of groups.
const STATUS: usize = 8 * 1024;

/// The lines that count; what else stands there changes all the time.
const LINES: [&str; 12] = [
    "Umask:",
    "Uid:",
    "Gid:",
    "Groups:",
    "CapInh:",
    "CapPrm:",
    "CapBnd:",
    "CapAmb:",
    "NoNewPrivs:",
    "Seccomp:",
    "Seccomp_filters:",
    "Cpus_allowed:",
];

/// Those that a host is known to change while it runs.
const LIMITS: [Resource; 6] =
    [Resource::Nofile, Resource::Nproc, Resource::Core, Resource::As, Resource::Data, Resource::Memlock];

impl Office {
    /// That of the calling thread, if the system has it.
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, c"/proc/thread-self/status", flags, Mode::empty()).ok()?;
        Some(Self { thread: rustix::thread::gettid(), file })
    }

    /// Whether it is that of the calling thread.
    pub(super) fn is_ours(&self) -> bool {
        self.thread == rustix::thread::gettid()
    }

    /// The papers as they are now.
    pub(super) fn papers(&self) -> Option<Papers> {
        let mut buffer = [0; STATUS];
        let read = rustix::io::pread(&self.file, &mut buffer, 0).ok().filter(|read| *read < STATUS)?;
        let lines = buffer.get(..read)?.split_inclusive(|&byte| byte == b'\n');
        let counts = |line: &&[u8]| LINES.iter().any(|name| line.starts_with(name.as_bytes()));
        let status = lines.filter(counts).flatten().copied().collect();
        Some(Papers { status, limits: LIMITS.map(getrlimit) })
    }
}
