//! The server process between its start and `execve`.
//!
//! Runs in the memory of the guardhouse: only its own stack and its start parameters, no panics.

use super::raw;
use super::start_parameters::StartParameters;
use crate::process::descriptor_limit::restore_descriptor_limit;
use crate::process::error::SpawnStage;
use crate::process::guardian::GuardianReport;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::ffi::CStr;
use std::os::fd::{BorrowedFd, RawFd};

/// Executes the program; if that fails, reports the error through the pipe `failure` and exits.
///
/// `failure` is closed by the kernel when the program is executed, which signals success.
///
/// # Safety
///
/// The parameters were filled in by the guardhouse and its guardian, and their descriptors are open.
#[expect(unsafe_code, reason = "descriptors and strings come as numbers and addresses")]
pub(super) unsafe fn become_program(note: &StartParameters) -> ! {
    // SAFETY: the caller's promise.
    let (stage, errno) = unsafe {
        match enter_session(note) {
            Ok(()) => change_folder_and_execute(note),
            Err(errno) => (SpawnStage::Prepare, errno),
        }
    };
    let report = GuardianReport::Failed(stage, errno).to_bytes();
    // SAFETY: the caller's promise. If the pipe is closed the guardian is gone, and this process exits too.
    rustix::io::write(unsafe { borrow_fd(note.failure) }, &report).unwrap_or_default();
    raw::exit(127)
}

/// # Safety
///
/// As for [`become_program`].
#[expect(unsafe_code, reason = "descriptors come as numbers")]
unsafe fn enter_session(note: &StartParameters) -> Result<(), Errno> {
    // A session of its own: a terminal's Ctrl-C is for the host, which then shuts the server down gracefully.
    rustix::process::setsid()?;
    restore_descriptor_limit();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A guardian that died before the line above sends no signal any more.
    if rustix::process::getppid() != Pid::from_raw(note.guardian) {
        raw::exit(127);
    }
    // SAFETY: the caller's promise.
    unsafe {
        rustix::stdio::dup2_stdin(borrow_fd(note.stdin))?;
        rustix::stdio::dup2_stdout(borrow_fd(note.stdout))?;
        rustix::stdio::dup2_stderr(borrow_fd(note.stderr))
    }
}

/// # Safety
///
/// As for [`become_program`].
#[expect(unsafe_code, reason = "descriptors and strings come as numbers and addresses")]
unsafe fn change_folder_and_execute(note: &StartParameters) -> (SpawnStage, Errno) {
    // SAFETY: the caller's promise.
    let folder = note.folder.map(|folder| rustix::process::fchdir(unsafe { borrow_fd(folder) }));
    let directory = || match note.directory.is_null() {
        true => Ok(()),
        // SAFETY: the caller's promise.
        false => rustix::process::chdir(unsafe { CStr::from_ptr(note.directory) }),
    };
    if let Err(errno) = folder.unwrap_or(Ok(())).and_then(|()| directory()) {
        return (SpawnStage::Directory, errno);
    }
    raw::unblock_signals();
    // SAFETY: the caller's promise.
    (SpawnStage::Execute, unsafe { raw::execute_program(note) })
}

/// # Safety
///
/// The descriptor is open, and stays so for as long as it is used.
#[expect(unsafe_code, reason = "descriptors come as numbers")]
unsafe fn borrow_fd<'d>(fd: RawFd) -> BorrowedFd<'d> {
    // SAFETY: the caller's promise.
    unsafe { BorrowedFd::borrow_raw(fd) }
}
