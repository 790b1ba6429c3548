//! Dispatches the requests of a client: one file for each kind.
//!
//! Dropping the future of an answer cancels the request and all of its waits.

mod call;
mod call_request;
mod changes;
mod list;
mod logging;
mod page;
mod roots;
mod strict;

use std::time::Duration;

use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::{Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde_json::json;

use crate::client_abilities::{Caller, RequestMeta};
use crate::response::{handshake, instructions, serialize_result};
use crate::session::GatewaySession;

/// The interval at which parked calls that have expired are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

impl Handler for GatewaySession {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let session = self.clone();
        if &*incoming.method == "initialize" {
            // Negotiated at once, so that the requests after it find the handshake done.
            let agreed = self.negotiate_version(incoming.params.as_ref());
            return Box::pin(async move { session.answer_initialize(&agreed?).await });
        }
        Box::pin(async move { session.answer_request(incoming).await })
    }

    fn handle_notice(&self, notice: Notice) {
        // Cancellations are handled before notifications arrive here.
        if let "notifications/initialized" | "notifications/roots/list_changed" = &*notice.method {
            self.ask_for_roots();
        }
    }

    fn on_connect(&self, peer: &Peer) {
        // A session has one connection.
        let _first = self.shared.peer.set(peer.clone());
    }
}

impl GatewaySession {
    /// Runs the background work of a session: notifies a client of the old era about changed tools and log
    /// messages, requests its roots, and removes parked calls that have expired. Never returns; to be
    /// dropped with the connection.
    pub async fn run_background_work(&self) {
        let sweep = async {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                self.shared.parked.remove_expired();
            }
        };
        tokio::select! {
            () = self.announce_changes() => {}
            () = self.forward_logs() => {}
            () = self.follow_roots() => {}
            () = sweep => {}
        }
    }

    async fn answer_request(&self, incoming: Incoming) -> Result<RawJson, RpcError> {
        let Incoming { id, method, params, replies, cause: _ } = incoming;
        params.as_ref().map_or(Ok(()), strict::reject_duplicate_keys)?;
        let params = params.as_ref();
        let meta = RequestMeta::parse(params)?;
        match &*method {
            // Both methods are allowed before the handshake.
            "ping" if !meta.has_version() => return serialize_result(&json!({})),
            "server/discover" if !meta.has_version() => {
                return self.answer_discover().await;
            }
            _ => {}
        }
        let agreed = *self.lock_handshake();
        let caller = Caller::from_meta(&meta, agreed)?;
        if agreed.is_none() {
            self.expect_roots(caller);
        }
        match (&*method, caller.is_new()) {
            ("server/discover", true) => self.answer_discover().await,
            ("tools/list", _) => self.list_tools(&caller, params).await,
            ("tools/call", _) => {
                Box::pin(self.call_tool(caller, (params, &replies), meta.progress_token)).await
            }
            ("subscriptions/listen", true) => Box::pin(self.answer_listen(&id, params, &replies)).await,
            ("logging/setLevel", false) => self.set_log_level(params),
            _ => {
                Err(RpcError::new(METHOD_NOT_FOUND, &format!("unknown method `{}`", display_method(&method))))
            }
        }
    }

    /// Negotiates the protocol version, as `initialize` requests.
    fn negotiate_version(&self, params: Option<&RawJson>) -> Result<Caller, RpcError> {
        params.map_or(Ok(()), strict::reject_duplicate_keys)?;
        let caller = handshake::negotiate_version(params)?;
        *self.lock_handshake() = Some(caller);
        self.expect_roots(caller);
        Ok(caller)
    }

    /// Answers `initialize`, once servers without remembered instructions have connected, so that theirs are
    /// included.
    async fn answer_initialize(&self, caller: &Caller) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        serialize_result(&handshake::initialize_result(
            caller,
            &instructions::gateway_instructions(self.host()),
        ))
    }

    /// Answers `server/discover`, after the same wait as [`GatewaySession::answer_initialize`].
    async fn answer_discover(&self) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        serialize_result(&handshake::discover_result(&instructions::gateway_instructions(self.host())))
    }
}

/// A method name for an error message: short, with hidden characters escaped.
fn display_method(method: &str) -> String {
    mcparley::model::text::display_line(&method.chars().take(64).collect::<String>()).into_owned()
}
