//! Runs a command to its end: writes its input, and passes its output on as it comes.
//!
//! The command runs under a guardian, so it ends with us and with the future that waits for it, and all
//! processes it has started end with it. The caller decides on the timeout and on the limit of its output.

use std::ops::ControlFlow;

use mcparley_platform::process::{GuardedProcess, ProcessExit, ProgramLaunch, SpawnError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

use crate::child;

/// Error of running a command to its end.
#[derive(Debug, thiserror::Error)]
pub enum GuardedCommandError {
    /// The command could not be started.
    #[error("it could not be started")]
    NotStarted(#[source] SpawnError),
    /// The output or the exit of the command could not be read.
    #[error("its output could not be read")]
    StreamFailed(#[source] std::io::Error),
    /// The command printed more than the caller allows.
    #[error("its output is too large")]
    OutputTooLarge,
}

/// Runs the command with `input` on its standard input.
///
/// `print` receives its standard output, until it breaks off; `say` receives its standard error.
///
/// # Errors
/// [`GuardedCommandError`] when the command did not run to its end; a failing exit status is no error.
pub async fn run_command(
    launch: &ProgramLaunch,
    input: &[u8],
    print: impl FnMut(&[u8]) -> ControlFlow<()>,
    mut say: impl FnMut(&[u8]),
) -> Result<ProcessExit, GuardedCommandError> {
    let mut child =
        CommandChild(Some(child::spawn_guarded(launch).await.map_err(GuardedCommandError::NotStarted)?));
    let guarded = &mut child.0;
    let stdin = child::pipe_sender(guarded.as_mut().and_then(GuardedProcess::take_stdin));
    let stdout = child::pipe_receiver(guarded.as_mut().and_then(GuardedProcess::take_stdout));
    let stderr = child::pipe_receiver(guarded.as_mut().and_then(GuardedProcess::take_stderr));
    let (stdout, stderr) = (
        stdout.map_err(GuardedCommandError::StreamFailed)?,
        stderr.map_err(GuardedCommandError::StreamFailed)?,
    );
    let writing = async {
        if let Ok(mut stdin) = stdin {
            // A command that does not read its input is fine.
            let _unread = stdin.write_all(input).await;
        }
        Ok(())
    };
    let saying = read_pipe(stderr, |bytes| {
        say(bytes);
        ControlFlow::Continue(())
    });
    let ending = async { child.wait_for_exit().await.map_err(GuardedCommandError::StreamFailed) };
    let ((), (), (), exit) = tokio::try_join!(writing, read_pipe(stdout, print), saying, ending)?;
    Ok(exit)
}

/// Reads to the end, or until `take` breaks off.
async fn read_pipe(
    mut pipe: pipe::Receiver,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), GuardedCommandError> {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        if take(buffer.get(..length).unwrap_or_default()).is_break() {
            return Err(GuardedCommandError::OutputTooLarge);
        }
    }
    Ok(())
}

/// The running command. Dropped before its end, it is killed with all its descendants.
struct CommandChild(Option<GuardedProcess>);

impl CommandChild {
    async fn wait_for_exit(&mut self) -> std::io::Result<ProcessExit> {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        child::wait_for_exit(self.0.as_mut().ok_or_else(gone)?).await
    }
}

impl Drop for CommandChild {
    fn drop(&mut self) {
        let Some(child) = self.0.take() else { return };
        // The drop waits until the whole tree is gone, which must not block other tasks of this thread.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if mcparley_platform::thread::is_available() => {
                drop(runtime.spawn_blocking(move || drop(child)));
            }
            Ok(_) | Err(_) => drop(child),
        }
    }
}
