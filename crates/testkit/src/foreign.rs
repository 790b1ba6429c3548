//! A server program that others wrote, run for a test on a loopback port.

use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than an interpreter takes to load a server on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How soon to knock again at a server that starts without a word.
const MOMENT: Duration = Duration::from_millis(50);

/// A running server that listens on loopback, killed when dropped.
#[derive(Debug)]
pub struct Foreign {
    child: Child,
    /// For programs that end with their input, should the test be killed before it can drop this.
    _stdin: Option<ChildStdin>,
    address: SocketAddr,
}

impl Foreign {
    /// Starts what `command` gives for a free port, and waits until somebody listens there.
    ///
    /// # Panics
    ///
    /// If it ends or stays deaf; with what it said.
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
        // Read to the end, or a talkative server would block on a full pipe.
        drain(child.stdout.take(), lines.clone());
        drain(child.stderr.take(), lines);
        let mut server = Self { _stdin: child.stdin.take(), child, address };
        server.listens(&said)?;
        Ok(server)
    }

    /// Knocks after each line it says, and now and then.
    fn listens(&mut self, said: &Receiver<String>) -> io::Result<()> {
        let begun = Instant::now();
        let mut words = String::new();
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                // The last words may still be on their way.
                while let Ok(line) = said.recv_timeout(MOMENT) {
                    words.push_str(&line);
                }
                return Err(io::Error::other(format!("it ended with {status}: {words}")));
            }
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("deaf for {PATIENCE:?}: {words}")));
            }
            match said.recv_timeout(MOMENT) {
                Ok(line) => words.push_str(&line),
                Err(RecvTimeoutError::Timeout) => {}
                // Both its outputs are closed: only its end or the port can tell more.
                Err(RecvTimeoutError::Disconnected) => thread::yield_now(),
            }
        }
        Ok(())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process, for tests that stop or kill it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // One that has already ended is what we want.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// Passes on each line until the other end is closed; nobody has to listen.
fn drain(output: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(output) = output else { return };
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            // After the start nobody listens any more.
            lines.send(String::from_utf8_lossy(&line).into_owned()).unwrap_or_default();
            line.clear();
        }
    });
}
