//! The guardhouse itself: posts guardians as the host orders, waits for their ends, and ends after the last of them
//! when the host wants no more or is gone.
//!
//! Runs after the fork of a host that may have many threads: no allocation, no locks, no panics. It blocks every
//! signal, so nothing but `SIGKILL` ends it early, and its guardians go on even then.
//!
//! What a guardian that was killed leaves behind falls to it, and is ended by it.

use super::DESCRIPTORS;
use super::cell::{Cell, Cells, Note};
use crate::process::guardian::stand;
use crate::process::image::{HEAD, Head};
use crate::process::link::{Report, Stage};
use crate::process::raw;
use crate::process::tree::signal_children;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, Shutdown};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use std::ffi::{c_int, c_void};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;

/// The pause between two looks for orphans. A dying one ends it at once.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// How often orphans are looked for before the rest is taken for another user's: about ten seconds.
const SWEEPS: u32 = 500;

/// Keeps the house until the host is gone and the last guardian too.
pub(super) fn keep(desk: OwnedFd) -> ! {
    // Without what it prepares nothing can be started; the host sees that nobody is there.
    if let Ok(signals) = settle(&desk) {
        Keeper { desk, signals, is_open: true, guardians: Cells::default(), sweeps: 0 }.serve();
    }
    raw::exit(0)
}

/// Leaves everything of the host that guardians shall not have either.
#[expect(unsafe_code, reason = "closes the descriptors of the host's copy")]
fn settle(desk: &OwnedFd) -> Result<OwnedFd, Errno> {
    // Links above all: who held one would keep that server alive.
    // SAFETY: this process is a copy that never returns to the code owning the closed descriptors.
    unsafe { raw::close_all_but(&[desk.as_raw_fd()]) };
    raw::default_signals();
    rustix::process::setsid()?;
    rustix::process::chdir(c"/")?;
    // The copy of the host's memory may hold tokens: no core dump, no debugger of the same user.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_name(c"mcparley-house")?;
    // Whom a guardian that was killed leaves behind.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // Occupied, so that nothing a server's streams are made from gets the number of one.
    rustix::stdio::dup2_stdin(desk)?;
    rustix::stdio::dup2_stdout(desk)?;
    rustix::stdio::dup2_stderr(desk)?;
    raw::child_signals()
}

struct Keeper {
    desk: OwnedFd,
    signals: OwnedFd,
    /// Whether orders can come. The desk itself stays: its end tells the host that nobody is left.
    is_open: bool,
    guardians: Cells,
    /// How often it is still looked for orphans of guardians that were killed.
    sweeps: u32,
}

/// An order and what came with it.
struct Order {
    head: Head,
    link: OwnedFd,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    folder: Option<OwnedFd>,
}

impl Keeper {
    fn serve(&mut self) {
        while self.is_open || !self.guardians.is_empty() || self.sweeps > 0 {
            let pause = (self.sweeps > 0).then_some(&PAUSE);
            let orders = if self.is_open { PollFlags::IN } else { PollFlags::empty() };
            let mut ready = [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.desk, orders)];
            let watched = if self.is_open { &mut ready[..] } else { &mut ready[..1] };
            if rustix::event::poll(watched, pause).is_err() {
                return;
            }
            let is_ordered = self.is_open && !ready[1].revents().is_empty();
            self.reap();
            self.end_orphans();
            if is_ordered && self.obey().is_none() {
                self.is_open = false;
                // What is left of an order would be taken for the next one. The host forks another house.
                rustix::net::shutdown(&self.desk, Shutdown::Read).unwrap_or_default();
            }
        }
    }

    /// Does what was ordered; nothing, if no more orders can come.
    fn obey(&mut self) -> Option<()> {
        let order = Order::receive(&self.desk)?;
        let posted = match Cell::new(order.head) {
            Ok(cell) => self.post(cell, &order)?,
            Err(errno) => {
                Report::Failed(Stage::Prepare, errno).send(&order.link);
                return None;
            }
        };
        match posted {
            // Held until the guardian has been waited for: for the host the end of the link is the end of both.
            Ok((cell, guardian)) => self.guardians.add(cell, guardian.as_raw_pid(), order.link.into_raw_fd()),
            Err(errno) => Report::Failed(Stage::Prepare, errno).send(&order.link),
        }
        Some(())
    }

    #[expect(unsafe_code, reason = "hands memory to a guardian")]
    fn post(&self, cell: Cell, order: &Order) -> Option<Result<(Cell, Pid), Errno>> {
        let note = Note {
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
        // SAFETY: nobody else has the cell yet, and it was made for this head.
        let note = unsafe {
            fill(&self.desk, cell.strings(order.head))?;
            cell.write(order.head, note)?
        };
        // SAFETY: the stack and the note are the guardian's alone from now on; `stand_by` makes system calls only and
        // never returns.
        let posted = unsafe { raw::start_beside(stand_by, cell.guardian_stack(), note.cast()) };
        if posted.is_err() {
            // SAFETY: nobody was started who could use it.
            unsafe { cell.free() };
        }
        Some(posted.map(|guardian| (cell, guardian)))
    }

    /// Waits for all guardians that have ended.
    fn reap(&mut self) {
        // Emptied before looking, so that an end after the look makes it readable again.
        let mut signals = [0; 128];
        rustix::io::read(&self.signals, &mut signals).unwrap_or_default();
        while let Ok(Some((guardian, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            self.dismiss(guardian, status.exit_status() == Some(0));
        }
    }

    #[expect(unsafe_code, reason = "closes and frees what was kept for a guardian")]
    fn dismiss(&mut self, guardian: Pid, in_order: bool) {
        let Some((cell, link)) = self.guardians.remove(guardian.as_raw_pid()) else { return };
        if !in_order {
            self.sweeps = SWEEPS;
        }
        if in_order {
            // SAFETY: such a guardian ends after everybody below it; others may have left a server that was not
            // executed yet, and keep the memory.
            unsafe { cell.free() };
        }
        // SAFETY: kept by `obey`, for nobody else.
        unsafe { rustix::io::close(link) };
    }
}

impl Keeper {
    /// Kills what guardians that were killed have left behind: every child that is no guardian. Their children fall to
    /// us when they die, and are found by the next look.
    fn end_orphans(&mut self) {
        if self.sweeps == 0 {
            return;
        }
        let found = signal_children(Signal::KILL, |child| !self.guardians.contains(child.as_raw_pid()));
        self.sweeps = if found == 0 { 0 } else { self.sweeps.saturating_sub(1) };
    }
}

extern "C" fn stand_by(note: *mut c_void) -> c_int {
    stand(note.cast())
}

impl Order {
    /// The next order; nothing at the end, and for what is none.
    fn receive(desk: &OwnedFd) -> Option<Self> {
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
            head: Head::from_bytes(head),
            link: descriptors.next()?,
            stdin: descriptors.next()?,
            stdout: descriptors.next()?,
            stderr: descriptors.next()?,
            folder: descriptors.next(),
        };
        // A descriptor that there was no room for is missing without a word.
        let is_whole = received.bytes == HEAD && !received.flags.contains(ReturnFlags::CTRUNC);
        is_whole.then_some(order)
    }
}

/// Reads as many bytes as there is room for.
fn fill(desk: &OwnedFd, mut room: &mut [u8]) -> Option<()> {
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
