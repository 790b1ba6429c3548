//! What comes on the socket: messages, signs of life, and the end.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use mcparley_model::limits::{PING_AFTER, PONG_WITHIN};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::End;
use super::meter::Meter;
use crate::failure::Failure;
use crate::peer::Inbox;

/// The reading half of a socket.
pub(super) struct Reader<'r, I> {
    pub(super) incoming: &'r mut I,
    pub(super) meter: &'r Meter,
    pub(super) inbox: &'r Inbox,
    /// Asks the writer for a ping.
    pub(super) ping: &'r Notify,
}

impl<I: Stream<Item = Result<Message, Error>> + Unpin> Reader<'_, I> {
    /// Delivers messages until the end, and says which.
    pub(super) async fn run(mut self) -> End {
        loop {
            match self.next().await {
                Ok(Some(Ok(Message::Text(text)))) => self.inbox.deliver(&bare(text)),
                // The library answers the first, the second is an answer, and the third is for writing only.
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => {}
                Ok(Some(Ok(Message::Binary(_)))) => {
                    return broke("it sends binary data", CloseCode::Unsupported);
                }
                Ok(Some(Ok(Message::Close(_))) | None) | Err(Silent) => return End::closed(),
                Ok(Some(Err(error))) => return self.meaning(&error),
            }
        }
    }

    /// Waits for what comes. A server that says nothing is asked whether it is there, and anything it sends then is
    /// an answer: a part of a large message as well as a pong.
    async fn next(&mut self) -> Result<Option<Result<Message, Error>>, Silent> {
        let mut is_asked = false;
        loop {
            let heard = self.meter.total();
            let patience = if is_asked { PONG_WITHIN } else { PING_AFTER };
            match tokio::time::timeout(patience, self.incoming.next()).await {
                Ok(next) => return Ok(next),
                Err(_) if self.meter.total() > heard => is_asked = false,
                Err(_) if is_asked => return Err(Silent),
                Err(_) => {
                    is_asked = true;
                    self.ping.notify_one();
                }
            }
        }
    }

    fn meaning(&self, error: &Error) -> End {
        match error {
            Error::Capacity(_) => {
                let limit = self.inbox.message_limit();
                End { failure: Failure::TooLarge { limit }, goodbye: Some(CloseCode::Size) }
            }
            Error::Utf8(_) => broke("it sends text that is no UTF-8", CloseCode::Invalid),
            // It is gone without a word, as close code 1006 says.
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::closed(),
            Error::Protocol(error) => broke(&error.to_string(), CloseCode::Protocol),
            Error::Io(_) if self.meter.is_over() => {
                broke("it sends one message in too many pieces", CloseCode::Policy)
            }
            // The rest breaks the connection, or cannot happen to a reader.
            _ => End::closed(),
        }
    }
}

/// Nothing has come for too long.
struct Silent;

fn broke(what: &str, code: CloseCode) -> End {
    End { failure: Failure::Protocol(what.into()), goodbye: Some(code) }
}

fn bare(text: Utf8Bytes) -> Bytes {
    let bytes = Bytes::from(text);
    bytes.slice_ref(bytes.trim_ascii())
}

#[cfg(test)]
mod tests;
