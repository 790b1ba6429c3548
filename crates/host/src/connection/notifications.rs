//! What a server says unasked: its requests are answered at its [`ServerRequests`], beside everything else, and its changes
//! marked.
//!
//! Nothing here waits, so a storm of notifications costs a few instructions each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mcparley_model::limits::MESSAGE_BYTES;
use mcparley_wire::peer::{Boxed, Handler};
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde_json::json;
use tokio::sync::Notify;

use super::watched::Watched;
use crate::elicit::ServerRequests;
use crate::log::Log;
use crate::roots::RootsGate;
use crate::surface::Lists;

/// A server's question for its roots.
const ROOTS: &str = "roots/list";

/// The host's side of a conversation with a server.
#[derive(Debug)]
pub(crate) struct Notifications {
    server_requests: Arc<ServerRequests>,
    changes: Arc<Changes>,
    watched: Arc<Watched>,
    log: Arc<Log>,
    gate: Arc<RootsGate>,
    message_limit: usize,
}

impl Notifications {
    /// For a connection that lives too short for changes to matter.
    pub(crate) fn for_a_moment(server_requests: ServerRequests, log: Arc<Log>) -> Self {
        Self::new(Arc::new(server_requests), Arc::default(), log)
    }

    pub(super) fn new(server_requests: Arc<ServerRequests>, changes: Arc<Changes>, log: Arc<Log>) -> Self {
        let (watched, gate) = Default::default();
        Self { server_requests, changes, watched, log, gate, message_limit: MESSAGE_BYTES }
    }

    /// What is known of the roots that the server reads.
    pub(super) fn roots_gate(&self) -> &Arc<RootsGate> {
        &self.gate
    }

    /// Answers with the roots of the server.
    fn list_roots(&self) -> Boxed<'static, Result<RawJson, RpcError>> {
        self.gate.begin();
        let (server_requests, gate) = (Arc::clone(&self.server_requests), Arc::clone(&self.gate));
        Box::pin(async move {
            let (version, roots) = server_requests.roots().to_result().await;
            gate.tell(version);
            RawJson::of(&roots).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
        })
    }

    /// The same for messages of at most so many bytes.
    pub(crate) fn taking(self, message_limit: usize) -> Self {
        Self { message_limit, ..self }
    }

    /// The same, telling whoever watches resources.
    pub(super) fn telling(self, watched: Arc<Watched>) -> Self {
        Self { watched, ..self }
    }
}

impl Handler for Notifications {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        if let ("ping", Ok(pong)) = (method, RawJson::of(&json!({}))) {
            return Box::pin(std::future::ready(Ok(pong)));
        }
        if method == ROOTS {
            return self.list_roots();
        }
        let (server_requests, method) = (Arc::clone(&self.server_requests), method.to_owned());
        Box::pin(async move { server_requests.answer(&method, params).await })
    }

    fn answered(&self, method: &str) {
        if method == ROOTS {
            self.gate.end();
        }
    }

    fn message_limit(&self) -> usize {
        self.message_limit
    }

    fn notification(&self, method: &str, params: Option<RawJson>) {
        match method {
            "notifications/tools/list_changed" => self.changes.mark(Lists::TOOLS),
            "notifications/prompts/list_changed" => self.changes.mark(Lists::PROMPTS),
            "notifications/resources/list_changed" => self.changes.mark(Lists::RESOURCES),
            "notifications/resources/updated" => self.watched.updated(params.as_ref()),
            "notifications/elicitation/complete" => self.server_requests.visited(params.as_ref()),
            "notifications/tasks/status" | "notifications/tasks" => {
                self.server_requests.task_news().notify_waiters()
            }
            "notifications/message" => self.log.message(params.as_ref()),
            _ => {}
        }
    }
}

/// The lists that are not what they were.
#[derive(Debug, Default)]
pub(super) struct Changes {
    marked: AtomicU8,
    news: Notify,
}

impl Changes {
    pub(super) fn mark(&self, lists: Lists) {
        if self.marked.fetch_or(lists.bits(), Ordering::AcqRel) & lists.bits() != lists.bits() {
            self.news.notify_one();
        }
    }

    /// Waits until something is marked.
    pub(super) async fn news(&self) {
        while self.marked.load(Ordering::Acquire) == 0 {
            self.news.notified().await;
        }
    }

    /// What is marked; from now on nothing is.
    pub(super) fn take(&self) -> Lists {
        Lists::from_bits(self.marked.swap(0, Ordering::AcqRel))
    }
}
