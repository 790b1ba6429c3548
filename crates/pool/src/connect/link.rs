//! The transport link to a server, of any transport.

use mcparley_wire::AgreedProtocol;
use mcparley_wire::handshake::TransportConnection;
use mcparley_wire::peer::Peer;
use mcparley_wire::transport::attached::AttachedTransport;
use mcparley_wire::transport::http::HttpTransport;
use mcparley_wire::transport::memory;
use mcparley_wire::transport::sse::SseTransport;
use mcparley_wire::transport::stdio::StdioTransport;
use mcparley_wire::transport::ws::WsTransport;

/// The transport link to a server, of any transport.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerLink {
    /// A child process.
    Local(StdioTransport),
    /// A local server that the daemon runs.
    Attached(AttachedTransport),
    /// A server behind a URL (Streamable HTTP).
    Remote(HttpTransport),
    /// A server behind a URL, over the HTTP+SSE transport of 2024-11-05.
    Legacy(SseTransport),
    /// A server behind a WebSocket.
    WebSocket(WsTransport),
    /// An in-process server.
    InProcess(memory::MemoryLink),
}

impl ServerLink {
    /// The id of the server's process, for a server of this machine.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        match self {
            Self::Local(stdio) => Some(stdio.pid()),
            Self::Attached(attached) => attached.process().id,
            Self::Remote(_) | Self::Legacy(_) | Self::WebSocket(_) | Self::InProcess(_) => None,
        }
    }

    /// The number of the server's copy, for a server that the daemon runs.
    #[must_use]
    pub fn daemon_copy(&self) -> Option<u64> {
        match self {
            Self::Attached(attached) => Some(attached.process().copy),
            Self::Local(_) | Self::Remote(_) | Self::Legacy(_) | Self::WebSocket(_) | Self::InProcess(_) => {
                None
            }
        }
    }

    /// Waits until the daemon wants its client to attach again. Never returns for other links. Cancel safe.
    pub async fn wait_until_moved(&self) {
        match self {
            Self::Attached(attached) => attached.wait_until_moved().await,
            Self::Local(_) | Self::Remote(_) | Self::Legacy(_) | Self::WebSocket(_) | Self::InProcess(_) => {
                std::future::pending().await
            }
        }
    }

    /// Closes the link gracefully: ends the process and its children, or the session.
    pub async fn stop(self) {
        match self {
            Self::Local(stdio) => stdio.stop().await,
            Self::Attached(attached) => attached.stop().await,
            Self::Remote(http) => http.stop().await,
            Self::Legacy(sse) => sse.stop().await,
            Self::WebSocket(ws) => ws.stop().await,
            Self::InProcess(link) => drop(link),
        }
    }
}

impl TransportConnection for ServerLink {
    fn peer(&self) -> &Peer {
        match self {
            Self::Local(stdio) => stdio.peer(),
            Self::Attached(attached) => attached.peer(),
            Self::Remote(http) => http.peer(),
            Self::Legacy(sse) => sse.peer(),
            Self::WebSocket(ws) => ws.peer(),
            Self::InProcess(link) => link.peer(),
        }
    }

    fn set_protocol(&self, protocol: AgreedProtocol) {
        match self {
            Self::Local(stdio) => stdio.set_protocol(protocol),
            Self::Attached(attached) => attached.set_protocol(protocol),
            Self::Remote(http) => http.set_protocol(protocol),
            Self::Legacy(sse) => sse.set_protocol(protocol),
            Self::WebSocket(ws) => ws.set_protocol(protocol),
            Self::InProcess(link) => link.set_protocol(protocol),
        }
    }
}
