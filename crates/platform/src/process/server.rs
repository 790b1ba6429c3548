//! The server's side of its start, up to `execve`.
//!
//! Runs in the memory of the guardhouse: only its own stack and its note, no panics.

use super::house::Note;
use super::link::{Report, Stage};
use super::raw;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::ffi::CStr;
use std::os::fd::{BorrowedFd, RawFd};

/// Becomes the program; if that fails, says why through the note's `failure` and ends.
///
/// `failure` closes by itself when the program is executed, which is how success is told.
///
/// # Safety
///
/// The note was filled in by the guardhouse and its guardian, and its descriptors are open.
#[expect(unsafe_code, reason = "descriptors and strings come as numbers and addresses")]
pub(super) unsafe fn become_program(note: &Note) -> ! {
    // SAFETY: the caller's promise.
    let (stage, errno) = unsafe {
        match prepare(note) {
            Ok(()) => enter_and_execute(note),
            Err(errno) => (Stage::Prepare, errno),
        }
    };
    let report = Report::Failed(stage, errno).to_bytes();
    // SAFETY: the caller's promise. If nobody listens any more the guardian is gone and so shall we be.
    rustix::io::write(unsafe { open(note.failure) }, &report).unwrap_or_default();
    raw::exit(127)
}

/// # Safety
///
/// As for [`become_program`].
#[expect(unsafe_code, reason = "descriptors come as numbers")]
unsafe fn prepare(note: &Note) -> Result<(), Errno> {
    // Its own session: a terminal's Ctrl-C is for the host, which then shuts the server down in order.
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A guardian that died before the line above sends no signal any more.
    if rustix::process::getppid() != Pid::from_raw(note.guardian) {
        raw::exit(127);
    }
    // SAFETY: the caller's promise.
    unsafe {
        rustix::stdio::dup2_stdin(open(note.stdin))?;
        rustix::stdio::dup2_stdout(open(note.stdout))?;
        rustix::stdio::dup2_stderr(open(note.stderr))
    }
}

/// # Safety
///
/// As for [`become_program`].
#[expect(unsafe_code, reason = "descriptors and strings come as numbers and addresses")]
unsafe fn enter_and_execute(note: &Note) -> (Stage, Errno) {
    // SAFETY: the caller's promise.
    let folder = note.folder.map(|folder| rustix::process::fchdir(unsafe { open(folder) }));
    let directory = || match note.directory.is_null() {
        true => Ok(()),
        // SAFETY: the caller's promise.
        false => rustix::process::chdir(unsafe { CStr::from_ptr(note.directory) }),
    };
    if let Err(errno) = folder.unwrap_or(Ok(())).and_then(|()| directory()) {
        return (Stage::Directory, errno);
    }
    raw::unblock_signals();
    // SAFETY: the caller's promise.
    (Stage::Execute, unsafe { raw::execute(note) })
}

/// # Safety
///
/// It is open, and stays so for as long as it is used.
#[expect(unsafe_code, reason = "descriptors come as numbers")]
unsafe fn open<'d>(fd: RawFd) -> BorrowedFd<'d> {
    // SAFETY: the caller's promise.
    unsafe { BorrowedFd::borrow_raw(fd) }
}
