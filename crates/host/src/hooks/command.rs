//! Runs one command to its end: what it reads, prints and says, within a time and a size.
//!
//! It runs under a guardian, so it ends with us and with the call it was for, and whatever it has started ends with it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{HOOK_OUTPUT_BYTES, HOOK_SAID_BYTES};
use mcparley_platform::process::{self, Exit, Guarded, Launch, SpawnError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// How a command ended, and what it said until then.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) printed: Vec<u8>,
    /// The end of its standard error.
    pub(crate) said: Vec<u8>,
}

/// Why a command was not run to its end.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("it could not be started: {0}")]
    NotStarted(Arc<SpawnError>),
    #[error("it could not be listened to: {0}")]
    Unheard(Arc<std::io::Error>),
    #[error("it did not end within {after:?}")]
    Late { after: Duration },
    #[error("it printed more than {HOOK_OUTPUT_BYTES} bytes")]
    TooMuch,
}

/// Runs it with `input` on its standard input.
pub(crate) async fn run(launch: &Launch, input: &[u8], limit: Duration) -> Result<Ran, RunError> {
    let running = tokio::time::timeout(limit, listen(launch, input));
    running.await.unwrap_or(Err(RunError::Late { after: limit }))
}

async fn listen(launch: &Launch, input: &[u8]) -> Result<Ran, RunError> {
    let mut child = start(launch).await?;
    let unheard = |error| RunError::Unheard(Arc::new(error));
    let guarded = &mut child.0;
    let stdin = guarded.as_mut().and_then(Guarded::take_stdin);
    let stdout = receiver(guarded.as_mut().and_then(Guarded::take_stdout)).map_err(unheard)?;
    let stderr = receiver(guarded.as_mut().and_then(Guarded::take_stderr)).map_err(unheard)?;
    let writing = async {
        if let Some(mut stdin) = stdin.and_then(|stdin| pipe::Sender::from_owned_fd(stdin).ok()) {
            // A command that does not care to read is fine.
            let _unread = stdin.write_all(input).await;
        }
        Ok(())
    };
    let printing = read(stdout, Vec::new(), |kept, bytes| {
        kept.extend_from_slice(bytes);
        if kept.len() > HOOK_OUTPUT_BYTES { Err(RunError::TooMuch) } else { Ok(()) }
    });
    let saying = read(stderr, Vec::new(), |kept, bytes| {
        kept.extend_from_slice(bytes);
        kept.drain(..kept.len().saturating_sub(HOOK_SAID_BYTES));
        Ok(())
    });
    let ending = async { child.ended().await.map_err(unheard) };
    let ((), printed, said, exit) = tokio::try_join!(writing, printing, saying, ending)?;
    Ok(Ran { exit, printed, said })
}

async fn start(launch: &Launch) -> Result<Child, RunError> {
    let not_started = |error| RunError::NotStarted(Arc::new(error));
    let starting = process::begin(launch).map_err(not_started)?;
    if let Ok(status) = status(starting.status_fd()) {
        // Late or not: what there is to know is known without waiting then.
        let _late = tokio::time::timeout_at(starting.deadline().into(), status.readable()).await;
    }
    starting.finish().map(|child| Child(Some(child))).map_err(not_started)
}

/// Reads to the end, or until `take` has enough.
async fn read(
    mut pipe: pipe::Receiver,
    mut kept: Vec<u8>,
    take: impl Fn(&mut Vec<u8>, &[u8]) -> Result<(), RunError>,
) -> Result<Vec<u8>, RunError> {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        take(&mut kept, buffer.get(..length).unwrap_or_default())?;
    }
    Ok(kept)
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
