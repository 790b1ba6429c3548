//! Standard input and output, without a thread that waits in a read or a write where that can be had.
//!
//! A pipe or a socket is what a client gives, and both can be asked whether they are ready. A file, a terminal or nothing
//! at all is read and written by a thread of its own; the program does not wait for it when it ends.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Blocking;
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What comes from the client.
pub(super) fn input() -> io::Result<Box<dyn AsyncRead + Unpin>> {
    let stdin = || io::stdin().as_fd().try_clone_to_owned();
    if let Ok(pipe) = pipe::Receiver::from_owned_fd(stdin()?) {
        return Ok(Box::new(pipe));
    }
    if let Some(socket) = socket(stdin()?)? {
        return Ok(Box::new(socket));
    }
    let (ours, mut theirs) = Blocking::pair()?;
    beside("input", move || copy(&mut io::stdin().lock(), &mut theirs))?;
    Ok(Box::new(open(ours)?))
}

/// What goes to the client.
pub(super) fn output() -> io::Result<Box<dyn AsyncWrite + Unpin>> {
    let stdout = || io::stdout().as_fd().try_clone_to_owned();
    if let Ok(pipe) = pipe::Sender::from_owned_fd(stdout()?) {
        return Ok(Box::new(pipe));
    }
    if let Some(socket) = socket(stdout()?)? {
        return Ok(Box::new(socket));
    }
    let (ours, mut theirs) = Blocking::pair()?;
    beside("output", move || copy(&mut theirs, &mut io::stdout().lock()))?;
    Ok(Box::new(open(ours)?))
}

fn socket(stream: OwnedFd) -> io::Result<Option<UnixStream>> {
    let socket = Blocking::from(stream);
    if socket.local_addr().is_err() { Ok(None) } else { open(socket).map(Some) }
}

fn open(socket: Blocking) -> io::Result<UnixStream> {
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn beside(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Passes on until one side ends; that the other one then has nothing more to say is all there is to tell.
fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let written = to.write_all(buffer.get(..read).unwrap_or_default()).and_then(|()| to.flush());
        if written.is_err() {
            return;
        }
    }
}
