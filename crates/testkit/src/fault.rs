//! A proxy for TCP that can spoil what it carries, in the process of the test.
//!
//! It knows nothing of what is said through it. What it does can be changed at any time and holds for every connection,
//! those that stand included.

use rustix::net::sockopt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a connection on which nothing comes looks whether it is to be spoiled.
const LOOK: Duration = Duration::from_millis(5);

/// What becomes of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// They are carried as they are.
    #[default]
    None,
    /// Everything comes that much later.
    Delay(Duration),
    /// One byte at a time comes through, with such a pause behind each.
    Trickle(Duration),
    /// They stay open and nothing comes through any more.
    Stop,
    /// They end, in order.
    Cut,
    /// They are reset.
    Reset,
}

/// A proxy to one address.
#[derive(Debug)]
pub struct FaultProxy {
    address: String,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    fault: Mutex<Fault>,
    accepted: AtomicUsize,
    /// Directions that carry nothing at the moment.
    stopped: AtomicUsize,
}

impl FaultProxy {
    /// A proxy to `server`, which is a host and a port.
    ///
    /// # Panics
    ///
    /// If there is no port to listen at.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot say anything else")]
    pub fn to(server: &str) -> Self {
        Self::start(server.to_owned()).expect("the proxy listens")
    }

    fn start(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                accepting.accepted.fetch_add(1, Ordering::Relaxed);
                // A connection that cannot be carried is one that ends at once.
                carry(client, &server, &accepting).unwrap_or_default();
            }
        });
        Ok(Self { address, shared })
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// From now on.
    pub fn set(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// How many directions of connections stand still; each connection has two. Before they do, what they have just read
    /// is still lost.
    pub fn stopped(&self) -> usize {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// How many connections there have been.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn carry(client: TcpStream, server: &str, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let end = Arc::<OnceLock<Fault>>::default();
    let there = Pump {
        from: client.try_clone()?,
        to: server.try_clone()?,
        shared: Arc::clone(shared),
        end: Arc::clone(&end),
    };
    let back = Pump { from: server, to: client, shared: Arc::clone(shared), end };
    thread::spawn(move || there.run());
    thread::spawn(move || back.run());
    Ok(())
}

/// One direction of a connection.
struct Pump {
    from: TcpStream,
    to: TcpStream,
    shared: Arc<Shared>,
    /// What ends the connection, in both directions, even if it is over for others meanwhile.
    end: Arc<OnceLock<Fault>>,
}

impl Pump {
    /// Until an end comes, or is made.
    fn run(mut self) {
        // What breaks here has broken for both, who see it.
        self.work().unwrap_or_default();
    }

    fn work(&mut self) -> io::Result<()> {
        self.from.set_read_timeout(Some(LOOK))?;
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match self.fault() {
                Fault::Cut => return self.end(Shutdown::Both),
                Fault::Reset => return self.reset(),
                Fault::Stop => {
                    self.stand_still();
                    continue;
                }
                Fault::None | Fault::Delay(_) | Fault::Trickle(_) => {}
            }
            let read = match self.from.read(&mut buffer) {
                Ok(0) => return self.to.shutdown(Shutdown::Write),
                Ok(read) => read,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(error) => return Err(error),
            };
            self.pass(buffer.get(..read).unwrap_or_default())?;
        }
    }

    /// Until it is to go on, or to end.
    fn stand_still(&self) {
        self.shared.stopped.fetch_add(1, Ordering::Relaxed);
        while self.fault() == Fault::Stop {
            thread::sleep(LOOK);
        }
        self.shared.stopped.fetch_sub(1, Ordering::Relaxed);
    }

    fn fault(&self) -> Fault {
        match self.shared.fault() {
            ending @ (Fault::Cut | Fault::Reset) => *self.end.get_or_init(|| ending),
            other => self.end.get().copied().unwrap_or(other),
        }
    }

    /// What is read when the fault comes is spoiled by it.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.fault() {
            Fault::None => self.to.write_all(bytes),
            Fault::Delay(pause) => {
                thread::sleep(pause);
                self.to.write_all(bytes)
            }
            Fault::Trickle(pause) => bytes.iter().try_for_each(|byte| {
                thread::sleep(pause);
                self.to.write_all(&[*byte])
            }),
            Fault::Stop | Fault::Cut | Fault::Reset => Ok(()),
        }
    }

    fn end(&self, how: Shutdown) -> io::Result<()> {
        self.to.shutdown(how)?;
        self.from.shutdown(how)
    }

    /// Closing without waiting is a reset; it comes when the other direction is gone too.
    fn reset(&self) -> io::Result<()> {
        for stream in [&self.from, &self.to] {
            sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
        }
        Ok(())
    }
}
