//! Runs a command to its end: gives it its input, and hands on what it writes as it comes.
//!
//! It runs under a guardian, so it ends with us and with whoever waits for it, and all it has started ends with it.
//! How long it may take and what is kept of its output is for the caller to decide.

use std::ops::ControlFlow;

use mcparley_platform::process::{Exit, Guarded, Launch, SpawnError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

use crate::child;

/// Why a command was not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// It could not be started.
    #[error("it could not be started")]
    NotStarted(#[source] SpawnError),
    /// The system did not let us listen to it.
    #[error("it could not be listened to")]
    Unheard(#[source] std::io::Error),
    /// It printed more than the caller wants.
    #[error("it printed too much")]
    TooMuch,
}

/// Runs it with `input` on its standard input.
///
/// `print` gets what it writes to its standard output, until that is enough; `say`, what it writes to its standard error.
///
/// # Errors
/// [`Unfinished`] when it did not come to its end; how it ended is none.
pub async fn run(
    launch: &Launch,
    input: &[u8],
    print: impl FnMut(&[u8]) -> ControlFlow<()>,
    mut say: impl FnMut(&[u8]),
) -> Result<Exit, Unfinished> {
    let mut child = Child(Some(child::start(launch).await.map_err(Unfinished::NotStarted)?));
    let guarded = &mut child.0;
    let stdin = child::sender(guarded.as_mut().and_then(Guarded::take_stdin));
    let stdout = child::receiver(guarded.as_mut().and_then(Guarded::take_stdout));
    let stderr = child::receiver(guarded.as_mut().and_then(Guarded::take_stderr));
    let (stdout, stderr) = (stdout.map_err(Unfinished::Unheard)?, stderr.map_err(Unfinished::Unheard)?);
    let writing = async {
        if let Ok(mut stdin) = stdin {
            // A command that does not care to read is fine.
            let _unread = stdin.write_all(input).await;
        }
        Ok(())
    };
    let saying = read(stderr, |bytes| {
        say(bytes);
        ControlFlow::Continue(())
    });
    let ending = async { child.ended().await.map_err(Unfinished::Unheard) };
    let ((), (), (), exit) = tokio::try_join!(writing, read(stdout, print), saying, ending)?;
    Ok(exit)
}

/// Reads to the end, or until `take` has enough.
async fn read(
    mut pipe: pipe::Receiver,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), Unfinished> {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        if take(buffer.get(..length).unwrap_or_default()).is_break() {
            return Err(Unfinished::TooMuch);
        }
    }
    Ok(())
}

/// The running command. Dropped before its end, it is ended with all it has started.
struct Child(Option<Guarded>);

impl Child {
    async fn ended(&mut self) -> std::io::Result<Exit> {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        child::ended(self.0.as_mut().ok_or_else(gone)?).await
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(child) = self.0.take() else { return };
        // Letting go waits until everything is gone, which must not hold up the others of this thread.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if mcparley_platform::thread::is_available() => {
                drop(runtime.spawn_blocking(move || drop(child)));
            }
            Ok(_) | Err(_) => drop(child),
        }
    }
}
