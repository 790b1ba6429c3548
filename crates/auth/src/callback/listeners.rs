//! The two sockets of a callback listener: `127.0.0.1` and `::1` on one port, so that no other program
//! answers for `localhost`.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use mcparley_model::limits::{CALLBACK_BACKLOG, CALLBACK_PORTS};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::CallbackError;

/// The listening sockets.
#[derive(Debug)]
pub(super) struct CallbackListeners {
    port: u16,
    four: TcpListener,
    /// Absent on machines without IPv6, where no other program can have it either.
    six: Option<TcpListener>,
}

impl CallbackListeners {
    /// Binds a port that is free on both addresses.
    pub(super) fn bind_free_port() -> Result<Self, CallbackError> {
        let mut tries = 1;
        loop {
            let four = listen_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
            let port = four.local_addr().map_err(|source| CallbackError::Closed { source })?.port();
            match Self::with_ipv6(port, four) {
                // The system chooses another port next time.
                Err(CallbackError::Taken { .. }) if tries < CALLBACK_PORTS => tries += 1,
                doors => return doors,
            }
        }
    }

    /// Binds this port and no other.
    pub(super) fn bind_port(port: u16) -> Result<Self, CallbackError> {
        Self::with_ipv6(port, listen_on(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?)
    }

    fn with_ipv6(port: u16, four: TcpListener) -> Result<Self, CallbackError> {
        let six = match listen_on(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
            Ok(six) => Some(six),
            Err(error @ CallbackError::Taken { .. }) => return Err(error),
            Err(_) => None,
        };
        Ok(Self { port, four, six })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Accepts the next connection.
    pub(super) async fn accept_connection(&self) -> io::Result<TcpStream> {
        let accepted = match &self.six {
            None => self.four.accept().await,
            Some(six) => tokio::select! {
                accepted = self.four.accept() => accepted,
                accepted = six.accept() => accepted,
            },
        };
        accepted.map(|(stream, _)| stream)
    }
}

fn listen_on(address: SocketAddr) -> Result<TcpListener, CallbackError> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let listening = socket.and_then(|socket| {
        // Sockets of an earlier sign-in at the same port (`TIME_WAIT`) must not block this one for a minute.
        // On Linux that is the only effect: two listeners never share a port by it.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(CALLBACK_BACKLOG)
    });
    listening.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => CallbackError::Taken { port: address.port() },
        _ => CallbackError::Closed { source },
    })
}
