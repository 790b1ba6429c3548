//! A connection to a server, whatever it is made of.

use mcparley_wire::Spoken;
use mcparley_wire::handshake::Carrier;
use mcparley_wire::peer::Peer;
use mcparley_wire::transport::http::Http;
use mcparley_wire::transport::memory;
use mcparley_wire::transport::sse::Sse;
use mcparley_wire::transport::stdio::Stdio;
use mcparley_wire::transport::ws::Ws;

/// A connection to a server, whatever it is made of.
#[derive(Debug)]
#[non_exhaustive]
pub enum Link {
    /// A child process.
    Local(Stdio),
    /// A server behind a URL.
    Remote(Http),
    /// A server behind a URL, over the transport of 2024-11-05.
    Legacy(Sse),
    /// A server behind a WebSocket.
    Socket(Ws),
    /// A server inside this program.
    Inside(memory::Link),
}

impl Link {
    /// Ends it in order: a process and all it started, or a session.
    pub async fn stop(self) {
        match self {
            Self::Local(stdio) => stdio.stop().await,
            Self::Remote(http) => http.stop().await,
            Self::Legacy(sse) => sse.stop().await,
            Self::Socket(ws) => ws.stop().await,
            Self::Inside(link) => drop(link),
        }
    }
}

impl Carrier for Link {
    fn peer(&self) -> &Peer {
        match self {
            Self::Local(stdio) => stdio.peer(),
            Self::Remote(http) => http.peer(),
            Self::Legacy(sse) => sse.peer(),
            Self::Socket(ws) => ws.peer(),
            Self::Inside(link) => link.peer(),
        }
    }

    fn agreed(&self, spoken: Spoken) {
        match self {
            Self::Local(stdio) => stdio.agreed(spoken),
            Self::Remote(http) => http.agreed(spoken),
            Self::Legacy(sse) => sse.agreed(spoken),
            Self::Socket(ws) => ws.agreed(spoken),
            Self::Inside(link) => link.agreed(spoken),
        }
    }
}
