//! Attributes that a process inherits from its parent and that cannot be set afterwards: user and groups,
//! capabilities, and resource limits.

use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, getrlimit};
use std::os::fd::OwnedFd;

/// The inherited attributes of one thread, as raw lines of `/proc/thread-self/status` and limits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InheritedAttributes {
    status: Vec<u8>,
    limits: [Rlimit; 6],
}

/// The opened status file of one thread, read repeatedly: opening it takes longer than reading it.
#[derive(Debug)]
pub(super) struct ThreadStatusFile {
    thread: Pid,
    file: OwnedFd,
}

/// Buffer size: more than the kernel writes, unless the user is in hundreds of groups.
const STATUS: usize = 8 * 1024;

/// The status lines that a child inherits; the other lines change all the time.
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

/// The resource limits that a host is known to change while it runs.
const LIMITS: [Resource; 6] =
    [Resource::Nofile, Resource::Nproc, Resource::Core, Resource::As, Resource::Data, Resource::Memlock];

impl ThreadStatusFile {
    /// Opens the status file of the calling thread; `None` where `/proc` is missing.
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, c"/proc/thread-self/status", flags, Mode::empty()).ok()?;
        Some(Self { thread: rustix::thread::gettid(), file })
    }

    /// Whether the file belongs to the calling thread.
    pub(super) fn is_of_this_thread(&self) -> bool {
        self.thread == rustix::thread::gettid()
    }

    /// Reads the current attributes.
    pub(super) fn read_attributes(&self) -> Option<InheritedAttributes> {
        let mut buffer = [0; STATUS];
        let read = rustix::io::pread(&self.file, &mut buffer, 0).ok().filter(|read| *read < STATUS)?;
        let lines = buffer.get(..read)?.split_inclusive(|&byte| byte == b'\n');
        let counts = |line: &&[u8]| LINES.iter().any(|name| line.starts_with(name.as_bytes()));
        let status = lines.filter(counts).flatten().copied().collect();
        Some(InheritedAttributes { status, limits: LIMITS.map(getrlimit) })
    }
}
