//! The server's side of the fork, up to `execve`.
//!
//! Runs after the fork: only stack memory, no panics.

use super::image::Image;
use super::link::{Report, Stage};
use super::raw;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::os::fd::OwnedFd;

/// The server's ends of its three pipes.
#[derive(Debug)]
pub(super) struct Stdio {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Becomes the program; if that fails, says why through `failure` and ends.
///
/// `failure` closes by itself when the program is executed, which is how success is told.
pub(super) fn become_program(image: &Image, stdio: &Stdio, failure: &OwnedFd, guardian: Pid) -> ! {
    let (stage, errno) = match prepare(stdio, guardian) {
        Ok(()) => enter_and_execute(image),
        Err(errno) => (Stage::Prepare, errno),
    };
    let report = Report::Failed(stage, errno).to_bytes();
    // If nobody listens any more the guardian is gone and so shall we be.
    rustix::io::write(failure, &report).unwrap_or_default();
    raw::exit(127)
}

fn prepare(stdio: &Stdio, guardian: Pid) -> Result<(), Errno> {
    // Its own session: a terminal's Ctrl-C is for the host, which then shuts the server down in order.
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A guardian that died before the line above sends no signal any more.
    if rustix::process::getppid() != Some(guardian) {
        raw::exit(127);
    }
    rustix::stdio::dup2_stdin(&stdio.stdin)?;
    rustix::stdio::dup2_stdout(&stdio.stdout)?;
    rustix::stdio::dup2_stderr(&stdio.stderr)
}

fn enter_and_execute(image: &Image) -> (Stage, Errno) {
    if let Some(Err(errno)) = image.cwd().map(rustix::process::chdir) {
        return (Stage::Directory, errno);
    }
    raw::unblock_signals();
    (Stage::Execute, raw::execute(image))
}
