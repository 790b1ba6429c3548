//! Starts a program of the person's own, such as a browser: it may stay when we go.
//!
//! The one exception to the guardian, and only for what belongs to the person: a window that vanished with us would take
//! their other tabs along. It has its own session, none of our terminal and none of our streams.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};

use super::link::Stage;
use super::program::locate;
use super::{Exit, Launch, SpawnError, reaper};

/// What became of a program in the time it was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// It has ended.
    Ended(Exit),
    /// It goes on, and is left alone.
    Running,
}

/// Starts the program, and watches for at most `patience` whether it ends.
///
/// Blocks for that time. One that ends later is waited for when the next process is, so that no zombie piles up.
///
/// # Errors
/// When it cannot be started.
pub fn launch_detached(launch: &Launch, patience: Duration) -> Result<Detached, SpawnError> {
    reaper::reap_late();
    let mut child = command(launch)?.spawn().map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        SpawnError::classify(launch, stage(launch), errno)
    })?;
    if let Some(exit) = end_within(&mut child, patience) {
        return Ok(Detached::Ended(exit));
    }
    if let Some(pid) = pid(&child) {
        reaper::remember(pid);
    }
    Ok(Detached::Running)
}

#[expect(unsafe_code, reason = "leaves the session between fork and execve")]
#[expect(clippy::disallowed_methods, reason = "the guardian is for servers; this program may outlive us")]
fn command(launch: &Launch) -> Result<Command, SpawnError> {
    let mut command = Command::new(locate(launch)?);
    command.arg0(&launch.program).args(&launch.args);
    command.env_clear().envs(launch.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    // SAFETY: one system call on no memory at all, as is allowed after a fork.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
    Ok(command)
}

/// The library does not tell which step failed; a folder that is not there is the only other than executing.
fn stage(launch: &Launch) -> Stage {
    match &launch.cwd {
        Some(cwd) if !cwd.is_dir() => Stage::Directory,
        Some(_) | None => Stage::Execute,
    }
}

fn end_within(child: &mut Child, patience: Duration) -> Option<Exit> {
    let deadline = Instant::now() + patience;
    // Without it, on old kernels, nobody is watched.
    let ended = rustix::process::pidfd_open(pid(child)?, PidfdFlags::empty()).ok()?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok()?;
        let mut ready = [PollFd::new(&ended, PollFlags::IN)];
        match rustix::event::poll(&mut ready, Some(&left)) {
            Err(Errno::INTR) => {}
            Ok(1..) => return waited(child),
            Ok(0) | Err(_) => return None,
        }
    }
}

/// An error means that the host lets the system wait for its children; then nobody can tell.
fn waited(child: &mut Child) -> Option<Exit> {
    match child.try_wait() {
        Ok(status) => status.map(|status| Exit { code: status.code(), signal: status.signal() }),
        Err(_) => Some(Exit::default()),
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
