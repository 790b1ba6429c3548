//! Launches a program of the user, such as a browser, that may outlive us.
//!
//! The one exception to the guardian, and only for programs that belong to the user: a browser window that
//! was killed with us would take the user's other tabs along. The program gets its own session, and neither
//! our terminal nor our streams.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};

use super::descriptor_limit::restore_descriptor_limit;
use super::error::SpawnStage;
use super::program::locate_program;
use super::{ProcessExit, ProgramLaunch, SpawnError, reaper};

/// State of a detached program at the end of the time it was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetachedStatus {
    /// The program has ended.
    Ended(ProcessExit),
    /// The program is still running, and is not touched.
    Running,
}

/// Launches the program, and watches for at most `patience` whether it ends.
///
/// Blocks for that time. A program that ends later is reaped when the next process is, so that no zombies
/// pile up.
///
/// # Errors
/// When the program cannot be started.
pub fn launch_detached(launch: &ProgramLaunch, patience: Duration) -> Result<DetachedStatus, SpawnError> {
    reaper::reap_late();
    let mut child = build_command(launch)?.spawn().map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        SpawnError::from_stage(launch, infer_failed_stage(launch), errno)
    })?;
    if let Some(exit) = wait_for_exit(&mut child, patience) {
        return Ok(DetachedStatus::Ended(exit));
    }
    if let Some(pid) = child_pid(&child) {
        reaper::remember_process(pid);
    }
    Ok(DetachedStatus::Running)
}

#[expect(unsafe_code, reason = "leaves the session between fork and execve")]
#[expect(clippy::disallowed_methods, reason = "the guardian is for servers; this program may outlive us")]
fn build_command(launch: &ProgramLaunch) -> Result<Command, SpawnError> {
    let mut command = Command::new(locate_program(launch)?);
    command.arg0(&launch.program).args(&launch.args);
    command.env_clear().envs(launch.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    let leave_session = || {
        restore_descriptor_limit();
        Ok(rustix::process::setsid().map(drop)?)
    };
    // SAFETY: two system calls that touch no memory, as is allowed after a fork.
    unsafe { command.pre_exec(leave_session) };
    Ok(command)
}

/// Infers the failed step, which the standard library does not report; apart from `execve` only a missing
/// working directory is possible.
fn infer_failed_stage(launch: &ProgramLaunch) -> SpawnStage {
    match &launch.cwd {
        Some(cwd) if !cwd.is_dir() => SpawnStage::Directory,
        Some(_) | None => SpawnStage::Execute,
    }
}

fn wait_for_exit(child: &mut Child, patience: Duration) -> Option<ProcessExit> {
    let deadline = Instant::now() + patience;
    // Without a pidfd, on old kernels, the program is not watched.
    let ended = rustix::process::pidfd_open(child_pid(child)?, PidfdFlags::empty()).ok()?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok()?;
        let mut ready = [PollFd::new(&ended, PollFlags::IN)];
        match rustix::event::poll(&mut ready, Some(&left)) {
            Err(Errno::INTR) => {}
            Ok(1..) => return reap_child(child),
            Ok(0) | Err(_) => return None,
        }
    }
}

/// Reaps the ended child. An error means that the host ignores `SIGCHLD`; the exit status is unknown then.
fn reap_child(child: &mut Child) -> Option<ProcessExit> {
    match child.try_wait() {
        Ok(status) => status.map(|status| ProcessExit { code: status.code(), signal: status.signal() }),
        Err(_) => Some(ProcessExit::default()),
    }
}

fn child_pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
