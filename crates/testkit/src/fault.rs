//! A TCP proxy with fault injection, in the process of the test.
//!
//! It forwards bytes without knowing the protocol. The fault can be changed at any time and applies to every
//! connection, open ones included.

use rustix::net::sockopt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval at which an idle connection checks for a changed fault.
const LOOK: Duration = Duration::from_millis(5);

/// The fault applied to connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Bytes are forwarded unchanged.
    #[default]
    None,
    /// All bytes are delayed by this duration.
    Delay(Duration),
    /// Bytes are forwarded one at a time, with this pause before each.
    Trickle(Duration),
    /// Connections stay open but forward no more bytes.
    Stop,
    /// Connections are closed in order.
    Cut,
    /// Connections are reset.
    Reset,
}

/// A fault-injecting proxy to one address.
#[derive(Debug)]
pub struct FaultProxy {
    address: String,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    fault: Mutex<Fault>,
    accepted: AtomicUsize,
    /// Directions of connections that are stalled at the moment.
    stopped: AtomicUsize,
}

impl FaultProxy {
    /// Starts a proxy to `server`, a host and a port.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot say anything else")]
    pub fn for_server(server: &str) -> Self {
        Self::listen(server.to_owned()).expect("the proxy listens")
    }

    fn listen(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                accepting.accepted.fetch_add(1, Ordering::Relaxed);
                // A client is disconnected at once if the server cannot be reached.
                forward_connection(client, &server, &accepting).unwrap_or_default();
            }
        });
        Ok(Self { address, shared })
    }

    /// The address of the proxy, `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sets the fault from now on.
    pub fn set_fault(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// The number of stalled directions of connections; each connection has two. Bytes read just before a
    /// direction stalled are lost.
    pub fn stalled_directions(&self) -> usize {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// The number of connections accepted so far.
    pub fn accepted_connections(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forward_connection(client: TcpStream, server: &str, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let end = Arc::<OnceLock<Fault>>::default();
    let there = FaultPump {
        from: client.try_clone()?,
        to: server.try_clone()?,
        shared: Arc::clone(shared),
        end: Arc::clone(&end),
    };
    let back = FaultPump { from: server, to: client, shared: Arc::clone(shared), end };
    thread::spawn(move || there.run());
    thread::spawn(move || back.run());
    Ok(())
}

/// One direction of a connection.
struct FaultPump {
    from: TcpStream,
    to: TcpStream,
    shared: Arc<Shared>,
    /// The fault that ends the connection, in both directions, even if the proxy's fault is cleared
    /// meanwhile.
    end: Arc<OnceLock<Fault>>,
}

impl FaultPump {
    /// Forwards bytes until the connection ends.
    fn run(mut self) {
        // An I/O error here ends the connection, which both peers notice.
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

    /// Stalls until the fault changes.
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

    /// Forwards bytes under the current fault; bytes that were read as the fault arrived are subject to it
    /// too.
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

    /// Makes closing the connection a reset, by a linger time of zero; it is sent once the other direction
    /// has closed too.
    fn reset(&self) -> io::Result<()> {
        for stream in [&self.from, &self.to] {
            sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
        }
        Ok(())
    }
}
