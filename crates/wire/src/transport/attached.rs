//! Attached transport: a local server that another process of the user runs, such as the daemon.
//!
//! The stream carries MCP messages, one per line. Some notifications of the other process are for this transport
//! and reach no handler: [`STDERR_NOTICE`] with new standard error of the server, and [`ENDED_NOTICE`] with its
//! exit status. So a failure reads the same as for a child process of our own. [`MOVED_NOTICE`] makes the client
//! leave without losing a request, and [`LOGS_NOTICE`] makes it write the server's log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use super::line;
use super::queue::{OutgoingMessages, SendQueue};
use super::stdio::Stderr;
use crate::failure::{Failure, RpcError, ServerExit};
use crate::handshake::TransportConnection;
use crate::json_pieces::JsonPieces;
use crate::peer::incoming::{Incoming, Notice};
use crate::peer::{BoxedFuture, Handler, Inbox, Peer, StrayRecord};
use crate::task::OwnedTasks;
use mcparley_json::RawJson;

/// The notification with new standard error of the server: [`StderrText`].
pub const STDERR_NOTICE: &str = "mcparley/stderr";

/// The notification that the server has ended: [`EndedServer`].
pub const ENDED_NOTICE: &str = "mcparley/ended";

/// The notification that the client has to leave this server, after its open requests, and attach again.
pub const MOVED_NOTICE: &str = "mcparley/moved";

/// The notification that the client writes the server's standard error to the log of its project from now on.
pub const LOGS_NOTICE: &str = "mcparley/logs";

/// Timeout for sending the queued messages before the end.
const SHUTDOWN_FLUSH_TIME: Duration = Duration::from_millis(100);

/// Parameters of [`STDERR_NOTICE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StderrText {
    /// The text.
    pub text: String,
}

/// Parameters of [`ENDED_NOTICE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedServer {
    /// The exit code of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl From<EndedServer> for ServerExit {
    fn from(EndedServer { code, signal }: EndedServer) -> Self {
        Self { code, signal, loss: None }
    }
}

/// The server of an attached transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachedProcess {
    /// The number that the other process gave this copy of the server.
    pub copy: u64,
    /// The process id of the server.
    pub id: Option<u32>,
}

/// A connection to a server that another process runs. Dropping it detaches from the server, which goes on.
#[derive(Debug)]
pub struct AttachedTransport {
    peer: Peer,
    copy: AttachedProcess,
    strays: StrayRecord,
    moved: watch::Receiver<bool>,
    /// Taken to request the end.
    stop: Option<oneshot::Sender<()>>,
    tasks: OwnedTasks,
}

impl AttachedTransport {
    /// Speaks MCP on these streams with this server; its standard error goes to `stderr`.
    pub fn start(
        (input, output): (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static),
        copy: AttachedProcess,
        stderr: Stderr,
        handler: Arc<dyn Handler>,
    ) -> Self {
        let (queue, outgoing) = SendQueue::new();
        let exit = Arc::<Mutex<Option<EndedServer>>>::default();
        let (move_sender, moved) = watch::channel(false);
        let handler = NoticeFilter { inner: handler, stderr, exit: Arc::clone(&exit), moved: move_sender };
        let (peer, inbox) = Peer::new(Box::new(queue), Arc::new(handler));
        let strays = inbox.stray_record();
        let (stop, stopped) = oneshot::channel();
        let tasks = OwnedTasks::default();
        let lifetime = AttachedLifetime { inbox, exit };
        tasks.spawn(lifetime.run_until_end(input, output, outgoing, stopped));
        Self { peer, copy, strays, moved, stop: Some(stop), tasks }
    }

    /// Our end of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The server: its number and its process id.
    #[must_use]
    pub fn process(&self) -> AttachedProcess {
        self.copy
    }

    /// The stray record, readable also when the server is gone.
    #[must_use]
    pub fn stray_record(&self) -> StrayRecord {
        self.strays.clone()
    }

    /// Waits until the other process wants the client to leave this server. Cancel safe.
    pub async fn wait_until_moved(&self) {
        let mut moved = self.moved.clone();
        if moved.wait_for(|moved| *moved).await.is_err() {
            // The connection has ended, which is noticed elsewhere.
            std::future::pending::<()>().await;
        }
    }

    /// Detaches from the server after the queued messages.
    pub async fn stop(mut self) {
        self.peer.flush(SHUTDOWN_FLUSH_TIME).await;
        if let Some(stop) = self.stop.take() {
            // A closed channel means that the connection has ended already.
            let _ended = stop.send(());
        }
        self.peer.wait_until_ended().await;
    }
}

impl TransportConnection for AttachedTransport {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for AttachedTransport {
    fn drop(&mut self) {
        self.tasks.abort_all();
    }
}

/// The state that lives as long as the connection, which it closes when it is dropped.
struct AttachedLifetime {
    inbox: Inbox,
    exit: Arc<Mutex<Option<EndedServer>>>,
}

impl AttachedLifetime {
    /// Runs until the other process closes the stream or the owner requests the end.
    async fn run_until_end(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
        outgoing: OutgoingMessages,
        mut stopped: oneshot::Receiver<()>,
    ) {
        let mut writing = Box::pin(line::write_lines(outgoing, output));
        let mut reading = Box::pin(line::read_lines(input, &self.inbox));
        let mut writes = true;
        loop {
            tokio::select! {
                () = &mut reading => return,
                // A stream that takes no more messages also ends its input soon.
                _ = &mut writing, if writes => writes = false,
                // An owner that is dropped aborts this task instead.
                _ = &mut stopped => return,
            }
        }
    }
}

impl Drop for AttachedLifetime {
    fn drop(&mut self) {
        let exit = self.exit.lock().unwrap_or_else(PoisonError::into_inner).map(ServerExit::from);
        self.inbox.close_connection(&Failure::Closed { exit, sent: true });
    }
}

/// Handles the notifications for this transport, and passes all others on.
struct NoticeFilter {
    inner: Arc<dyn Handler>,
    stderr: Stderr,
    exit: Arc<Mutex<Option<EndedServer>>>,
    moved: watch::Sender<bool>,
}

impl Handler for NoticeFilter {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        self.inner.handle_request(incoming)
    }

    fn handle_request_in_pieces(
        &self,
        incoming: Incoming,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        self.inner.handle_request_in_pieces(incoming)
    }

    fn handle_notice(&self, notice: Notice) {
        let params = notice.params.as_ref();
        match &*notice.method {
            STDERR_NOTICE => {
                if let Some(said) = params.and_then(|params| params.decode::<StderrText>().ok()) {
                    self.stderr.push_bytes(said.text.as_bytes());
                }
            }
            ENDED_NOTICE => {
                let ended = params.and_then(|params| params.decode::<EndedServer>().ok());
                *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = ended;
            }
            LOGS_NOTICE => self.stderr.take_over_logging(),
            MOVED_NOTICE => drop(self.moved.send_replace(true)),
            _ => self.inner.handle_notice(notice),
        }
    }

    fn on_request_done(&self, method: &str) {
        self.inner.on_request_done(method);
    }

    fn message_limit(&self) -> usize {
        self.inner.message_limit()
    }

    fn on_connect(&self, peer: &Peer) {
        self.inner.on_connect(peer);
    }
}
