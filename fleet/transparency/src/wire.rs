//! The transport of the comparing client: lines on pipes, or Streamable HTTP.

mod http;
mod http_response;
mod stdio;

use std::io;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::Value;

pub(crate) use http::HttpWire;
pub(crate) use stdio::StdioWire;

/// The time in which a server must send its next message.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server. Messages of all its streams arrive on one channel.
pub(crate) trait Wire {
    /// Sends a message. `headers` are those that mirror parts of the message, for HTTP.
    fn send(&mut self, message: &Value, headers: &[(String, String)]) -> io::Result<()>;

    /// Opens the stream for messages that belong to no request; `version` is the negotiated version.
    fn open_shared_stream(&mut self, version: &str) -> io::Result<()>;

    fn messages(&self) -> &Receiver<String>;

    /// The next message of the server.
    fn receive(&self) -> io::Result<String> {
        self.messages()
            .recv_timeout(PATIENCE)
            .map_err(|error| io::Error::other(format!("no message: {error}")))
    }
}
