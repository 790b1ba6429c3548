//! WebSocket transport.
//!
//! Every message is one text frame, in both directions. The socket is the session: when it ends, every
//! waiting call fails at once, and calls that were never sent are distinguished.
//!
//! | responsibility | module |
//! |---|---|
//! | upgrades an HTTP connection to a socket | `upgrade` |
//! | inbound messages and keep-alive | `reader` |
//! | outbound messages | `writer` |
//! | limits the fragments of a message | `meter`, `fragments` |

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
use super::queue::{OutgoingMessages, SendQueue};
use crate::failure::{Failure, FailurePhase};
use crate::handshake::TransportConnection;
use crate::peer::{Handler, Inbox, Peer, StrayCounts};
use crate::task::OwnedTasks;
use meter::{ByteMeter, MeteredStream};
use reader::SocketReader;
use writer::SocketWriter;

/// Timeout of the closing handshake. Without it the server sees the connection end.
const GOODBYE: Duration = Duration::from_secs(1);

/// Timeout for sending the queued messages before that.
const SHUTDOWN_FLUSH_TIME: Duration = Duration::from_millis(200);

/// Size of one read.
const READ_BYTES: usize = 32 * 1024;

type Socket = WebSocketStream<MeteredStream<Upgraded>>;
type SocketReceiver = SplitStream<Socket>;
type SocketSender = SplitSink<Socket, Message>;

/// A connection over WebSocket. Dropping it ends the connection; [`WsTransport::stop`] sends a close frame
/// first.
#[derive(Debug)]
pub struct WsTransport {
    peer: Peer,
    inbox: Inbox,
    /// Taken to request the end.
    stop: Option<oneshot::Sender<()>>,
    /// Closes when the connection has ended completely.
    gone: Option<oneshot::Receiver<()>>,
    tasks: OwnedTasks,
}

impl WsTransport {
    /// Connects. The handshake that follows is `initialize`, never the probe, unless the configuration
    /// demands it.
    ///
    /// # Errors
    /// A [`Failure`]; [`Failure::Protocol`] when the server is no WebSocket, or one with another subprotocol.
    pub async fn open(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let late = Failure::TimedOut { phase: FailurePhase::Connecting, after: REQUEST_LIMIT };
        let connecting =
            tokio::time::timeout(REQUEST_LIMIT, upgrade::connect_websocket(target, network)).await;
        let stream = connecting.unwrap_or(Err(late))?;
        let meter = ByteMeter::default();
        let limits = Some(socket_config(handler.message_limit()));
        let socket = WebSocketStream::from_raw_socket(meter.wrap_stream(stream), Role::Client, limits).await;
        Ok(Self::start_session(socket, meter, handler))
    }

    fn start_session(socket: Socket, meter: ByteMeter, handler: Arc<dyn Handler>) -> Self {
        let (queue, outgoing) = SendQueue::with_call_ids();
        let (peer, inbox) = Peer::new(Box::new(queue), handler);
        let (stop, stopped) = oneshot::channel();
        let (going, gone) = oneshot::channel();
        let tasks = OwnedTasks::default();
        let life = SocketLifetime { socket, meter, outgoing, inbox: inbox.clone() };
        tasks.spawn(async move {
            life.run_until_end(stopped).await;
            drop(going);
        });
        Self { peer, inbox, stop: Some(stop), gone: Some(gone), tasks }
    }

    /// Our end of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Counts of inbound data that belonged to no request.
    #[must_use]
    pub fn stray_counts(&self) -> StrayCounts {
        self.inbox.stray_counts()
    }

    /// Sends a close frame and waits, within a timeout, for that of the server.
    pub async fn stop(mut self) {
        self.peer.flush(SHUTDOWN_FLUSH_TIME).await;
        if let Some(stop) = self.stop.take() {
            // A closed channel means that the connection has ended already.
            let _ended = stop.send(());
        }
        if let Some(gone) = self.gone.take() {
            // No value is ever sent: the channel only closes.
            let _closed = gone.await;
        }
    }
}

impl TransportConnection for WsTransport {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for WsTransport {
    fn drop(&mut self) {
        self.tasks.abort_all();
        self.inbox.close_connection(&SocketEnd::closed().failure);
    }
}

/// The size limits of messages and frames, enforced before they are stored.
fn socket_config(message: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .max_message_size(Some(message))
        .max_frame_size(Some(message))
}

/// The end of a connection.
struct SocketEnd {
    /// The failure of every waiting call.
    failure: Failure,
    /// The close code for the server, unless the server closed the connection.
    goodbye: Option<CloseCode>,
}

impl SocketEnd {
    fn closed() -> Self {
        Self { failure: Failure::Closed { exit: None, sent: true }, goodbye: None }
    }
}

/// The parts that live as long as the connection.
struct SocketLifetime {
    socket: Socket,
    meter: ByteMeter,
    outgoing: OutgoingMessages,
    inbox: Inbox,
}

impl SocketLifetime {
    /// Runs until the server closes or breaks the connection, falls silent, or the owner requests the end.
    async fn run_until_end(self, mut stopped: oneshot::Receiver<()>) {
        let Self { socket, meter, mut outgoing, inbox } = self;
        let (mut outlet, mut incoming) = socket.split();
        let ping = Notify::new();
        let end = {
            let reader = SocketReader { incoming: &mut incoming, meter: &meter, inbox: &inbox, ping: &ping };
            let mut reading = Box::pin(reader.read_until_end());
            let writer =
                SocketWriter { outlet: &mut outlet, outgoing: &mut outgoing, inbox: &inbox, ping: &ping };
            let mut writing = Box::pin(writer.write_until_failure());
            let mut writes = true;
            loop {
                tokio::select! {
                    end = &mut reading => break end,
                    () = &mut writing, if writes => writes = false,
                    // An owner that is dropped aborts this task instead.
                    _ = &mut stopped => break SocketEnd { goodbye: Some(CloseCode::Normal), ..SocketEnd::closed() },
                }
            }
        };
        fail_waiting_calls(&end.failure, outgoing, &inbox);
        // A server that does not read or answer the close frame sees the connection end.
        let _late = tokio::time::timeout(GOODBYE, close_socket(outlet, incoming, end.goodbye)).await;
    }
}

/// Fails every waiting call. Requests that are still queued have certainly not been executed.
fn fail_waiting_calls(failure: &Failure, mut outgoing: OutgoingMessages, inbox: &Inbox) {
    outgoing.close();
    while let Some(queued) = outgoing.try_next() {
        if let Some(call) = queued.call {
            inbox.fail_call(call, Failure::Closed { exit: None, sent: false });
        }
    }
    inbox.close_connection(failure);
}

async fn close_socket(mut outlet: SocketSender, mut incoming: SocketReceiver, code: Option<CloseCode>) {
    let said = match code {
        Some(code) => {
            outlet.send(Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::default() }))).await
        }
        // The library has queued the reply to the server's close frame.
        None => outlet.flush().await,
    };
    if said.is_ok() {
        while let Some(Ok(_)) = incoming.next().await {}
    }
}
