//! Async access to a guarded process: spawn, exit and streams, none of them blocking the runtime.

use std::os::fd::{BorrowedFd, OwnedFd};

use mcparley_platform::process::{self, GuardedProcess, ProcessExit, ProgramLaunch, SpawnError};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Spawns the program, without blocking other tasks of this thread while it is loaded.
pub(crate) async fn spawn_guarded(launch: &ProgramLaunch) -> Result<GuardedProcess, SpawnError> {
    let starting = process::begin_spawn(launch)?;
    if let Ok(news) = status_stream(starting.status_fd()) {
        // On timeout too: `finish` then returns the result without waiting.
        let _late = tokio::time::timeout_at(starting.deadline().into(), news.readable()).await;
    }
    starting.finish()
}

/// A stream that becomes readable when the status of the process changes. A duplicate: no byte is read from
/// it.
pub(crate) fn status_stream(status: BorrowedFd<'_>) -> std::io::Result<UnixStream> {
    let link = std::os::unix::net::UnixStream::from(status.try_clone_to_owned()?);
    link.set_nonblocking(true)?;
    UnixStream::from_std(link)
}

/// Waits until the process and all its descendants are gone, or its guardian is.
pub(crate) async fn wait_for_exit(child: &mut GuardedProcess) -> std::io::Result<ProcessExit> {
    let news = status_stream(child.status_fd())?;
    loop {
        news.readable().await?;
        if let Some(exit) = child.try_wait() {
            return Ok(exit);
        }
        // No byte is read through this duplicate, so its readiness has to be cleared by hand.
        let _waits = news.try_io(Interest::READABLE, || {
            Err::<(), _>(std::io::Error::from(std::io::ErrorKind::WouldBlock))
        });
    }
}

pub(crate) fn pipe_sender(fd: Option<OwnedFd>) -> std::io::Result<pipe::Sender> {
    fd.ok_or(std::io::ErrorKind::BrokenPipe.into()).and_then(pipe::Sender::from_owned_fd)
}

pub(crate) fn pipe_receiver(fd: Option<OwnedFd>) -> std::io::Result<pipe::Receiver> {
    fd.ok_or(std::io::ErrorKind::BrokenPipe.into()).and_then(pipe::Receiver::from_owned_fd)
}
