//! MCP between one client and one server: the client's socket is served like a gateway's client, with the server
//! unchanged behind it.
//!
//! When the server ends, no open request is answered any more: the client gets the exit status and the end of
//! its stream, as it would from a process of its own, and decides itself which calls to repeat.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_gateway::client_handler;
use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::transport::attached::{
    ENDED_NOTICE, LOGS_NOTICE, MOVED_NOTICE, STDERR_NOTICE, StderrText,
};
use mcparley_wire::transport::served::serve_client;
use mcparley_wire::transport::stdio::StderrFollower;
use mcparley_wire::{AgreedProtocol, Incoming, JsonPieces, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use crate::copy_table::CopyTable;
use crate::server_copy::ServerCopy;
use crate::share_facts::ShareFacts;

/// The time for a client to read the exit status.
const EXIT_STATUS_TIME: Duration = Duration::from_millis(200);

/// The client of a channel.
pub(crate) struct ChannelClient {
    /// The number of the client.
    pub(crate) id: u64,
    pub(crate) facts: Arc<ShareFacts>,
    pub(crate) table: Arc<CopyTable>,
    /// The standard error of the server from where the client has not read it.
    pub(crate) stderr: Option<StderrFollower>,
    /// Becomes true when the client has to write the log of its project.
    pub(crate) logs: watch::Receiver<bool>,
    /// The digest of the lists that the client may have, and does not fetch then.
    pub(crate) lists: Option<String>,
}

/// Serves a client until it leaves or the server ends.
pub(crate) async fn serve_channel(
    copy: &Arc<ServerCopy>,
    client: ChannelClient,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) {
    let ChannelClient { id, facts, table, stderr, logs, lists } = client;
    let Some(protocol) = copy.protocol() else { return };
    let inner = client_handler(&copy.gateway, &format!("daemon:{id}"), facts.roots.clone());
    let (opened, peer) = oneshot::channel();
    let handler =
        ChannelHandler { inner, protocol, copy: Arc::clone(copy), opened: Mutex::new(Some(opened)) };
    let mut serving = Box::pin(serve_client(input, output, Arc::new(handler)));
    let moved = wait_until_moved(copy, &facts, &table);
    let ending = async {
        // The handler is given its peer before the first message.
        let Ok(peer) = peer.await else { return std::future::pending().await };
        announce_changed_lists(copy, &peer, lists).await;
        send_until_end(copy, &peer, (stderr, logs), moved).await;
    };
    tokio::select! {
        () = &mut serving => {}
        () = ending => {}
    }
}

/// Waits until the copy is retired, or its server turns out to need a copy for clients like this one.
async fn wait_until_moved(copy: &ServerCopy, facts: &ShareFacts, table: &CopyTable) {
    let mut keys = copy.follow_key();
    loop {
        // The sender lives as long as the copy.
        let _changed = keys.changed().await;
        if !table.may_keep(copy, facts) {
            return;
        }
    }
}

/// Announces lists that have changed since the client got their digest. Later changes are announced by its session.
async fn announce_changed_lists(copy: &ServerCopy, peer: &Peer, lists: Option<String>) {
    if lists.is_none() || lists == copy.surface_digest() {
        return;
    }
    for list in ["tools", "prompts", "resources"] {
        let method = format!("notifications/{list}/list_changed");
        send_notice(peer, &method, &serde_json::Map::new()).await;
    }
}

/// Sends new standard error, the wishes that the client leaves or writes the log, and the exit status once the server has ended.
async fn send_until_end(
    copy: &ServerCopy,
    peer: &Peer,
    (mut stderr, mut logs): (Option<StderrFollower>, watch::Receiver<bool>),
    moved: impl Future<Output = ()>,
) {
    tokio::pin!(moved);
    let mut is_moved = false;
    let ended = loop {
        let said = async {
            match &mut stderr {
                Some(stderr) => stderr.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // First, so that the client writes the next text.
            Ok(()) = logs.changed() => {
                if *logs.borrow_and_update() {
                    send_notice(peer, LOGS_NOTICE, &serde_json::Map::new()).await;
                }
            }
            text = said => send_notice(peer, STDERR_NOTICE, &StderrText { text }).await,
            ended = copy.wait_until_ended() => break ended,
            () = &mut moved, if !is_moved => {
                is_moved = true;
                send_notice(peer, MOVED_NOTICE, &serde_json::Map::new()).await;
            }
        }
    };
    if let Some(text) = stderr.as_mut().and_then(StderrFollower::take_new) {
        send_notice(peer, STDERR_NOTICE, &StderrText { text }).await;
    }
    send_notice(peer, ENDED_NOTICE, &ended).await;
    peer.flush(EXIT_STATUS_TIME).await;
}

async fn send_notice(peer: &Peer, method: &str, params: &impl Serialize) {
    let params = serde_json::to_value(params).ok().and_then(|params| RawJson::from_value(&params).ok());
    // A client that is gone or does not read needs no notice.
    let _unread = tokio::time::timeout(EXIT_STATUS_TIME, peer.notify(method, params.as_ref())).await;
}

/// Handles the messages of one client.
struct ChannelHandler {
    inner: Arc<dyn Handler>,
    /// The protocol of the server, which the client has to speak too: so it sees the server as it is.
    protocol: AgreedProtocol,
    copy: Arc<ServerCopy>,
    /// Gets the peer once the channel is open.
    opened: Mutex<Option<oneshot::Sender<Peer>>>,
}

impl ChannelHandler {
    /// The request as the server's protocol version wants it; an error if its era does not have it.
    fn adapt_request(&self, incoming: &mut Incoming) -> Result<(), RpcError> {
        let is_foreign = match (&self.protocol, &*incoming.method) {
            (AgreedProtocol::Old(_), "server/discover") | (AgreedProtocol::New, "initialize") => true,
            (AgreedProtocol::Old(_) | AgreedProtocol::New, _) => false,
        };
        if is_foreign {
            return Err(RpcError::new(METHOD_NOT_FOUND, "method not found"));
        }
        if &*incoming.method == "initialize"
            && let Some(Ok(mut params)) = incoming.params.as_ref().map(RawJson::decode::<Value>)
        {
            params["protocolVersion"] = self.protocol.version().as_str().into();
            incoming.params = RawJson::from_value(&params).ok();
        }
        Ok(())
    }
}

impl Handler for ChannelHandler {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = self.handle_request_in_pieces(incoming);
        Box::pin(async move { answer.await.map(JsonPieces::into_json) })
    }

    fn handle_request_in_pieces(
        &self,
        mut incoming: Incoming,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        if let Err(error) = self.adapt_request(&mut incoming) {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (answer, copy) = (self.inner.handle_request_in_pieces(incoming), Arc::clone(&self.copy));
        Box::pin(async move {
            let answer = answer.await;
            if answer.is_err() || copy.is_over() {
                // The end of the server is told by the end of the stream, never by an answer in its place.
                wait_if_over(&copy).await;
            }
            answer
        })
    }

    fn handle_notice(&self, notice: Notice) {
        self.inner.handle_notice(notice);
    }

    fn on_request_done(&self, method: &str) {
        self.inner.on_request_done(method);
    }

    fn message_limit(&self) -> usize {
        self.inner.message_limit()
    }

    fn on_connect(&self, peer: &Peer) {
        self.inner.on_connect(peer);
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(opened) = opened {
            // The channel may have ended already.
            let _gone = opened.send(peer.clone());
        }
    }
}

/// Waits for the end of the channel if the server has ended; returns at once otherwise.
async fn wait_if_over(copy: &ServerCopy) {
    if copy.is_over() {
        std::future::pending::<()>().await;
    }
}
