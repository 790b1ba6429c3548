//! Standard input and output as async streams, without blocking threads if possible.
//!
//! A client usually provides a pipe or a socket, which support polling. A file or a terminal does not, so a
//! separate thread copies it through a socket pair; the program does not wait for that thread when it exits.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Blocking;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// The time to write the last responses to a file or a terminal.
const LAST_WRITE_TIME: Duration = Duration::from_millis(200);

/// The stream from the client.
pub(super) fn open_input() -> io::Result<Box<dyn AsyncRead + Unpin>> {
    let stdin = || io::stdin().as_fd().try_clone_to_owned();
    if let Ok(pipe) = pipe::Receiver::from_owned_fd(stdin()?) {
        return Ok(Box::new(pipe));
    }
    if let Some(socket) = try_socket(stdin()?)? {
        return Ok(Box::new(socket));
    }
    let (ours, mut theirs) = Blocking::pair()?;
    spawn_thread("input", move || copy_stream(&mut io::stdin().lock(), &mut theirs))?;
    Ok(Box::new(into_async_socket(ours)?))
}

/// The stream to the client, and the handle that waits until all of it is written.
pub(super) fn open_output() -> io::Result<(Box<dyn AsyncWrite + Unpin>, PendingOutput)> {
    let stdout = || io::stdout().as_fd().try_clone_to_owned();
    if let Ok(pipe) = pipe::Sender::from_owned_fd(stdout()?) {
        return Ok((Box::new(pipe), PendingOutput(None)));
    }
    if let Some(socket) = try_socket(stdout()?)? {
        return Ok((Box::new(socket), PendingOutput(None)));
    }
    let (ours, mut theirs) = Blocking::pair()?;
    let (done, written) = mpsc::channel();
    // A duplicate of the descriptor: the lock of standard output may be held until the program exits.
    let mut stdout = File::from(stdout()?);
    spawn_thread("output", move || {
        copy_stream(&mut theirs, &mut stdout);
        // The receiver is gone if the program is already exiting.
        let _gone = done.send(());
    })?;
    Ok((Box::new(into_async_socket(ours)?), PendingOutput(Some(written))))
}

/// Handle to wait for bytes that are still being written when the stream is closed.
pub(super) struct PendingOutput(Option<mpsc::Receiver<()>>);

impl PendingOutput {
    /// Waits until all bytes are written, up to a timeout.
    pub(super) fn wait_until_flushed(self) {
        if let Some(written) = self.0 {
            // The program exits even after the timeout.
            let _late = written.recv_timeout(LAST_WRITE_TIME);
        }
    }
}

fn try_socket(stream: OwnedFd) -> io::Result<Option<UnixStream>> {
    let socket = Blocking::from(stream);
    if socket.local_addr().is_err() { Ok(None) } else { into_async_socket(socket).map(Some) }
}

fn into_async_socket(socket: Blocking) -> io::Result<UnixStream> {
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Copies bytes until either side closes. Errors are not reported, because the peer sees the closed stream.
fn copy_stream(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let written = to.write_all(buffer.get(..read).unwrap_or_default()).and_then(|()| to.flush());
        if written.is_err() {
            return;
        }
    }
}
