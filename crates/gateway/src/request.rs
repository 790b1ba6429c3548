//! Dispatches the requests of a client: one file for each kind.
//!
//! Dropping the future of an answer cancels the request and all of its waits.

mod call;
mod call_request;
mod changes;
mod durable_tasks;
mod extension;
mod list;
mod logging;
mod mapped_tasks;
mod names;
mod notices;
pub(crate) mod outcome_slot;
mod owner;
mod relay;
pub(crate) mod request_span;
mod resources;
mod roots;
mod server_state;
mod strict;
mod subscribe;
mod task_ids;
mod tasks;
mod visits;

use std::time::Duration;

use std::sync::atomic::Ordering;

use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::{Incoming, JsonPieces, Notice, RawJson, Replies, RpcError};
use serde_json::json;

use crate::client_abilities::{Caller, RequestMeta, bounded_name};
use crate::request::relay::RelayedRequest;
use crate::request::request_span::TraceHeaders;
use crate::response::{handshake, instructions, serialize_result};
use crate::session::GatewaySession;
use crate::session::client_tasks::ClientTasks;
use crate::view::ListKind;

/// The interval at which parked calls that have expired are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

impl Handler for GatewaySession {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = self.handle_request_in_pieces(incoming);
        Box::pin(async move { answer.await.map(JsonPieces::into_json) })
    }

    fn handle_request_in_pieces(
        &self,
        incoming: Incoming,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        self.answer_in_span(incoming, &TraceHeaders::default())
    }

    fn handle_notice(&self, notice: Notice) {
        // Cancellations are handled before notifications arrive here.
        match &*notice.method {
            "notifications/initialized" if self.shared.roots.is_given.load(Ordering::Relaxed) => {}
            "notifications/initialized" | "notifications/roots/list_changed" => self.ask_for_roots(),
            _ => self.relay_extension_notice(&notice),
        }
    }

    fn on_connect(&self, peer: &Peer) {
        self.open_channel(Replies::over_peer(peer));
    }
}

impl GatewaySession {
    /// Runs the background work of a session: notifies a client of the old era about changed tools and log
    /// messages, requests its roots, and removes parked calls that have expired. Never returns; to be
    /// dropped with the connection.
    pub async fn run_background_work(&self) {
        let _tasks = CancelResultsOnDrop(&self.shared.tasks);
        let sweep = async {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                self.shared.parked.remove_expired();
            }
        };
        tokio::select! {
            () = self.announce_changes() => {}
            () = self.forward_logs() => {}
            () = self.forward_visits() => {}
            () = self.forward_notices() => {}
            () = self.follow_roots() => {}
            () = sweep => {}
        }
    }

    /// Answers a request of any method.
    fn answer_incoming(&self, incoming: Incoming) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        let session = self.clone();
        if &*incoming.method == "initialize" {
            // Negotiated at once, so that the requests after it find the handshake done.
            let agreed = self.negotiate_version(incoming.params.as_ref());
            return Box::pin(async move { session.answer_initialize(&agreed?).await.map(JsonPieces::from) });
        }
        Box::pin(async move { session.answer_request(incoming).await })
    }

    async fn answer_request(&self, incoming: Incoming) -> Result<JsonPieces, RpcError> {
        let Incoming { id, method, params, replies, cause: _ } = incoming;
        params.as_ref().map_or(Ok(()), strict::reject_duplicate_keys)?;
        let params = params.as_ref();
        let meta = RequestMeta::parse(params)?;
        match &*method {
            // Both methods are allowed before the handshake.
            "ping" if !meta.has_version() => return serialize_result(&json!({})).map(JsonPieces::from),
            "server/discover" if !meta.has_version() => {
                return self.answer_discover().await.map(JsonPieces::from);
            }
            _ => {}
        }
        if self.shared.gateway.cluster().is_some()
            && let Some(answer) = Box::pin(self.answer_at_owner(&id, &method, params, &replies)).await
        {
            return answer.map(JsonPieces::from);
        }
        let agreed = *self.lock_handshake();
        let caller = Caller::from_meta(&meta, agreed)?;
        if agreed.is_none() {
            self.expect_roots(caller);
        }
        let relayed = RelayedRequest { caller, meta: &meta, replies: &replies };
        let answer = match (&*method, caller.is_new()) {
            ("tools/call", _) => return Box::pin(self.call_tool(caller, (params, &replies), &meta)).await,
            ("server/discover", true) => self.answer_discover().await,
            ("tools/list", _) => self.list_tools(&caller, params).await,
            ("prompts/list", _) => self.list_items(ListKind::Prompts, &caller, params).await,
            ("prompts/get", _) => Box::pin(self.fetch_prompt(relayed, params)).await,
            ("resources/list", _) => self.list_items(ListKind::Resources, &caller, params).await,
            ("resources/templates/list", _) => self.list_items(ListKind::Templates, &caller, params).await,
            ("resources/read", _) => Box::pin(self.read_resource(relayed, params)).await,
            ("resources/directory/read", _) => Box::pin(self.read_directory(relayed, params)).await,
            ("resources/subscribe", false) => Box::pin(self.subscribe_resource(&caller, params)).await,
            ("resources/unsubscribe", false) => self.unsubscribe_resource(params),
            ("completion/complete", _) => Box::pin(self.complete_argument(relayed, params)).await,
            ("skills/list", _) => self.list_items(ListKind::Skills, &caller, params).await,
            ("skills/get", _) => Box::pin(self.fetch_skill(relayed, params)).await,
            ("subscriptions/listen", true) => {
                Box::pin(self.answer_listen(&caller, &id, params, &replies)).await
            }
            ("logging/setLevel", false) => self.set_log_level(params),
            (method, _) if tasks::task_method(method, &caller).is_some() => {
                let method = tasks::task_method(method, &caller).unwrap_or_default();
                Box::pin(self.answer_task_request(relayed, method, params)).await
            }
            _ => Box::pin(self.relay_extension(relayed, &method, params)).await,
        };
        answer.map(JsonPieces::from)
    }

    /// Negotiates the protocol version, as `initialize` requests.
    fn negotiate_version(&self, params: Option<&RawJson>) -> Result<Caller, RpcError> {
        params.map_or(Ok(()), strict::reject_duplicate_keys)?;
        let caller = handshake::negotiate_version(params)?;
        let info = params.and_then(|params| params.member("clientInfo")?.decode().ok());
        if let Some(name) = info.as_ref().and_then(bounded_name) {
            let _first = self.shared.client.set(name);
        }
        *self.lock_handshake() = Some(caller);
        self.expect_roots(caller);
        Ok(caller)
    }

    /// Answers `initialize`, once servers without remembered instructions have connected, so that theirs are
    /// included.
    async fn answer_initialize(&self, caller: &Caller) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        let view = self.shared.gateway.view();
        let instructions = instructions::client_instructions(self.host(), &view);
        serialize_result(&handshake::initialize_result(caller, &view, instructions.as_deref()))
    }

    /// Answers `server/discover`, after the same wait as [`GatewaySession::answer_initialize`].
    async fn answer_discover(&self) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        let view = self.shared.gateway.view();
        let instructions = instructions::client_instructions(self.host(), &view);
        serialize_result(&handshake::discover_result(&view, instructions.as_deref()))
    }
}

/// Cancels the requests for results of tasks when the client is gone: such a request holds its session.
struct CancelResultsOnDrop<'s>(&'s ClientTasks);

impl Drop for CancelResultsOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel_results();
    }
}
