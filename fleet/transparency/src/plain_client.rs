//! A client for tests that make a few requests: the client of the comparison, without its recordings.

use std::io;

use serde_json::{Value, json};

use crate::ServerEndpoint;
use crate::client::{ProtocolEra, RecordedMessage, RecordingClient};

/// A connected client of either era that answers the questions of its server with sample values.
pub struct PlainClient(RecordingClient);

impl std::fmt::Debug for PlainClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PlainClient").field(&self.0.era).finish()
    }
}

impl PlainClient {
    /// Connects and makes the handshake.
    ///
    /// # Errors
    ///
    /// When the server cannot be started or reached, or refuses the handshake.
    pub fn connect(endpoint: &ServerEndpoint, era: ProtocolEra) -> io::Result<Self> {
        RecordingClient::connect(endpoint, era).map(|(client, _)| Self(client))
    }

    /// Makes a request, and returns `{"result": …}` or `{"error": …}`.
    ///
    /// # Errors
    ///
    /// When the server does not answer.
    pub fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let messages = self.0.request(method, params)?;
        match messages.last() {
            Some(RecordedMessage::Result(result)) => Ok(json!({ "result": result.to_value() })),
            Some(RecordedMessage::Error(error)) => Ok(json!({ "error": error.to_value() })),
            _ => Err(io::Error::other(format!("no answer to `{method}`"))),
        }
    }
}
