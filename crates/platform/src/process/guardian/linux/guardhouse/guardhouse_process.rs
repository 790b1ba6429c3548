//! The guardhouse process: starts guardians as the host orders, reaps them, and exits after the last of them
//! when the host sends no more orders or is gone.
//!
//! Runs after the fork of a host that may have many threads: no allocation, no locks, no panics. It blocks
//! every signal, so only `SIGKILL` ends it early, and its guardians go on even then.
//!
//! The guardhouse is a subreaper: it inherits the processes of a guardian that was killed, and kills them.

use super::DESCRIPTORS;
use super::guardian_memory::{GuardianList, GuardianMemory};
use crate::process::error::SpawnStage;
use crate::process::guardian::GuardianReport;
use crate::process::guardian::linux::image::{HEAD, LaunchHeader};
use crate::process::guardian::linux::raw;
use crate::process::guardian::linux::start_parameters::StartParameters;
use crate::process::guardian::linux::tree::signal_children;
use crate::process::guardian::linux::watch::run_guardian;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, Shutdown};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use std::ffi::{c_int, c_void};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;

/// Pause between two searches for orphans. The death of one ends the pause at once.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Searches before the remaining orphans are assumed to run as another user: about ten seconds.
const SWEEPS: u32 = 500;

/// Runs the guardhouse until the host and the last guardian are gone.
pub(super) fn run_guardhouse(desk: OwnedFd) -> ! {
    // If the setup fails no server can be started; the host notices that the desk is closed.
    if let Ok(signals) = drop_host_state(&desk) {
        GuardhouseProcess { desk, signals, is_open: true, guardians: GuardianList::default(), sweeps: 0 }
            .serve_orders();
    }
    raw::exit(0)
}

/// Drops all state of the host that guardians must not inherit either.
#[expect(unsafe_code, reason = "closes the descriptors of the host's copy")]
fn drop_host_state(desk: &OwnedFd) -> Result<OwnedFd, Errno> {
    // Links above all: a process that held one would keep that server alive.
    // SAFETY: this process is a copy that never returns to the code owning the closed descriptors.
    unsafe { raw::close_all_but(&[desk.as_raw_fd()]) };
    raw::reset_signals();
    rustix::process::setsid()?;
    rustix::process::chdir(c"/")?;
    // The copy of the host's memory may hold tokens: no core dump, no debugger of the same user.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_name(c"mcparley-house")?;
    // Processes of a guardian that was killed become our children.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // Occupies 0 to 2, so that no descriptor for a server's streams gets one of these numbers.
    rustix::stdio::dup2_stdin(desk)?;
    rustix::stdio::dup2_stdout(desk)?;
    rustix::stdio::dup2_stderr(desk)?;
    raw::open_child_signal_fd()
}

struct GuardhouseProcess {
    desk: OwnedFd,
    signals: OwnedFd,
    /// Whether orders can still come. The desk itself stays open: its end tells the host that we have ended.
    is_open: bool,
    guardians: GuardianList,
    /// Remaining searches for orphans of guardians that were killed.
    sweeps: u32,
}

/// An order of the host to start a server, with its descriptors.
struct SpawnOrder {
    head: LaunchHeader,
    link: OwnedFd,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    folder: Option<OwnedFd>,
}

impl GuardhouseProcess {
    fn serve_orders(&mut self) {
        while self.is_open || !self.guardians.is_empty() || self.sweeps > 0 {
            let pause = (self.sweeps > 0).then_some(&PAUSE);
            let orders = if self.is_open { PollFlags::IN } else { PollFlags::empty() };
            let mut ready = [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.desk, orders)];
            let watched = if self.is_open { &mut ready[..] } else { &mut ready[..1] };
            if rustix::event::poll(watched, pause).is_err() {
                return;
            }
            let is_ordered = self.is_open && !ready[1].revents().is_empty();
            self.reap_guardians();
            self.kill_orphans();
            if is_ordered && self.handle_order().is_none() {
                self.is_open = false;
                // The rest of a broken order would be parsed as the next one. The host forks another
                // guardhouse.
                rustix::net::shutdown(&self.desk, Shutdown::Read).unwrap_or_default();
            }
        }
    }

    /// Receives and executes one order; `None` if no more orders can come.
    fn handle_order(&mut self) -> Option<()> {
        let order = SpawnOrder::receive_order(&self.desk)?;
        let posted = match GuardianMemory::new(order.head) {
            Ok(cell) => self.start_guardian(cell, &order)?,
            Err(errno) => {
                GuardianReport::Failed(SpawnStage::Prepare, errno).send_over_link(&order.link);
                return None;
            }
        };
        match posted {
            // The link is held until the guardian has been reaped: the host takes its end for the end of
            // both.
            Ok((cell, guardian)) => {
                self.guardians.add_guardian(cell, guardian.as_raw_pid(), order.link.into_raw_fd())
            }
            Err(errno) => GuardianReport::Failed(SpawnStage::Prepare, errno).send_over_link(&order.link),
        }
        Some(())
    }

    #[expect(unsafe_code, reason = "hands memory to a guardian")]
    fn start_guardian(
        &self,
        cell: GuardianMemory,
        order: &SpawnOrder,
    ) -> Option<Result<(GuardianMemory, Pid), Errno>> {
        let note = StartParameters {
            link: order.link.as_raw_fd(),
            stdin: order.stdin.as_raw_fd(),
            stdout: order.stdout.as_raw_fd(),
            stderr: order.stderr.as_raw_fd(),
            folder: order.folder.as_ref().map(AsRawFd::as_raw_fd),
            signals: self.signals.as_raw_fd(),
            failure: -1,
            guardian: 0,
            server_stack: ptr::null_mut(),
            path: ptr::null(),
            arguments: ptr::null(),
            variables: ptr::null(),
            directory: ptr::null(),
        };
        // SAFETY: the memory is not shared yet, and it was mapped for this header.
        let note = unsafe {
            read_exactly(&self.desk, cell.string_buffer(order.head))?;
            cell.write_parameters(order.head, note)?
        };
        // SAFETY: the stack and the parameters are used by the guardian only from now on;
        // `guardian_entry_point` makes system calls only and never returns.
        let posted =
            unsafe { raw::clone_sharing_memory(guardian_entry_point, cell.guardian_stack(), note.cast()) };
        if posted.is_err() {
            // SAFETY: no process was started that could use the memory.
            unsafe { cell.unmap_memory() };
        }
        Some(posted.map(|guardian| (cell, guardian)))
    }

    /// Reaps all guardians that have ended.
    fn reap_guardians(&mut self) {
        // Emptied before waiting, so that an end after the wait makes it readable again.
        let mut signals = [0; 128];
        rustix::io::read(&self.signals, &mut signals).unwrap_or_default();
        while let Ok(Some((guardian, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            self.release_guardian(guardian, status.exit_status() == Some(0));
        }
    }

    #[expect(unsafe_code, reason = "closes and frees what was kept for a guardian")]
    fn release_guardian(&mut self, guardian: Pid, in_order: bool) {
        let Some((cell, link)) = self.guardians.remove_guardian(guardian.as_raw_pid()) else { return };
        if !in_order {
            self.sweeps = SWEEPS;
        }
        if in_order {
            // SAFETY: a guardian with status 0 ends after all its descendants; another may have left a server
            // before its `execve`, which still uses the memory.
            unsafe { cell.unmap_memory() };
        }
        // SAFETY: stored by `handle_order`, and used by no other code.
        unsafe { rustix::io::close(link) };
    }
}

impl GuardhouseProcess {
    /// Kills the orphans of guardians that were killed: every child that is not a guardian. Their children
    /// become ours when they die, and are found by the next search.
    fn kill_orphans(&mut self) {
        if self.sweeps == 0 {
            return;
        }
        let found = signal_children(Signal::KILL, |child| !self.guardians.contains(child.as_raw_pid()));
        self.sweeps = if found == 0 { 0 } else { self.sweeps.saturating_sub(1) };
    }
}

extern "C" fn guardian_entry_point(note: *mut c_void) -> c_int {
    run_guardian(note.cast())
}

impl SpawnOrder {
    /// Receives the next order; `None` at the end of the stream, and for a malformed order.
    fn receive_order(desk: &OwnedFd) -> Option<Self> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut head = [0; HEAD];
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
        let received = loop {
            match rustix::net::recvmsg(desk, &mut [IoSliceMut::new(&mut head)], &mut control, flags) {
                Err(Errno::INTR) => {}
                received => break received.ok()?,
            }
        };
        let mut descriptors = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        });
        let mut descriptors = descriptors.next().into_iter().flatten();
        let order = Self {
            head: LaunchHeader::from_bytes(head),
            link: descriptors.next()?,
            stdin: descriptors.next()?,
            stdout: descriptors.next()?,
            stderr: descriptors.next()?,
            folder: descriptors.next(),
        };
        // A descriptor that did not fit is dropped silently.
        let is_whole = received.bytes == HEAD && !received.flags.contains(ReturnFlags::CTRUNC);
        is_whole.then_some(order)
    }
}

/// Reads exactly as many bytes as the buffer holds; `None` if the stream ends before.
fn read_exactly(desk: &OwnedFd, mut room: &mut [u8]) -> Option<()> {
    while !room.is_empty() {
        match rustix::net::recv(desk, &mut *room, RecvFlags::WAITALL) {
            Ok((0, _)) => return None,
            Ok((read, _)) => room = room.get_mut(read..)?,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(())
}
