//! The guardian: outlives the host by the moment it takes to kill everything below itself.
//!
//! Runs after the fork of a host that may have many threads: only stack memory, no locks, no panics,
//! and it never returns. It blocks every signal, so nothing but `SIGKILL` ends it early.

use super::image::Image;
use super::link::{Heard, Order, Report, Stage};
use super::raw::{self, Side};
use super::server::{Stdio, become_program};
use super::tree::signal_descendants;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use std::os::fd::{AsRawFd, OwnedFd};

/// Pauses between two sweeps while processes are dying: first this many milliseconds, then that many.
/// A dying child ends the pause at once; the pause is for those that forked during the sweep.
const PAUSES: (i64, i64) = (2, 20);

/// Sweeps without a single death before we accept that the rest runs as another user: about ten seconds.
const FRUITLESS: u32 = 500;

/// What the host hands to its guardian.
#[derive(Debug)]
pub(super) struct Post {
    /// Orders in, reports out.
    pub(super) link: OwnedFd,
    /// For the server.
    pub(super) stdio: Stdio,
    /// Closes when the server is executed, or tells why not.
    pub(super) failure: (OwnedFd, OwnedFd),
}

/// Starts the server, guards it to its end, and ends.
pub(super) fn stand(post: Post, image: &Image) -> ! {
    keep_only(&post);
    let Post { link, stdio, failure } = post;
    match start(image, stdio, failure, &link) {
        Ok(mut watch) => {
            Report::Started(watch.server).send(&link);
            watch.until_told_or_over(&link);
            watch.kill_everything();
            Report::Ended(watch.status).send(&link);
        }
        Err(report) => report.send(&link),
    }
    raw::exit(0)
}

#[expect(unsafe_code, reason = "closes the descriptors of the host's copy")]
fn keep_only(post: &Post) {
    let mut keep = [
        post.link.as_raw_fd(),
        post.stdio.stdin.as_raw_fd(),
        post.stdio.stdout.as_raw_fd(),
        post.stdio.stderr.as_raw_fd(),
        post.failure.0.as_raw_fd(),
        post.failure.1.as_raw_fd(),
    ];
    keep.sort_unstable();
    // Other servers' links above all: a guardian that held one would keep that server alive.
    // SAFETY: this process is a copy that never returns to the code owning the closed descriptors.
    unsafe { raw::close_all_but(&keep) };
}

fn start(
    image: &Image,
    stdio: Stdio,
    (told, tell): (OwnedFd, OwnedFd),
    link: &OwnedFd,
) -> Result<Watch, Report> {
    let prepared = withdraw().and_then(|children| Ok((children, fork_server(image, &stdio, &tell)?)));
    let (children, server) = prepared.map_err(|errno| Report::Failed(Stage::Prepare, errno))?;
    // Held open here, the server's pipes would never end.
    drop(stdio);
    drop(tell);
    let mut watch = Watch { myself: rustix::process::getpid(), server, children, status: 0, left: true };
    match watch.execution(&told, link) {
        None => Ok(watch),
        Some(report) => {
            watch.kill_everything();
            Err(report)
        }
    }
}

/// Leaves the host's terminal, signals and folder, and becomes the one whom orphans fall to.
fn withdraw() -> Result<OwnedFd, Errno> {
    raw::default_signals();
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // The copy of the host's memory may hold tokens: no core dump, no debugger of the same user.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_name(c"mcparley-guard")?;
    raw::child_signals()
}

#[expect(unsafe_code, reason = "forks the server")]
fn fork_server(image: &Image, stdio: &Stdio, tell: &OwnedFd) -> Result<Pid, Errno> {
    let guardian = rustix::process::getpid();
    // SAFETY: `become_program` makes system calls only and never returns.
    match unsafe { raw::fork() }? {
        Side::Child => become_program(image, stdio, tell, guardian),
        Side::Parent(server) => Ok(server),
    }
}

/// The running server and what is known about its tree.
struct Watch {
    myself: Pid,
    server: Pid,
    /// Readable when a child has changed.
    children: OwnedFd,
    /// The server's raw wait status, once it is over.
    status: i32,
    /// Whether the server has not been waited for yet.
    left: bool,
}

impl Watch {
    /// Waits for `execve`; a report if it failed or the host went away.
    fn execution(&self, told: &OwnedFd, link: &OwnedFd) -> Option<Report> {
        let mut ready = [PollFd::new(told, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        let stopped = Report::Failed(Stage::Prepare, Errno::CANCELED);
        if rustix::event::poll(&mut ready, None).is_err() {
            return Some(stopped);
        }
        let [execution, host] = ready;
        if execution.revents().is_empty() && !host.revents().is_empty() {
            return Some(stopped);
        }
        let mut bytes = [0; 8];
        match rustix::io::read(told, &mut bytes) {
            Ok(0) => None,
            Ok(_) => Report::from_bytes(bytes).or(Some(stopped)),
            Err(_) => Some(stopped),
        }
    }

    /// Follows orders until the host wants the end, is gone, or the server is over.
    fn until_told_or_over(&mut self, link: &OwnedFd) {
        // The host's folder must not stay in use because of us; the root is always there.
        rustix::process::chdir(c"/").unwrap_or_default();
        while self.left {
            let mut ready = [PollFd::new(link, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
            if rustix::event::poll(&mut ready, None).is_err() {
                return;
            }
            match Order::receive(link) {
                Heard::Word(Order::Interrupt) => self.interrupt(),
                Heard::Word(Order::Terminate) => signal_descendants(self.myself, Signal::TERM),
                Heard::Word(Order::Kill) | Heard::End => return,
                Heard::Silence => {}
            }
            self.reap();
        }
    }

    fn interrupt(&self) {
        // Not waited for yet, so the number is still the server's.
        rustix::process::kill_process(self.server, Signal::INT).unwrap_or_default();
    }

    /// Kills and waits until nothing is left below us.
    fn kill_everything(&mut self) {
        // Orphans fall to us, so without a child there is no descendant either. Most servers end so, and a
        // sweep looks at every process of the machine.
        if self.reap().is_none() {
            return;
        }
        let mut fruitless = 0;
        let mut pause = PAUSES.0;
        while fruitless < FRUITLESS {
            self.kill_server();
            signal_descendants(self.myself, Signal::KILL);
            let deaths = match self.reap_while_dying(pause) {
                Some(deaths) => deaths,
                None => return,
            };
            fruitless = if deaths > 0 { 0 } else { fruitless.saturating_add(1) };
            pause = PAUSES.1.min(pause.saturating_mul(2));
        }
    }

    /// Needs no `/proc`, which some containers hide.
    fn kill_server(&self) {
        if self.left {
            rustix::process::kill_process_group(self.server, Signal::KILL)
                .or_else(|_| rustix::process::kill_process(self.server, Signal::KILL))
                .unwrap_or_default();
        }
    }

    /// Waits for deaths until none came for `pause` milliseconds; `None` when nobody is left.
    fn reap_while_dying(&mut self, pause: i64) -> Option<u32> {
        let mut deaths = 0_u32;
        loop {
            deaths = deaths.saturating_add(self.reap()?);
            let limit = Timespec { tv_sec: 0, tv_nsec: pause.saturating_mul(1_000_000) };
            let mut ready = [PollFd::new(&self.children, PollFlags::IN)];
            match rustix::event::poll(&mut ready, Some(&limit)) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Some(deaths),
            }
        }
    }

    /// Waits for all that have died and says how many; `None` when no child is left.
    fn reap(&mut self) -> Option<u32> {
        // Emptied before looking, so that a death after the look makes it readable again.
        let mut signals = [0; 128];
        rustix::io::read(&self.children, &mut signals).unwrap_or_default();
        let mut deaths = 0_u32;
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    deaths = deaths.saturating_add(1);
                    if pid == self.server {
                        self.status = status.as_raw();
                        self.left = false;
                    }
                }
                Ok(None) => return Some(deaths),
                Err(_) => return None,
            }
        }
    }
}
