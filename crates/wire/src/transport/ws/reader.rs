//! The reading half of a socket: inbound messages, keep-alive, and the end.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use mcparley_model::limits::{PING_AFTER, PONG_WITHIN};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::SocketEnd;
use super::meter::ByteMeter;
use crate::failure::Failure;
use crate::peer::Inbox;

/// The reading half of a socket.
pub(super) struct SocketReader<'r, I> {
    pub(super) incoming: &'r mut I,
    pub(super) meter: &'r ByteMeter,
    pub(super) inbox: &'r Inbox,
    /// Requests a ping from the writer.
    pub(super) ping: &'r Notify,
}

impl<I: Stream<Item = Result<Message, Error>> + Unpin> SocketReader<'_, I> {
    /// Delivers messages until the connection ends, and returns how.
    pub(super) async fn read_until_end(mut self) -> SocketEnd {
        loop {
            match self.next().await {
                Ok(Some(Ok(Message::Text(text)))) => self.inbox.deliver_message(&trim_text(text)),
                // The library answers pings, pongs are answers, and raw frames occur in writing only.
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => {}
                Ok(Some(Ok(Message::Binary(_)))) => {
                    return protocol_end("it sends binary data", CloseCode::Unsupported);
                }
                Ok(Some(Ok(Message::Close(_))) | None) | Err(SilentServer) => return SocketEnd::closed(),
                Ok(Some(Err(error))) => return self.classify_error(&error),
            }
        }
    }

    /// Waits for the next message, with keep-alive. A silent server is pinged, and any bytes it sends then
    /// are an answer: a part of a large message as well as a pong.
    async fn next(&mut self) -> Result<Option<Result<Message, Error>>, SilentServer> {
        let mut is_asked = false;
        loop {
            let heard = self.meter.total_bytes();
            let limit = if is_asked { PONG_WITHIN } else { PING_AFTER };
            match tokio::time::timeout(limit, self.incoming.next()).await {
                Ok(next) => return Ok(next),
                Err(_) if self.meter.total_bytes() > heard => is_asked = false,
                Err(_) if is_asked => return Err(SilentServer),
                Err(_) => {
                    is_asked = true;
                    self.ping.notify_one();
                }
            }
        }
    }

    fn classify_error(&self, error: &Error) -> SocketEnd {
        match error {
            Error::Capacity(_) => {
                let limit = self.inbox.message_limit();
                SocketEnd { failure: Failure::TooLarge { limit }, goodbye: Some(CloseCode::Size) }
            }
            Error::Utf8(_) => protocol_end("it sends text that is not UTF-8", CloseCode::Invalid),
            // The server is gone without a close frame, as close code 1006 says.
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => SocketEnd::closed(),
            Error::Protocol(error) => protocol_end(&error.to_string(), CloseCode::Protocol),
            Error::Io(_) if self.meter.has_too_many_fragments() => {
                protocol_end("it sends a message in too many fragments", CloseCode::Policy)
            }
            // All other errors break the connection, or cannot happen to a reader.
            _ => SocketEnd::closed(),
        }
    }
}

/// Keep-alive timeout: the server did not answer the ping.
struct SilentServer;

fn protocol_end(what: &str, code: CloseCode) -> SocketEnd {
    SocketEnd { failure: Failure::Protocol(what.into()), goodbye: Some(code) }
}

fn trim_text(text: Utf8Bytes) -> Bytes {
    let bytes = Bytes::from(text);
    bytes.slice_ref(bytes.trim_ascii())
}

#[cfg(test)]
mod tests;
