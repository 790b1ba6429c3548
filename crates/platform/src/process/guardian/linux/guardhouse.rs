//! The host's side of the guardhouse: one process, forked once, that starts a guardian for every server.
//!
//! A fork copies the host's page tables, and afterwards the host pays for every page it writes to (copy on
//! write). So the host forks once, and guardians share the memory of the guardhouse instead of copying the
//! host's.
//!
//! The guardhouse lives as long as there is a server, and no longer. A host that has changed its user id,
//! dropped privileges or changed its resource limits forks a new guardhouse, because servers inherit these
//! from it.

mod guardhouse_process;
mod guardian_memory;
mod inherited_attributes;

use super::image::LaunchImage;
use super::raw::{self, ForkSide};
use crate::process::reaper;
use inherited_attributes::{InheritedAttributes, ThreadStatusFile};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags,
    SocketType,
};
use rustix::process::Pid;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Number of descriptors sent with an order: the guardian's end of the link, the server's three streams, and
/// a folder.
const DESCRIPTORS: usize = 5;

/// Timeout for the guardhouse to end after its last server was dropped.
const PATIENCE: Duration = Duration::from_secs(1);

/// The guardhouse that starts new servers.
static CURRENT: Mutex<Weak<Guardhouse>> = Mutex::new(Weak::new());

/// A handle on the guardhouse. Dropping it ends the process, after the guardians it has started.
#[derive(Debug)]
pub(super) struct Guardhouse {
    desk: OwnedFd,
    process: Pid,
    /// The process that forked the guardhouse; a fork of the host has a copy of `CURRENT` and no children.
    host: Pid,
    /// The attributes that its servers inherit, and the status file they were read from; `None` where `/proc`
    /// is missing.
    attributes: Option<(ThreadStatusFile, InheritedAttributes)>,
    skips_waiting: AtomicBool,
}

/// The ends that a guardian gets: its end of the link, and the server's ends of its pipes.
#[derive(Debug)]
pub(super) struct ServerPipeEnds {
    pub(super) link: OwnedFd,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Orders a guardian, which starts the program and then reports through its link.
pub(super) fn order_guardian(
    image: &LaunchImage,
    ends: &ServerPipeEnds,
    deadline: Instant,
) -> Result<Arc<Guardhouse>, Errno> {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(house) = current.upgrade().filter(|house| house.matches_this_thread()) {
        match house.send_order(image, ends, deadline) {
            // The guardhouse was killed from outside; its guardians go on, and a new one takes its place.
            Err(Errno::PIPE | Errno::CONNRESET) => {}
            Ok(()) => return Ok(house),
            Err(errno) => {
                // The order may have been sent in part.
                *current = Weak::new();
                return Err(errno);
            }
        }
    }
    let house = Arc::new(Guardhouse::fork_from_host()?);
    house.send_order(image, ends, deadline)?;
    *current = Arc::downgrade(&house);
    Ok(house)
}

impl Guardhouse {
    #[expect(unsafe_code, reason = "forks the guardhouse")]
    fn fork_from_host() -> Result<Self, Errno> {
        let papers = ThreadStatusFile::open()
            .and_then(|office| office.read_attributes().map(|papers| (office, papers)));
        let flags = SocketFlags::CLOEXEC;
        let (desk, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let theirs = above_stdio(theirs)?;
        let host = rustix::process::getpid();
        let blocked = raw::block_signals();
        // SAFETY: `run_guardhouse` and all it calls make system calls only, and it never returns.
        let side = unsafe { raw::fork_process() };
        match side? {
            ForkSide::Child => guardhouse_process::run_guardhouse(theirs),
            ForkSide::Parent(keeper) => {
                drop(blocked);
                Ok(Self {
                    desk,
                    process: keeper,
                    host,
                    attributes: papers,
                    skips_waiting: AtomicBool::new(false),
                })
            }
        }
    }

    /// Whether a server started by this guardhouse inherits the same attributes as one started by this
    /// thread.
    fn matches_this_thread(&self) -> bool {
        let Some((office, papers)) = &self.attributes else { return false };
        let ours = if office.is_of_this_thread() {
            office.read_attributes()
        } else {
            ThreadStatusFile::open().and_then(|office| office.read_attributes())
        };
        ours.as_ref() == Some(papers) && self.host == rustix::process::getpid()
    }

    fn send_order(&self, image: &LaunchImage, ends: &ServerPipeEnds, deadline: Instant) -> Result<(), Errno> {
        let ServerPipeEnds { link, stdin, stdout, stderr } = ends;
        let link = link.as_fd();
        let all = [
            link,
            stdin.as_fd(),
            stdout.as_fd(),
            stderr.as_fd(),
            image.folder.as_ref().map_or(link, AsFd::as_fd),
        ];
        let count = if image.folder.is_some() { DESCRIPTORS } else { DESCRIPTORS - 1 };
        let head = image.head.to_bytes();
        let begun =
            self.send_descriptors(&head, &image.strings, all.get(..count).unwrap_or_default(), deadline)?;
        let mut rest = image.strings.get(begun.saturating_sub(head.len())..).unwrap_or_default();
        while !rest.is_empty() {
            let sent = self.send_when_ready(deadline, || {
                rustix::net::send(&self.desk, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
            })?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// Sends the descriptors with as many bytes as fit into the socket buffer; the header is never split.
    fn send_descriptors(
        &self,
        head: &[u8],
        strings: &[u8],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<usize, Errno> {
        self.send_when_ready(deadline, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            // The buffer has space for all of them.
            let _fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
            let bytes = [IoSlice::new(head), IoSlice::new(strings)];
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            rustix::net::sendmsg(&self.desk, &bytes, &mut control, flags)
        })
    }

    /// Retries a send until the socket has space, until `deadline` at most.
    fn send_when_ready<T>(
        &self,
        deadline: Instant,
        mut act: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        loop {
            match act() {
                Err(Errno::AGAIN | Errno::INTR) => {
                    if !self.poll_desk(PollFlags::OUT, deadline) {
                        return Err(Errno::TIMEDOUT);
                    }
                }
                done => return done,
            }
        }
    }

    /// Polls the desk; whether it became ready before `deadline`.
    fn poll_desk(&self, what: PollFlags, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // A wait of seconds does not reach the limits of the conversion.
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
            let mut ready = [PollFd::new(&self.desk, what)];
            match rustix::event::poll(&mut ready, Some(&left)) {
                Err(Errno::INTR) => {}
                result => return result == Ok(1),
            }
        }
    }

    /// Makes the drop return without waiting for the guardhouse to end.
    pub(super) fn skip_waiting(&self) {
        self.skips_waiting.store(true, Ordering::Relaxed);
    }

    /// Waits for the guardhouse to close its end of the desk, to which it never writes; false on timeout.
    fn wait_until_closed(&self, deadline: Instant) -> bool {
        loop {
            match rustix::net::recv(&self.desk, &mut [0], RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN | Errno::INTR) => {
                    if !self.poll_desk(PollFlags::IN, deadline) {
                        return false;
                    }
                }
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

impl Drop for Guardhouse {
    fn drop(&mut self) {
        if self.host != rustix::process::getpid() {
            return;
        }
        // An error means that the guardhouse is gone.
        rustix::net::shutdown(&self.desk, Shutdown::Write).unwrap_or_default();
        let patience = if self.skips_waiting.load(Ordering::Relaxed) { Duration::ZERO } else { PATIENCE };
        if self.wait_until_closed(Instant::now() + patience) {
            reaper::reap_guardhouse(self.process);
        } else {
            reaper::remember_process(self.process);
        }
    }
}

/// Moves a descriptor out of the range 0 to 2, which the guardhouse overwrites. A host without standard
/// streams gets these numbers for its sockets.
fn above_stdio(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(&fd, 3)
}
