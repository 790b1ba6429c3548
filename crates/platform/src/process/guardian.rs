//! The guardian: outlives the host by the moment it takes to kill everything below itself.
//!
//! Runs in the memory of the guardhouse, beside it and the other guardians: only its own stack and its note, no
//! locks, no panics, and it never returns. It blocks every signal, so nothing but `SIGKILL` ends it early.

use super::house::Note;
use super::link::{Heard, Order, Report, Stage};
use super::raw;
use super::server::become_program;
use super::tree::{signal_children, signal_descendants};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Pauses between two sweeps while processes are dying: first this many milliseconds, then that many.
/// A dying child ends the pause at once; the pause is for those that forked during the sweep.
const PAUSES: (i64, i64) = (2, 20);

/// Sweeps without a single death before we accept that the rest runs as another user: about ten seconds.
const FRUITLESS: u32 = 500;

/// What the guardian ends with when everything below it is gone, and its memory can be used again.
const ALL_GONE: i32 = 0;
/// What it ends with otherwise.
const SOME_LEFT: i32 = 1;

/// Starts the server, guards it to its end, and ends.
#[expect(unsafe_code, reason = "takes over the descriptors that were copied for it")]
pub(super) fn stand(note: *mut Note) -> ! {
    // SAFETY: the guardhouse has written the note, and this process has a copy of every descriptor in it.
    let link = unsafe { OwnedFd::from_raw_fd((*note).link) };
    let left = match start(note, &link) {
        Ok(mut watch) => {
            Report::Started(watch.server).send(&link);
            watch.until_told_or_over(&link);
            let left = watch.kill_everything();
            Report::Ended(watch.status).send(&link);
            left
        }
        Err(NotStarted { report, left }) => {
            report.send(&link);
            left
        }
    };
    raw::exit(left)
}

/// A server that does not run, and what the guardian ends with.
struct NotStarted {
    report: Report,
    left: i32,
}

fn start(note: *mut Note, link: &OwnedFd) -> Result<Watch, NotStarted> {
    let prepared = prepare(note)
        .map_err(|errno| NotStarted { report: Report::Failed(Stage::Prepare, errno), left: ALL_GONE });
    let (mut watch, told) = prepared?;
    match watch.execution(&told, link) {
        None => Ok(watch),
        Some(report) => Err(NotStarted { report, left: watch.kill_everything() }),
    }
}

/// The server on its way to its program, and where it tells what went wrong.
#[expect(unsafe_code, reason = "writes the note, and takes over descriptors that were copied for it")]
fn prepare(note: *mut Note) -> Result<(Watch, OwnedFd), Errno> {
    // Its number is above those of the standard streams, as they are taken still.
    let (told, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let myself = rustix::process::getpid();
    // SAFETY: the guardhouse has written the note and does not use it any more; nobody else has it yet.
    let ours = unsafe {
        (*note).failure = tell.as_raw_fd();
        (*note).guardian = myself.as_raw_pid();
        *note
    };
    keep_only(&ours, &told);
    take_in_orphans(myself)?;
    // SAFETY: the note has the server's own stack, and is not changed any more; `become_it` makes system calls only and
    // never returns.
    let server = unsafe { raw::start_beside(become_it, ours.server_stack, note.cast()) }?;
    drop(tell);
    // Held open here, the server's pipes would never end.
    for fd in [ours.stdin, ours.stdout, ours.stderr].into_iter().chain(ours.folder) {
        // SAFETY: this process has its own copy of every descriptor, and uses none of these.
        unsafe { rustix::io::close(fd) };
    }
    // SAFETY: as above; nobody else owns the copy.
    let children = unsafe { OwnedFd::from_raw_fd(ours.signals) };
    Ok((Watch { myself, server, children, status: 0, left: true }, told))
}

#[expect(unsafe_code, reason = "closes the descriptors of the guardhouse's copy")]
fn keep_only(note: &Note, told: &OwnedFd) {
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
    // The desk, and the ends of other guardians' links.
    // SAFETY: this process has its own copy of every descriptor, and never returns to the code owning the others.
    unsafe { raw::close_all_but(&keep) };
}

/// Becomes the one whom orphans fall to.
fn take_in_orphans(myself: Pid) -> Result<(), Errno> {
    rustix::process::set_child_subreaper(Some(myself))?;
    rustix::thread::set_name(c"mcparley-guard")
}

#[expect(unsafe_code, reason = "reads the note")]
extern "C" fn become_it(note: *mut c_void) -> c_int {
    // SAFETY: guardhouse and guardian have filled it in, and this process has a copy of every descriptor in it.
    unsafe { become_program(&*note.cast::<Note>()) }
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

    /// Kills and waits until nothing is left below us; says what to end with.
    fn kill_everything(&mut self) -> i32 {
        // Orphans fall to us, so without a child there is no descendant either. Most servers end so, and a
        // sweep looks at every process of the machine.
        if self.reap().is_none() {
            return ALL_GONE;
        }
        let mut fruitless = 0;
        let mut pause = PAUSES.0;
        while fruitless < FRUITLESS {
            self.kill_server();
            signal_descendants(self.myself, Signal::KILL);
            let deaths = match self.reap_while_dying(pause) {
                Some(deaths) => deaths,
                None => return ALL_GONE,
            };
            fruitless = if deaths > 0 { 0 } else { fruitless.saturating_add(1) };
            pause = PAUSES.1.min(pause.saturating_mul(2));
        }
        SOME_LEFT
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
            // What the dead have left behind is ours now, and would otherwise live until the next sweep.
            signal_children(Signal::KILL, |_| true);
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
