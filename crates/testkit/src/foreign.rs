//! An external server program, run for a test on a loopback port.

use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The startup timeout: longer than an interpreter takes to load a server on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between attempts to connect to a server that starts silently.
const MOMENT: Duration = Duration::from_millis(50);

/// A running external server that listens on loopback, killed when dropped.
#[derive(Debug)]
pub struct ExternalServer {
    child: Child,
    /// The open stdin of the program: programs that exit at its end do so even if the test is killed before
    /// it drops this.
    _stdin: Option<ChildStdin>,
    address: SocketAddr,
}

impl ExternalServer {
    /// Starts the command that `command` returns for a free port, and waits until the port accepts
    /// connections.
    ///
    /// # Panics
    ///
    /// If the program exits or does not listen in time; with its output.
    #[expect(clippy::panic, reason = "a test without its server cannot say anything else")]
    pub fn start(command: impl FnOnce(u16) -> Command) -> Self {
        match Self::try_start(command) {
            Ok(server) => server,
            Err(error) => panic!("the server does not listen: {error}"),
        }
    }

    fn try_start(command: impl FnOnce(u16) -> Command) -> io::Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = command(address.port());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (lines, said) = channel();
        // Both outputs are read to their end, or a talkative server would block on a full pipe.
        forward_lines(child.stdout.take(), lines.clone());
        forward_lines(child.stderr.take(), lines);
        let mut server = Self { _stdin: child.stdin.take(), child, address };
        server.wait_until_listening(&said)?;
        Ok(server)
    }

    /// Waits for the port to accept connections, trying after each line of output and at an interval.
    fn wait_until_listening(&mut self, said: &Receiver<String>) -> io::Result<()> {
        let begun = Instant::now();
        let mut words = String::new();
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                // The last output may still be in the pipe.
                while let Ok(line) = said.recv_timeout(MOMENT) {
                    words.push_str(&line);
                }
                return Err(io::Error::other(format!("the program exited with {status}: {words}")));
            }
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("not listening after {PATIENCE:?}: {words}")));
            }
            match said.recv_timeout(MOMENT) {
                Ok(line) => words.push_str(&line),
                Err(RecvTimeoutError::Timeout) => {}
                // Both outputs are closed: from here on only the exit status or the port can change.
                Err(RecvTimeoutError::Disconnected) => thread::yield_now(),
            }
        }
        Ok(())
    }

    /// The address the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process id, for tests that stop or kill the server.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ExternalServer {
    fn drop(&mut self) {
        // Killing a process that has already exited fails, which is fine.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// Forwards each line of an output until it is closed; a missing receiver is ignored.
fn forward_lines(output: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(output) = output else { return };
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            // The receiver is gone once the server has started.
            lines.send(String::from_utf8_lossy(&line).into_owned()).unwrap_or_default();
            line.clear();
        }
    });
}
