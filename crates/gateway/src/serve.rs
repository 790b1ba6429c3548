//! Serves a client on two byte streams, one JSON message per line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcparley::pool::principal::ClientIdentity;
use mcparley::pool::roots::Root;
use mcparley_wire::peer::Handler;
use mcparley_wire::transport::served;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::client_sessions::ClientSessions;
use crate::gateway::Gateway;

/// The number of the next client on byte streams in this process.
static NEXT_CLIENT: AtomicU64 = AtomicU64::new(1);

/// A handler for the messages of one client on two byte streams, of this principal and with these roots: for
/// programs that serve clients with a transport of their own.
#[must_use]
pub fn client_handler(gateway: &Gateway, principal: &str, roots: Vec<Root>) -> Arc<dyn Handler> {
    let identity = Arc::new(ClientIdentity::new(principal));
    Arc::new(ClientSessions::new(gateway, &identity).with_roots(roots))
}

/// Serves one client until its input ends or its output closes. Calls in progress are canceled then, at the
/// servers too; the servers themselves stay connected.
pub async fn serve(gateway: &Gateway, input: impl AsyncRead + Unpin, output: impl AsyncWrite + Unpin) {
    // A client on byte streams is a principal of its own.
    let account = format!("stdio:{}", NEXT_CLIENT.fetch_add(1, Ordering::Relaxed));
    let identity = Arc::new(ClientIdentity::new(&account));
    served::serve_client(input, output, Arc::new(ClientSessions::new(gateway, &identity))).await;
}
