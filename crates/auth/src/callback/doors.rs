//! The two sockets of a way back: `127.0.0.1` and `::1` at one port, so that nobody else answers for `localhost` (H18).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use mcparley_model::limits::{CALLBACK_BACKLOG, CALLBACK_PORTS};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::CallbackError;

/// The open sockets.
#[derive(Debug)]
pub(super) struct Doors {
    port: u16,
    four: TcpListener,
    /// Absent on machines without IPv6, where nobody else can have it either.
    six: Option<TcpListener>,
}

impl Doors {
    /// At a port that is free for both.
    pub(super) fn any() -> Result<Self, CallbackError> {
        let mut tries = 1;
        loop {
            let four = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
            let port = four.local_addr().map_err(|source| CallbackError::Closed { source })?.port();
            match Self::with(port, four) {
                // The next one the system chooses is another.
                Err(CallbackError::Taken { .. }) if tries < CALLBACK_PORTS => tries += 1,
                doors => return doors,
            }
        }
    }

    /// At this port and no other.
    pub(super) fn at(port: u16) -> Result<Self, CallbackError> {
        Self::with(port, listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?)
    }

    fn with(port: u16, four: TcpListener) -> Result<Self, CallbackError> {
        let six = match listen(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
            Ok(six) => Some(six),
            Err(error @ CallbackError::Taken { .. }) => return Err(error),
            Err(_) => None,
        };
        Ok(Self { port, four, six })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The next visitor.
    pub(super) async fn accept(&self) -> io::Result<TcpStream> {
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

fn listen(address: SocketAddr) -> Result<TcpListener, CallbackError> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let listening = socket.and_then(|socket| {
        // What is left of an earlier sign-in at the same port must not hinder this one for a minute. On Unix that is all
        // it does: two listeners never share a port by it. On Windows they would.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(CALLBACK_BACKLOG)
    });
    listening.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => CallbackError::Taken { port: address.port() },
        _ => CallbackError::Closed { source },
    })
}
