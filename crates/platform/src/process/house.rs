//! The host's side of the guardhouse: one process, forked once, that posts a guardian for every server.
//!
//! A fork copies the host's page tables, and afterwards the host pays for every page it writes to. So it is done
//! once, and guardians share the memory of the guardhouse instead of having a copy of the host's.
//!
//! The guardhouse lives as long as there is a server, and no longer. A host that has become another user, has given
//! up rights or has other limits gets a new one, because servers inherit such things from it.

mod cell;
mod keeper;
mod papers;

pub(super) use cell::Note;

use super::image::Image;
use super::raw::{self, Side};
use super::reaper;
use papers::{Office, Papers};
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

/// How many descriptors go with an order: the guardian's end of the link, the server's three, and a folder.
const DESCRIPTORS: usize = 5;

/// How long letting go of the last server may wait for the guardhouse to be gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// The one that new servers are started by.
static CURRENT: Mutex<Weak<House>> = Mutex::new(Weak::new());

/// A guardhouse. Dropping it ends it, after the guardians it has posted.
#[derive(Debug)]
pub(super) struct House {
    desk: OwnedFd,
    keeper: Pid,
    /// The process that forked it; a fork of the host has a copy of `CURRENT` and no children.
    host: Pid,
    /// What its servers inherit, and where that was looked up; unknown where the system does not tell.
    papers: Option<(Office, Papers)>,
    in_haste: AtomicBool,
}

/// What a guardian is posted with: its end of the link, and the server's ends of its pipes.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) link: OwnedFd,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Has a guardian posted, which starts the program and then reports through its link.
pub(super) fn post_guardian(image: &Image, ends: &Ends, deadline: Instant) -> Result<Arc<House>, Errno> {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(house) = current.upgrade().filter(|house| house.stands_for_us()) {
        match house.order(image, ends, deadline) {
            // Somebody has killed it; its guardians go on, and the next takes its place.
            Err(Errno::PIPE | Errno::CONNRESET) => {}
            Ok(()) => return Ok(house),
            Err(errno) => {
                // An order may have been sent in part.
                *current = Weak::new();
                return Err(errno);
            }
        }
    }
    let house = Arc::new(House::fork()?);
    house.order(image, ends, deadline)?;
    *current = Arc::downgrade(&house);
    Ok(house)
}

impl House {
    #[expect(unsafe_code, reason = "forks the guardhouse")]
    fn fork() -> Result<Self, Errno> {
        let papers = Office::open().and_then(|office| office.papers().map(|papers| (office, papers)));
        let flags = SocketFlags::CLOEXEC;
        let (desk, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let theirs = above_stdio(theirs)?;
        let host = rustix::process::getpid();
        let blocked = raw::block_signals();
        // SAFETY: `keep` and all it calls make system calls only, and it never returns.
        let side = unsafe { raw::fork() };
        match side? {
            Side::Child => keeper::keep(theirs),
            Side::Parent(keeper) => {
                drop(blocked);
                Ok(Self { desk, keeper, host, papers, in_haste: AtomicBool::new(false) })
            }
        }
    }

    /// Whether what it starts is as if this thread had started it.
    fn stands_for_us(&self) -> bool {
        let Some((office, papers)) = &self.papers else { return false };
        let ours = match office.is_ours() {
            true => office.papers(),
            false => Office::open().and_then(|office| office.papers()),
        };
        ours.as_ref() == Some(papers) && self.host == rustix::process::getpid()
    }

    fn order(&self, image: &Image, ends: &Ends, deadline: Instant) -> Result<(), Errno> {
        let Ends { link, stdin, stdout, stderr } = ends;
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
        let begun = self.begin(&head, &image.strings, all.get(..count).unwrap_or_default(), deadline)?;
        let mut rest = image.strings.get(begun.saturating_sub(head.len())..).unwrap_or_default();
        while !rest.is_empty() {
            let sent = self.when_ready(deadline, || {
                rustix::net::send(&self.desk, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
            })?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// Sends the descriptors with as many bytes as there is room for; the head is never torn.
    fn begin(
        &self,
        head: &[u8],
        strings: &[u8],
        descriptors: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<usize, Errno> {
        self.when_ready(deadline, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            // There is room for all of them.
            let _fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
            let bytes = [IoSlice::new(head), IoSlice::new(strings)];
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            rustix::net::sendmsg(&self.desk, &bytes, &mut control, flags)
        })
    }

    /// Does it as soon as there is room, until `deadline` at most.
    fn when_ready<T>(
        &self,
        deadline: Instant,
        mut act: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        loop {
            match act() {
                Err(Errno::AGAIN | Errno::INTR) => {
                    if !self.wait(PollFlags::OUT, deadline) {
                        return Err(Errno::TIMEDOUT);
                    }
                }
                done => return done,
            }
        }
    }

    /// Whether that is possible before `deadline`.
    fn wait(&self, what: PollFlags, deadline: Instant) -> bool {
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

    /// Nobody waits any more until it is gone.
    pub(super) fn hurry(&self) {
        self.in_haste.store(true, Ordering::Relaxed);
    }

    /// Whether the other end of the desk is closed, which nobody ever writes to.
    fn is_deserted(&self, deadline: Instant) -> bool {
        loop {
            match rustix::net::recv(&self.desk, &mut [0], RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN | Errno::INTR) => {
                    if !self.wait(PollFlags::IN, deadline) {
                        return false;
                    }
                }
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if self.host != rustix::process::getpid() {
            return;
        }
        // An error means that it is gone.
        rustix::net::shutdown(&self.desk, Shutdown::Write).unwrap_or_default();
        let patience = if self.in_haste.load(Ordering::Relaxed) { Duration::ZERO } else { PATIENCE };
        if self.is_deserted(Instant::now() + patience) {
            reaper::reap(self.keeper);
        } else {
            reaper::remember(self.keeper);
        }
    }
}

/// A host without standard streams gets these numbers for its sockets, and the guardhouse fills them.
fn above_stdio(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(&fd, 3)
}
