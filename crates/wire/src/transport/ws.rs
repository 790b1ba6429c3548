//! A server behind a WebSocket (T4).
//!
//! Every message is one text frame, in both directions. The conversation is the socket: when it ends, every waiting
//! call fails at once, and those that never left are told apart (L6).
//!
//! | what | where |
//! |---|---|
//! | from a URL to a socket | `upgrade` |
//! | what comes, and silence | `reader` |
//! | what goes out | `writer` |
//! | fragments without end | `meter`, `fragments` |

mod fragments;
mod meter;
mod reader;
mod upgrade;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::Upgraded;
use tokio::sync::{Notify, oneshot};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::http::{HttpTarget, Network};
use super::queue::{Outgoing, Queue};
use crate::failure::{Failure, Phase};
use crate::handshake::Carrier;
use crate::peer::{Handler, Inbox, Peer, Strays};
use crate::task::Tasks;
use meter::{Meter, Metered};
use reader::Reader;
use writer::Writer;

/// How long saying goodbye may take. A server that hears none sees the connection end.
const GOODBYE: Duration = Duration::from_secs(1);

/// How long what is still to be said may take before that.
const FAREWELL: Duration = Duration::from_millis(200);

/// How much is asked for in one read.
const READ_BYTES: usize = 32 * 1024;

type Socket = WebSocketStream<Metered<Upgraded>>;
type Incoming = SplitStream<Socket>;
type Outlet = SplitSink<Socket, Message>;

/// A server behind a WebSocket. Dropping it ends the connection; [`Ws::stop`] says goodbye first.
#[derive(Debug)]
pub struct Ws {
    peer: Peer,
    inbox: Inbox,
    /// Taken to ask for the end.
    stop: Option<oneshot::Sender<()>>,
    /// Closes when nothing is left of the connection.
    gone: Option<oneshot::Receiver<()>>,
    tasks: Tasks,
}

impl Ws {
    /// Connects. What follows is greeted in the old way, never probed, unless the configuration says otherwise.
    ///
    /// # Errors
    /// A [`Failure`]; [`Failure::Protocol`] when what answers is no WebSocket, or one for something else.
    pub async fn open(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let late = Failure::TimedOut { phase: Phase::Connecting, after: REQUEST_LIMIT };
        let connecting = tokio::time::timeout(REQUEST_LIMIT, upgrade::connect(target, network)).await;
        let stream = connecting.unwrap_or(Err(late))?;
        let meter = Meter::default();
        let limits = Some(limits(handler.message_limit()));
        let socket = WebSocketStream::from_raw_socket(meter.on(stream), Role::Client, limits).await;
        Ok(Self::begin(socket, meter, handler))
    }

    fn begin(socket: Socket, meter: Meter, handler: Arc<dyn Handler>) -> Self {
        let (queue, outgoing) = Queue::naming_calls();
        let (peer, inbox) = Peer::new(Box::new(queue), handler);
        let (stop, stopped) = oneshot::channel();
        let (going, gone) = oneshot::channel();
        let tasks = Tasks::default();
        let life = Life { socket, meter, outgoing, inbox: inbox.clone() };
        tasks.spawn(async move {
            life.run(stopped).await;
            drop(going);
        });
        Self { peer, inbox, stop: Some(stop), gone: Some(gone), tasks }
    }

    /// Our end of the conversation.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What came and belonged to nobody.
    #[must_use]
    pub fn strays(&self) -> Strays {
        self.inbox.strays()
    }

    /// Says goodbye and waits, but not for long, until the server has done so too.
    pub async fn stop(mut self) {
        self.peer.flush(FAREWELL).await;
        if let Some(stop) = self.stop.take() {
            // Nobody to tell means that it has ended already.
            let _ended = stop.send(());
        }
        if let Some(gone) = self.gone.take() {
            // Nothing is ever sent; that it closes is the news.
            let _closed = gone.await;
        }
    }
}

impl Carrier for Ws {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for Ws {
    fn drop(&mut self) {
        self.tasks.abort();
        self.inbox.close(&End::closed().failure);
    }
}

/// What is refused before it is kept.
fn limits(message: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .max_message_size(Some(message))
        .max_frame_size(Some(message))
}

/// How a conversation ends.
struct End {
    /// What every waiting call is told.
    failure: Failure,
    /// What the server is told, if it is not the server that ended it.
    goodbye: Option<CloseCode>,
}

impl End {
    fn closed() -> Self {
        Self { failure: Failure::Closed { exit: None, sent: true }, goodbye: None }
    }
}

/// Everything that lives with the connection.
struct Life {
    socket: Socket,
    meter: Meter,
    outgoing: Outgoing,
    inbox: Inbox,
}

impl Life {
    /// Until the server ends it, breaks it, falls silent, or its owner wants it to end.
    async fn run(self, mut stopped: oneshot::Receiver<()>) {
        let Self { socket, meter, mut outgoing, inbox } = self;
        let (mut outlet, mut incoming) = socket.split();
        let ping = Notify::new();
        let end = {
            let reader = Reader { incoming: &mut incoming, meter: &meter, inbox: &inbox, ping: &ping };
            let mut reading = Box::pin(reader.run());
            let writer = Writer { outlet: &mut outlet, outgoing: &mut outgoing, inbox: &inbox, ping: &ping };
            let mut writing = Box::pin(writer.run());
            let mut writes = true;
            loop {
                tokio::select! {
                    end = &mut reading => break end,
                    () = &mut writing, if writes => writes = false,
                    // An owner that is gone without a word aborts this task instead.
                    _ = &mut stopped => break End { goodbye: Some(CloseCode::Normal), ..End::closed() },
                }
            }
        };
        tell(&end.failure, outgoing, &inbox);
        // A server that takes no goodbye, or gives none, sees the connection end.
        let _late = tokio::time::timeout(GOODBYE, say_goodbye(outlet, incoming, end.goodbye)).await;
    }
}

/// Tells every waiting call. What is still queued has certainly not been executed.
fn tell(failure: &Failure, mut outgoing: Outgoing, inbox: &Inbox) {
    outgoing.close();
    while let Some(queued) = outgoing.waiting() {
        if let Some(call) = queued.call {
            inbox.fail_call(call, Failure::Closed { exit: None, sent: false });
        }
    }
    inbox.close(failure);
}

async fn say_goodbye(mut outlet: Outlet, mut incoming: Incoming, code: Option<CloseCode>) {
    let said = match code {
        Some(code) => {
            outlet.send(Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::default() }))).await
        }
        // The library has an answer to the server's goodbye ready.
        None => outlet.flush().await,
    };
    if said.is_ok() {
        while let Some(Ok(_)) = incoming.next().await {}
    }
}
