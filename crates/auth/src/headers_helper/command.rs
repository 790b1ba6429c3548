//! Runs a command to its end: what it prints, within a time and a size, under a guardian that ends it with us.

mod heard;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::HEADERS_HELPER_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::process::{self, Exit, Guarded, Launch};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::HelperError;
use heard::Heard;

/// What the command printed, if it ended well and in time.
pub(super) async fn run(
    launch: &Launch,
    limit: Duration,
    command: &Secret<String>,
) -> Result<Secret<Vec<u8>>, HelperError> {
    let heard = Heard::default();
    let ended = tokio::time::timeout(limit, listen(launch, &heard)).await;
    match ended {
        Ok(Ok(exit)) if exit.is_success() => Ok(heard.printed()),
        Ok(Ok(exit)) => Err(HelperError::Failed { exit, said: heard.said(command) }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(HelperError::Late { after: limit, said: heard.said(command) }),
    }
}

async fn listen(launch: &Launch, heard: &Heard) -> Result<Exit, HelperError> {
    let mut child = start(launch).await?;
    let unheard = |error| HelperError::Unheard(Arc::new(error));
    let guarded = &mut child.0;
    let stdout = receiver(guarded.as_mut().and_then(Guarded::take_stdout)).map_err(unheard)?;
    let stderr = receiver(guarded.as_mut().and_then(Guarded::take_stderr)).map_err(unheard)?;
    // It asks nobody anything: its input has ended.
    drop(guarded.as_mut().and_then(Guarded::take_stdin));
    let printing = async {
        read(stdout, |bytes| heard.print(bytes).ok_or(())).await.map_err(|()| {
            let limit = HEADERS_HELPER_BYTES;
            HelperError::TooMuch { limit }
        })
    };
    let saying = async {
        read(stderr, |bytes| {
            heard.say(bytes);
            Ok::<(), HelperError>(())
        })
        .await
    };
    let ending = async { child.ended().await.map_err(unheard) };
    let ((), (), exit) = tokio::try_join!(printing, saying, ending)?;
    Ok(exit)
}

async fn start(launch: &Launch) -> Result<Child, HelperError> {
    let not_started = |error| HelperError::NotStarted(Arc::new(error));
    let starting = process::begin(launch).map_err(not_started)?;
    if let Ok(status) = status(starting.status_fd()) {
        // Late or not: what there is to know is known without waiting then.
        let _late = tokio::time::timeout_at(starting.deadline().into(), status.readable()).await;
    }
    starting.finish().map(|child| Child(Some(child))).map_err(not_started)
}

/// Reads to the end, or until `take` has enough.
async fn read<E>(mut pipe: pipe::Receiver, take: impl Fn(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        take(buffer.get(..length).unwrap_or_default())?;
    }
    Ok(())
}

/// The running command. Dropped before its end, it is ended with all it has started.
struct Child(Option<Guarded>);

impl Child {
    async fn ended(&mut self) -> std::io::Result<Exit> {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let child = self.0.as_mut().ok_or_else(gone)?;
        let news = status(child.status_fd())?;
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
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(child) = self.0.take() else { return };
        // Letting go waits until everything is gone, which must not hold up the others of this thread.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(child))),
            Err(_) => drop(child),
        }
    }
}

/// Becomes readable when there is news of the process. A copy: nothing is read from it.
fn status(link: BorrowedFd<'_>) -> std::io::Result<UnixStream> {
    let link = std::os::unix::net::UnixStream::from(link.try_clone_to_owned()?);
    link.set_nonblocking(true)?;
    UnixStream::from_std(link)
}

fn receiver(fd: Option<OwnedFd>) -> std::io::Result<pipe::Receiver> {
    fd.ok_or(std::io::ErrorKind::BrokenPipe.into()).and_then(pipe::Receiver::from_owned_fd)
}
