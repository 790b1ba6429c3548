//! A process under a guardian as the runtime sees it: its start, its news and its streams, none of them blocking.

use std::os::fd::{BorrowedFd, OwnedFd};

use mcparley_platform::process::{self, Exit, Guarded, Launch, SpawnError};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Starts the program, without holding up the others of this thread while it is loaded.
pub(crate) async fn start(launch: &Launch) -> Result<Guarded, SpawnError> {
    let starting = process::begin(launch)?;
    if let Ok(news) = news(starting.status_fd()) {
        // Late or not: what there is to know is known without waiting then.
        let _late = tokio::time::timeout_at(starting.deadline().into(), news.readable()).await;
    }
    starting.finish()
}

/// Becomes readable when there is news of the process. A copy: nothing is read from it.
pub(crate) fn news(status: BorrowedFd<'_>) -> std::io::Result<UnixStream> {
    let link = std::os::unix::net::UnixStream::from(status.try_clone_to_owned()?);
    link.set_nonblocking(true)?;
    UnixStream::from_std(link)
}

/// Waits until the process and all its descendants are gone, or its guardian is.
pub(crate) async fn ended(child: &mut Guarded) -> std::io::Result<Exit> {
    let news = news(child.status_fd())?;
    loop {
        news.readable().await?;
        if let Some(exit) = child.try_wait() {
            return Ok(exit);
        }
        // Nothing is read through this copy, so it must be told that there was nothing to read.
        let _waits = news.try_io(Interest::READABLE, || {
            Err::<(), _>(std::io::Error::from(std::io::ErrorKind::WouldBlock))
        });
    }
}

pub(crate) fn sender(fd: Option<OwnedFd>) -> std::io::Result<pipe::Sender> {
    fd.ok_or(std::io::ErrorKind::BrokenPipe.into()).and_then(pipe::Sender::from_owned_fd)
}

pub(crate) fn receiver(fd: Option<OwnedFd>) -> std::io::Result<pipe::Receiver> {
    fd.ok_or(std::io::ErrorKind::BrokenPipe.into()).and_then(pipe::Receiver::from_owned_fd)
}
