//! A client on two byte streams: one message a line (G1).

use std::sync::Arc;

use mcparley_wire::transport::served;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::gateway::Gateway;

/// Serves one client until its input ends or it reads no more. What it still waits for then is cancelled, at the servers
/// too; the servers themselves stay.
pub async fn serve(gateway: &Gateway, input: impl AsyncRead + Unpin, output: impl AsyncWrite + Unpin) {
    let session = gateway.session();
    tokio::select! {
        () = served::serve(input, output, Arc::new(session.clone())) => {}
        () = session.attend() => {}
    }
}
