//! Serves a client on two byte streams, one JSON message per line.

use std::sync::Arc;

use mcparley_wire::transport::served;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::gateway::Gateway;

/// Serves one client until its input ends or its output closes. Calls in progress are canceled then, at the
/// servers too; the servers themselves stay connected.
pub async fn serve(gateway: &Gateway, input: impl AsyncRead + Unpin, output: impl AsyncWrite + Unpin) {
    let session = gateway.open_session();
    tokio::select! {
        () = served::serve_client(input, output, Arc::new(session.clone())) => {}
        () = session.run_background_work() => {}
    }
}
