//! The GET stream of the old era: what a server says unasked, and replies it sends there.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::body::{Kind, Stream};
use super::event::LONGEST_PAUSE;
use super::exchange::Exchange;
use crate::failure::Failure;

/// The first pause before the stream is opened again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Waits for the greeting, then listens for as long as the server lets us.
pub(super) async fn run(exchange: Exchange) {
    exchange.endpoint.until_listens(true).await;
    let mut listening = Listening { exchange, last_id: None, told: None, pause: FIRST_PAUSE };
    while let Next::Again = listening.once().await {
        tokio::time::sleep(listening.told.unwrap_or(listening.pause)).await;
        listening.pause = (listening.pause * 2).min(LONGEST_PAUSE);
    }
    listening.exchange.endpoint.set_listens(false);
}

struct Listening {
    exchange: Exchange,
    last_id: Option<Bytes>,
    /// The pause the server wants.
    told: Option<Duration>,
    pause: Duration,
}

/// What follows an end of the stream.
enum Next {
    Again,
    Never,
}

impl Listening {
    async fn once(&mut self) -> Next {
        let response = match self.exchange.endpoint.get(self.last_id.as_ref()).await {
            Ok(response) => response,
            Err(Failure::Protocol(_)) => return Next::Never,
            Err(_) => return Next::Again,
        };
        let status = response.status();
        // 405 is the proper word for "there is none"; of the others none gets better by asking again.
        if status.is_client_error() && status.as_u16() != 429 {
            return Next::Never;
        }
        if !status.is_success() {
            return Next::Again;
        }
        if Kind::of(&response) != Kind::Events {
            return Next::Never;
        }
        self.read(Stream::new(response)).await;
        Next::Again
    }

    /// A stream that brought something or held for a while shows that the server is well.
    async fn read(&mut self, mut stream: Stream) {
        let begun = Instant::now();
        let end = loop {
            match stream.next().await {
                Ok(Some(message)) => {
                    self.pause = FIRST_PAUSE;
                    self.exchange.inbox.deliver(&message);
                }
                Ok(None) | Err(Failure::Closed { .. }) => break stream.last_id().cloned(),
                // What is too large stays so: whoever waits for it fails, and it is not asked for again.
                Err(failure) => {
                    self.exchange.inbox.fail(None, &failure);
                    self.last_id = None;
                    break None;
                }
            }
        };
        if begun.elapsed() >= LONGEST_PAUSE {
            self.pause = FIRST_PAUSE;
        }
        self.told = stream.retry().or(self.told);
        self.last_id = end.or(self.last_id.take());
    }
}
