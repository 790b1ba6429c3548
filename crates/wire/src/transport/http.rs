//! Streamable HTTP transport: a server behind a URL.
//!
//! Every message of ours is one POST, and its response comes back as JSON or as an event stream (SSE). In the
//! old era there is a session, and a GET stream for messages that the server sends on its own.
//!
//! | responsibility | module |
//! |---|---|
//! | the HTTP client, proxies, certificates | `network`, `tunnel` |
//! | one HTTP request, redirects, classification of errors | `http_sender`, `redirect`, `http_error` |
//! | the headers of our requests | `target`, `endpoint` |
//! | the parts of a message that are repeated in headers | `message_head` |
//! | the queue of POSTs | `post` |
//! | one request and its response | `exchange` |
//! | error statuses, and retries after them | `refusal`, `retry` |
//! | bodies and event streams, bounded | `body`, `event` |
//! | the GET stream | `listen` |
//! | whether the server is still reachable | `reachability` |
//! | plain JSON documents | `document` |

pub(super) mod body;
mod document;
mod endpoint;
pub mod event;
mod exchange;
mod http_error;
pub(super) mod http_sender;
mod listen;
pub(super) mod message_head;
mod network;
pub(super) mod post;
pub(super) mod reachability;
mod redirect;
pub(super) mod refusal;
pub(super) mod retry;
mod target;
mod tunnel;

use std::sync::Arc;
use std::time::Duration;

pub use super::http_target::HttpTarget;
pub use super::network_settings::{KeepAlive, NetworkSettings, ProxySettings};
use crate::failure::Failure;
use crate::handshake::TransportConnection;
use crate::peer::{Handler, Inbox, Peer, StrayCounts};
use crate::session::AgreedProtocol;
use crate::task::OwnedTasks;
pub use document::fetch_document;
use endpoint::HttpEndpoint;
use exchange::HttpExchange;
pub use network::{NameResolver, Network};
use post::PostQueue;

/// Timeout of the DELETE that ends the session. Without it the session expires by itself.
const GOODBYE: Duration = Duration::from_secs(1);

/// Timeout for sending the queued messages before that.
const SHUTDOWN_FLUSH_TIME: Duration = Duration::from_millis(200);

/// A connection over Streamable HTTP. Dropping it ends every stream; [`HttpTransport::stop`] ends the session
/// too.
#[derive(Debug)]
pub struct HttpTransport {
    peer: Peer,
    inbox: Inbox,
    endpoint: Arc<HttpEndpoint>,
    tasks: OwnedTasks,
}

impl HttpTransport {
    /// Prepares the connection. No request is sent yet, so the first call notices a server that is
    /// unreachable.
    ///
    /// # Errors
    /// [`Failure::Refused`] when the URL or a header cannot be sent.
    pub fn open(target: &HttpTarget, network: &Network, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let endpoint = Arc::new(HttpEndpoint::new(target, network)?);
        let (posts, waiting) = PostQueue::new();
        let (peer, inbox) = Peer::new(Box::new(posts), handler);
        let exchange = HttpExchange::new(Arc::clone(&endpoint), inbox.clone());
        let tasks = OwnedTasks::default();
        tasks.spawn(listen::run_listener(exchange.clone()));
        tasks.spawn(post::run_post_queue(waiting, exchange));
        Ok(Self { peer, inbox, endpoint, tasks })
    }

    /// Our end of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Counts of inbound data that belonged to no request.
    #[must_use]
    pub fn stray_counts(&self) -> StrayCounts {
        self.inbox.stray_counts()
    }

    /// Ends every stream, then the session.
    pub async fn stop(self) {
        self.peer.flush(SHUTDOWN_FLUSH_TIME).await;
        self.end_streams();
        // A server that does not answer, or does not support DELETE, lets the session expire.
        let _late = tokio::time::timeout(GOODBYE, self.endpoint.delete_session()).await;
    }

    fn end_streams(&self) {
        self.tasks.abort_all();
        self.inbox.close_connection(&Failure::Closed { exit: None, sent: true });
    }
}

impl TransportConnection for HttpTransport {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn set_protocol(&self, protocol: AgreedProtocol) {
        self.endpoint.set_protocol(protocol);
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.end_streams();
    }
}
