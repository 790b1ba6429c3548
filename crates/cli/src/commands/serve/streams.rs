//! Standard input and output, without a thread that waits in a read or a write where that can be had.
//!
//! A pipe or a socket is what a client gives, and both can be asked whether they are ready. A file, a terminal or nothing
//! at all is read and written by a thread of its own; the program does not wait for it when it ends.

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

/// How long a file or a terminal may take to take the last answers.
const LAST_WORDS: Duration = Duration::from_millis(200);

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

/// What goes to the client, and what tells that it has gone there.
pub(super) fn output() -> io::Result<(Box<dyn AsyncWrite + Unpin>, Written)> {
    let stdout = || io::stdout().as_fd().try_clone_to_owned();
    if let Ok(pipe) = pipe::Sender::from_owned_fd(stdout()?) {
        return Ok((Box::new(pipe), Written(None)));
    }
    if let Some(socket) = socket(stdout()?)? {
        return Ok((Box::new(socket), Written(None)));
    }
    let (ours, mut theirs) = Blocking::pair()?;
    let (done, written) = mpsc::channel();
    // Whoever prints for people may hold the lock of standard output until the program ends.
    let mut stdout = File::from(stdout()?);
    beside("output", move || {
        copy(&mut theirs, &mut stdout);
        // Nobody waits for it when the program was told to end.
        let _gone = done.send(());
    })?;
    Ok((Box::new(open(ours)?), Written(Some(written))))
}

/// What is still being written when the stream is closed.
pub(super) struct Written(Option<mpsc::Receiver<()>>);

impl Written {
    /// Waits until it is written, for a moment.
    pub(super) fn wait(self) {
        if let Some(written) = self.0 {
            // In time or not: the program ends.
            let _late = written.recv_timeout(LAST_WORDS);
        }
    }
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
