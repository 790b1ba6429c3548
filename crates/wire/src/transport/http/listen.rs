//! The GET stream of the old era: messages that the server sends on its own, and responses it sends there.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::body::{EventStream, Kind};
use super::event::LONGEST_PAUSE;
use super::exchange::HttpExchange;
use crate::failure::Failure;

/// The first pause before the stream is opened again; exponential backoff doubles it each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Waits for the handshake, then listens for as long as the server permits it and the connection is open.
pub(super) async fn run_listener(exchange: HttpExchange) {
    let inbox = exchange.inbox.clone();
    tokio::select! {
        () = listen_with_backoff(exchange) => {}
        () = inbox.wait_until_ended() => {}
    }
}

async fn listen_with_backoff(exchange: HttpExchange) {
    exchange.endpoint.wait_for_listening(true).await;
    let mut listening = GetStreamListener { exchange, last_id: None, server_pause: None, pause: FIRST_PAUSE };
    while let ReconnectDecision::Again(last) = listening.listen_once().await {
        if last == StreamUsefulness::Useful {
            listening.pause = FIRST_PAUSE;
        }
        tokio::time::sleep(reconnect_pause(listening.server_pause, listening.pause, last)).await;
        listening.pause = (listening.pause * 2).min(LONGEST_PAUSE);
    }
    listening.exchange.endpoint.set_listening(false);
}

struct GetStreamListener {
    exchange: HttpExchange,
    last_id: Option<Bytes>,
    /// The reconnect pause that the server requested.
    server_pause: Option<Duration>,
    pause: Duration,
}

/// The decision after the end of the stream.
enum ReconnectDecision {
    Again(StreamUsefulness),
    Never,
}

/// Whether a stream was useful, which shows that the server is healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamUsefulness {
    /// The stream delivered a message, or stayed open for a while.
    Useful,
    /// The stream could not be opened, or ended at once.
    Useless,
}

/// The pause before the next stream. A healthy server chooses its own pause; for one that is down the backoff
/// applies as well.
fn reconnect_pause(wanted: Option<Duration>, pause: Duration, last: StreamUsefulness) -> Duration {
    match (wanted, last) {
        (Some(wanted), StreamUsefulness::Useful) => wanted,
        (Some(wanted), StreamUsefulness::Useless) => wanted.max(pause),
        (None, _) => pause,
    }
}

impl GetStreamListener {
    async fn listen_once(&mut self) -> ReconnectDecision {
        let response = match self.exchange.endpoint.open_event_stream(self.last_id.as_ref()).await {
            Ok(response) => response,
            Err(Failure::Protocol(_)) => return ReconnectDecision::Never,
            Err(failure) => {
                self.record_failure(&failure);
                return ReconnectDecision::Again(StreamUsefulness::Useless);
            }
        };
        self.exchange.reach.record_success();
        let status = response.status();
        // 405 is the proper status for "no GET stream"; the other client errors do not go away by asking
        // again.
        if status.is_client_error() && status.as_u16() != 429 {
            return ReconnectDecision::Never;
        }
        if !status.is_success() {
            return ReconnectDecision::Again(StreamUsefulness::Useless);
        }
        if Kind::from_response(&response) != Kind::Events {
            return ReconnectDecision::Never;
        }
        let stream = EventStream::new(response, self.exchange.inbox.message_limit());
        ReconnectDecision::Again(self.read_stream(stream).await)
    }

    /// Records a failure to open the stream. Proxies cut streams at any time, so only an unreachable server
    /// counts.
    fn record_failure(&self, failure: &Failure) {
        if !matches!(failure, Failure::Closed { .. }) {
            self.exchange.reach.record_failure(failure);
        }
    }

    async fn read_stream(&mut self, mut stream: EventStream) -> StreamUsefulness {
        let begun = Instant::now();
        let mut last = StreamUsefulness::Useless;
        let end = loop {
            match stream.next().await {
                Ok(Some(message)) => {
                    last = StreamUsefulness::Useful;
                    self.exchange.inbox.deliver_message(&message);
                }
                Ok(None) | Err(Failure::Closed { .. }) => break stream.last_id().cloned(),
                // An oversized message stays so: the only waiting call fails, and the stream is not resumed.
                Err(failure) => {
                    self.exchange.inbox.fail_matching_call(None, &failure);
                    self.last_id = None;
                    break None;
                }
            }
        };
        // A server that wants to be polled gives each stream an id at its start (2025-11-25).
        if begun.elapsed() >= LONGEST_PAUSE || end.is_some() {
            last = StreamUsefulness::Useful;
        }
        self.server_pause = stream.retry_pause().or(self.server_pause);
        self.last_id = end.or(self.last_id.take());
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T3 B11
    #[test]
    fn reconnect_backoff_grows_for_a_server_that_is_down_despite_its_retry_pause() {
        let ms = Duration::from_millis;
        for (wanted, pause, last, expected) in [
            (None, ms(4000), StreamUsefulness::Useless, ms(4000)),
            (None, ms(1000), StreamUsefulness::Useful, ms(1000)),
            (Some(ms(100)), ms(1000), StreamUsefulness::Useful, ms(100)),
            (Some(ms(100)), ms(8000), StreamUsefulness::Useless, ms(8000)),
            (Some(ms(20_000)), ms(1000), StreamUsefulness::Useless, ms(20_000)),
        ] {
            assert_eq!(reconnect_pause(wanted, pause, last), expected, "{wanted:?} {pause:?} {last:?}");
        }
    }
}
