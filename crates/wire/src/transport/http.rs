//! A server behind a URL that speaks Streamable HTTP (T3).
//!
//! Every message of ours is one POST, and its answer comes back as JSON or as a stream of events. In the old
//! era there is a session, and a GET stream for what the server says unasked.
//!
//! | what | where |
//! |---|---|
//! | the HTTP library, proxies, certificates | `network`, `tunnel` |
//! | one HTTP request, redirects, what its errors mean | `http_sender`, `redirect`, `trouble` |
//! | which headers our requests have | `target`, `endpoint` |
//! | what of a message stands in headers | `head` |
//! | the queue of POSTs | `post` |
//! | one request and its answer | `exchange` |
//! | answers that say no, and who asks again | `refusal`, `retry` |
//! | bodies and streams, bounded | `body`, `event` |
//! | the GET stream | `listen` |
//! | whether the server is still there | `reach` |
//! | documents that are no conversation | `document` |

pub(super) mod body;
mod document;
mod endpoint;
mod event;
mod exchange;
pub(super) mod head;
pub(super) mod http_sender;
mod listen;
mod network;
pub(super) mod post;
pub(super) mod reach;
mod redirect;
pub(super) mod refusal;
pub(super) mod retry;
mod target;
mod trouble;
mod tunnel;

use std::sync::Arc;
use std::time::Duration;

use crate::failure::Failure;
use crate::handshake::Carrier;
use crate::peer::{Handler, Inbox, Peer, Strays};
use crate::session::Spoken;
use crate::task::Tasks;
pub use document::document;
use endpoint::Endpoint;
use exchange::Exchange;
pub use network::{KeepAlive, Names, Network, NetworkSettings, ProxySettings};
use post::Posts;
pub use target::HttpTarget;

/// How long saying goodbye may take. Sessions that hear none expire by themselves.
const GOODBYE: Duration = Duration::from_secs(1);

/// How long what is still to be said may take before that.
const FAREWELL: Duration = Duration::from_millis(200);

/// A server behind a URL. Dropping it ends every stream; [`Http::stop`] ends the session too.
#[derive(Debug)]
pub struct Http {
    peer: Peer,
    inbox: Inbox,
    endpoint: Arc<Endpoint>,
    tasks: Tasks,
}

impl Http {
    /// Gets ready to talk. Nothing is sent yet, so a server that is not there is noticed by the first call.
    ///
    /// # Errors
    /// [`Failure::Refused`] when the URL or a header cannot be sent.
    pub fn open(target: &HttpTarget, network: &Network, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let endpoint = Arc::new(Endpoint::new(target, network)?);
        let (posts, waiting) = Posts::new();
        let (peer, inbox) = Peer::new(Box::new(posts), handler);
        let exchange = Exchange::new(Arc::clone(&endpoint), inbox.clone());
        let tasks = Tasks::default();
        tasks.spawn(listen::run(exchange.clone()));
        tasks.spawn(post::run(waiting, exchange));
        Ok(Self { peer, inbox, endpoint, tasks })
    }

    /// Our end of the conversation.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What came and belonged to nobody.
    #[must_use]
    pub fn strays(&self) -> Strays {
        self.inbox.strays()
    }

    /// Ends every stream, then the session.
    pub async fn stop(self) {
        self.peer.flush(FAREWELL).await;
        self.end();
        // A server that does not answer, or knows no goodbye, forgets the session by itself.
        let _late = tokio::time::timeout(GOODBYE, self.endpoint.delete()).await;
    }

    fn end(&self) {
        self.tasks.abort();
        self.inbox.close(&Failure::Closed { exit: None, sent: true });
    }
}

impl Carrier for Http {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn agreed(&self, spoken: Spoken) {
        self.endpoint.agreed(spoken);
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.end();
    }
}
