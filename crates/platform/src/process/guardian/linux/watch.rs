//! The guardian process: starts a server, and kills all its descendants when the host orders it or dies.
//!
//! Runs in the memory of the guardhouse, beside it and the other guardians: only its own stack and its
//! parameters, no locks, no panics, and it never returns. It blocks every signal, so only `SIGKILL` ends it
//! early.

use super::raw;
use super::server::become_program;
use super::start_parameters::StartParameters;
use super::tree::{signal_children, signal_descendants};
use crate::process::error::SpawnStage;
use crate::process::guardian::{GuardianOrder, GuardianReport, ReceiveOutcome};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// First and longest pause between two sweeps while processes are dying, in milliseconds.
/// A dying child ends the pause at once; the pause is for those that forked during the sweep.
const PAUSES: (i64, i64) = (2, 20);

/// Sweeps without a single death before the remaining processes are assumed to run as another user: about ten
/// seconds.
const FRUITLESS: u32 = 500;

/// Exit code of the guardian when all descendants are gone, and its memory can be reused.
const ALL_GONE: i32 = 0;
/// Exit code of the guardian otherwise.
const SOME_LEFT: i32 = 1;

/// Starts the server, guards it until it ends, and exits.
#[expect(unsafe_code, reason = "takes over the descriptors that were copied for it")]
pub(super) fn run_guardian(note: *mut StartParameters) -> ! {
    // SAFETY: the guardhouse has written the parameters, and this process has a copy of every descriptor in
    // them.
    let link = unsafe { OwnedFd::from_raw_fd((*note).link) };
    let left = match start_server(note, &link) {
        Ok(mut watch) => {
            GuardianReport::Started(watch.server).send_over_link(&link);
            watch.follow_orders(&link);
            let left = watch.kill_descendants();
            GuardianReport::Ended(watch.status).send_over_link(&link);
            left
        }
        Err(StartFailure { report, left }) => {
            report.send_over_link(&link);
            left
        }
    };
    raw::exit(left)
}

/// A failed start: the report for the host, and the exit code of the guardian.
struct StartFailure {
    report: GuardianReport,
    left: i32,
}

fn start_server(note: *mut StartParameters, link: &OwnedFd) -> Result<GuardianWatch, StartFailure> {
    let prepared = clone_server(note).map_err(|errno| StartFailure {
        report: GuardianReport::Failed(SpawnStage::Prepare, errno),
        left: ALL_GONE,
    });
    let (mut watch, told) = prepared?;
    match watch.wait_for_execve(&told, link) {
        None => Ok(watch),
        Some(report) => Err(StartFailure { report, left: watch.kill_descendants() }),
    }
}

/// Starts the server process; returns the pipe through which it reports a failed `execve`.
#[expect(unsafe_code, reason = "writes the note, and takes over descriptors that were copied for it")]
fn clone_server(note: *mut StartParameters) -> Result<(GuardianWatch, OwnedFd), Errno> {
    // Its number is above those of the standard streams, which are still occupied.
    let (told, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let myself = rustix::process::getpid();
    // SAFETY: the guardhouse has written the parameters and does not use them any more; the server has not
    // started.
    let ours = unsafe {
        (*note).failure = tell.as_raw_fd();
        (*note).guardian = myself.as_raw_pid();
        *note
    };
    close_other_descriptors(&ours, &told);
    become_subreaper(myself)?;
    // SAFETY: the parameters have the server's own stack, and are not changed any more; `server_entry_point`
    // makes system calls only and never returns.
    let server = unsafe { raw::clone_sharing_memory(server_entry_point, ours.server_stack, note.cast()) }?;
    drop(tell);
    // Held open here, the server's pipes would never reach their end.
    for fd in [ours.stdin, ours.stdout, ours.stderr].into_iter().chain(ours.folder) {
        // SAFETY: this process has its own copy of every descriptor, and uses none of these.
        unsafe { rustix::io::close(fd) };
    }
    // SAFETY: as above; the copy has no other owner.
    let children = unsafe { OwnedFd::from_raw_fd(ours.signals) };
    Ok((GuardianWatch { myself, server, children, status: 0, left: true }, told))
}

#[expect(unsafe_code, reason = "closes the descriptors of the guardhouse's copy")]
fn close_other_descriptors(note: &StartParameters, told: &OwnedFd) {
    let folder = note.folder.unwrap_or(note.link);
    let mut keep: [RawFd; 8] = [
        note.link,
        note.stdin,
        note.stdout,
        note.stderr,
        note.signals,
        note.failure,
        told.as_raw_fd(),
        folder,
    ];
    keep.sort_unstable();
    // Closes the desk, and the ends of other guardians' links.
    // SAFETY: this process has its own copy of every descriptor, and never returns to the code owning the
    // others.
    unsafe { raw::close_all_but(&keep) };
}

/// Makes this process a subreaper, so that orphans become its children.
fn become_subreaper(myself: Pid) -> Result<(), Errno> {
    rustix::process::set_child_subreaper(Some(myself))?;
    rustix::thread::set_name(c"mcparley-guard")
}

#[expect(unsafe_code, reason = "reads the note")]
extern "C" fn server_entry_point(note: *mut c_void) -> c_int {
    // SAFETY: guardhouse and guardian have filled it in, and this process has a copy of every descriptor in
    // it.
    unsafe { become_program(&*note.cast::<StartParameters>()) }
}

/// The running server and the state of its process tree.
struct GuardianWatch {
    myself: Pid,
    server: Pid,
    /// A signalfd that is readable when a child has changed.
    children: OwnedFd,
    /// The server's raw wait status, once it has ended.
    status: i32,
    /// Whether the server has not been reaped yet.
    left: bool,
}

impl GuardianWatch {
    /// Waits for `execve`; returns a report if it failed or the host went away.
    fn wait_for_execve(&self, told: &OwnedFd, link: &OwnedFd) -> Option<GuardianReport> {
        let mut ready = [PollFd::new(told, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        let stopped = GuardianReport::Failed(SpawnStage::Prepare, Errno::CANCELED);
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
            Ok(_) => GuardianReport::from_bytes(bytes).or(Some(stopped)),
            Err(_) => Some(stopped),
        }
    }

    /// Follows orders until the host orders the end, the host is gone, or the server has ended.
    fn follow_orders(&mut self, link: &OwnedFd) {
        while self.left {
            let mut ready = [PollFd::new(link, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
            if rustix::event::poll(&mut ready, None).is_err() {
                return;
            }
            match GuardianOrder::receive_order(link) {
                ReceiveOutcome::Message(GuardianOrder::Interrupt) => self.interrupt_server(),
                ReceiveOutcome::Message(GuardianOrder::Terminate) => {
                    signal_descendants(self.myself, Signal::TERM)
                }
                ReceiveOutcome::Message(GuardianOrder::Kill) | ReceiveOutcome::Closed => return,
                ReceiveOutcome::Nothing => {}
            }
            self.reap_children();
        }
    }

    fn interrupt_server(&self) {
        // The server has not been reaped, so the process id is still its own.
        rustix::process::kill_process(self.server, Signal::INT).unwrap_or_default();
    }

    /// Kills and reaps until no descendant is left; returns the exit code.
    fn kill_descendants(&mut self) -> i32 {
        // Orphans become our children, so without a child there is no descendant either. Most servers end so,
        // and a sweep scans every process of the machine.
        if self.reap_children().is_none() {
            return ALL_GONE;
        }
        let mut fruitless = 0;
        let mut pause = PAUSES.0;
        while fruitless < FRUITLESS {
            self.kill_server();
            signal_descendants(self.myself, Signal::KILL);
            let deaths = match self.reap_until_quiet(pause) {
                Some(deaths) => deaths,
                None => return ALL_GONE,
            };
            fruitless = if deaths > 0 { 0 } else { fruitless.saturating_add(1) };
            pause = PAUSES.1.min(pause.saturating_mul(2));
        }
        SOME_LEFT
    }

    /// Kills the server without `/proc`, which some containers hide.
    fn kill_server(&self) {
        if self.left {
            rustix::process::kill_process_group(self.server, Signal::KILL)
                .or_else(|_| rustix::process::kill_process(self.server, Signal::KILL))
                .unwrap_or_default();
        }
    }

    /// Reaps until no child died for `pause` milliseconds; `None` when no child is left.
    fn reap_until_quiet(&mut self, pause: i64) -> Option<u32> {
        let mut deaths = 0_u32;
        loop {
            deaths = deaths.saturating_add(self.reap_children()?);
            // Children of the dead are ours now, and would otherwise live until the next sweep.
            signal_children(Signal::KILL, |_| true);
            let limit = Timespec { tv_sec: 0, tv_nsec: pause.saturating_mul(1_000_000) };
            let mut ready = [PollFd::new(&self.children, PollFlags::IN)];
            match rustix::event::poll(&mut ready, Some(&limit)) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Some(deaths),
            }
        }
    }

    /// Reaps all zombies and returns their number; `None` when no child is left.
    fn reap_children(&mut self) -> Option<u32> {
        // Emptied before waiting, so that a death after the wait makes it readable again.
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
