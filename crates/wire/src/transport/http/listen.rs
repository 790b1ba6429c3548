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

/// Waits for the greeting, then listens for as long as the server lets us and the conversation goes on.
pub(super) async fn run(exchange: Exchange) {
    let inbox = exchange.inbox.clone();
    tokio::select! {
        () = listen(exchange) => {}
        () = inbox.ended() => {}
    }
}

async fn listen(exchange: Exchange) {
    exchange.endpoint.until_listens(true).await;
    let mut listening = Listening { exchange, last_id: None, told: None, pause: FIRST_PAUSE };
    while let Next::Again(last) = listening.once().await {
        if last == Last::Useful {
            listening.pause = FIRST_PAUSE;
        }
        tokio::time::sleep(wait(listening.told, listening.pause, last)).await;
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
    Again(Last),
    Never,
}

/// Whether a stream was of any use, which shows that the server is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// It brought something, or held for a while.
    Useful,
    /// It could not be opened, or was over at once.
    Useless,
}

/// How long to wait for the next stream. A server says how often it wants to be asked while all is well; one that is
/// down is not asked any oftener for it.
fn wait(told: Option<Duration>, pause: Duration, last: Last) -> Duration {
    match (told, last) {
        (Some(told), Last::Useful) => told,
        (Some(told), Last::Useless) => told.max(pause),
        (None, _) => pause,
    }
}

impl Listening {
    async fn once(&mut self) -> Next {
        let response = match self.exchange.endpoint.get(self.last_id.as_ref()).await {
            Ok(response) => response,
            Err(Failure::Protocol(_)) => return Next::Never,
            Err(failure) => {
                self.note(&failure);
                return Next::Again(Last::Useless);
            }
        };
        self.exchange.reach.answered();
        let status = response.status();
        // 405 is the proper word for "there is none"; of the others none gets better by asking again.
        if status.is_client_error() && status.as_u16() != 429 {
            return Next::Never;
        }
        if !status.is_success() {
            return Next::Again(Last::Useless);
        }
        if Kind::of(&response) != Kind::Events {
            return Next::Never;
        }
        let stream = Stream::new(response, self.exchange.inbox.message_limit());
        Next::Again(self.read(stream).await)
    }

    /// Streams are cut by whoever stands between, as often as he likes, so only what could not be reached counts.
    fn note(&self, failure: &Failure) {
        if !matches!(failure, Failure::Closed { .. }) {
            self.exchange.reach.failed(failure);
        }
    }

    async fn read(&mut self, mut stream: Stream) -> Last {
        let begun = Instant::now();
        let mut last = Last::Useless;
        let end = loop {
            match stream.next().await {
                Ok(Some(message)) => {
                    last = Last::Useful;
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
        // A server that wants to be asked again and again gives each stream an id to begin with (2025-11-25).
        if begun.elapsed() >= LONGEST_PAUSE || end.is_some() {
            last = Last::Useful;
        }
        self.told = stream.retry().or(self.told);
        self.last_id = end.or(self.last_id.take());
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T3 B11
    #[test]
    fn a_server_that_is_down_is_asked_less_and_less_often_whatever_it_said_before() {
        let ms = Duration::from_millis;
        for (told, pause, last, expected) in [
            (None, ms(4000), Last::Useless, ms(4000)),
            (None, ms(1000), Last::Useful, ms(1000)),
            (Some(ms(100)), ms(1000), Last::Useful, ms(100)),
            (Some(ms(100)), ms(8000), Last::Useless, ms(8000)),
            (Some(ms(20_000)), ms(1000), Last::Useless, ms(20_000)),
        ] {
            assert_eq!(wait(told, pause, last), expected, "{told:?} {pause:?} {last:?}");
        }
    }
}
