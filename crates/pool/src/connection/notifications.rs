//! Handler for messages from a server: dispatches its requests to [`ServerRequests`] and records its
//! notifications.
//!
//! The notification path never waits, so a flood of notifications costs a few instructions each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mcparley_model::limits::MESSAGE_BYTES;
use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{Cause, INTERNAL, Incoming, Notice, RawJson, RpcError};
use serde_json::json;
use tokio::sync::Notify;

use super::resource_watches::ResourceWatches;
use crate::log::ServerLog;
use crate::roots::RootsGate;
use crate::server_requests::ServerRequests;
use crate::surface::ListSet;

/// The request of a server for its roots.
const ROOTS: &str = "roots/list";

/// The handler for requests and notifications of one server.
#[derive(Debug)]
pub struct Notifications {
    server_requests: Arc<ServerRequests>,
    changes: Arc<ListChanges>,
    watched: Arc<ResourceWatches>,
    log: Arc<ServerLog>,
    gate: Arc<RootsGate>,
    message_limit: usize,
}

impl Notifications {
    /// A handler for a short-lived connection, which ignores list changes.
    pub fn for_short_connection(server_requests: ServerRequests, log: Arc<ServerLog>) -> Self {
        Self::new(Arc::new(server_requests), Arc::default(), log)
    }

    pub(super) fn new(
        server_requests: Arc<ServerRequests>,
        changes: Arc<ListChanges>,
        log: Arc<ServerLog>,
    ) -> Self {
        let (watched, gate) = Default::default();
        Self { server_requests, changes, watched, log, gate, message_limit: MESSAGE_BYTES }
    }

    /// Tracks whether the server has read its roots.
    pub(super) fn roots_gate(&self) -> &Arc<RootsGate> {
        &self.gate
    }

    /// Answers `roots/list`, and records in the gate that the server knows these roots.
    fn answer_roots_list(&self, cause: Cause) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        self.gate.record_request();
        let (server_requests, gate) = (Arc::clone(&self.server_requests), Arc::clone(&self.gate));
        Box::pin(async move {
            if let Some(answer) = server_requests.relay_roots(cause).await {
                return answer;
            }
            let (version, roots) = server_requests.roots().to_result().await;
            gate.record_version(version);
            RawJson::from_value(&roots).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
        })
    }

    /// This handler with a limit for the size of messages.
    pub fn with_message_limit(self, message_limit: usize) -> Self {
        Self { message_limit, ..self }
    }

    /// This handler with the watched resources that are told of updates.
    pub(super) fn with_watches(self, watched: Arc<ResourceWatches>) -> Self {
        Self { watched, ..self }
    }
}

impl Handler for Notifications {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        if let ("ping", Ok(pong)) = (&*incoming.method, RawJson::from_value(&json!({}))) {
            return Box::pin(std::future::ready(Ok(pong)));
        }
        self.server_requests.observe_request(&incoming.method);
        // In the old era a server keeps its roots for all calls, so they are never those of one call.
        if &*incoming.method == ROOTS {
            return self.answer_roots_list(incoming.cause);
        }
        let server_requests = Arc::clone(&self.server_requests);
        Box::pin(async move { server_requests.answer_request(incoming).await })
    }

    fn on_request_done(&self, method: &str) {
        if method == ROOTS {
            self.gate.record_answer();
        }
    }

    fn message_limit(&self) -> usize {
        self.message_limit
    }

    fn handle_notice(&self, notice: Notice) {
        let Notice { method, params, cause } = &notice;
        let cause = *cause;
        match &**method {
            "notifications/tools/list_changed" => self.changes.mark_lists(ListSet::TOOLS),
            "notifications/prompts/list_changed" => self.changes.mark_lists(ListSet::PROMPTS),
            "notifications/resources/list_changed" => self.changes.mark_lists(ListSet::RESOURCES),
            "notifications/resources/updated" => self.watched.handle_update(params.as_ref()),
            "notifications/elicitation/complete" => {
                self.server_requests.handle_visit_notification(params.as_ref())
            }
            "notifications/tasks/status" | "notifications/tasks" => {
                self.server_requests.task_notify().notify_waiters();
                self.server_requests.forward_notice(&notice);
            }
            "notifications/message" => {
                let is_relayed = self.server_requests.relay_log(cause, params.as_ref());
                let principal = || self.server_requests.principal_for(cause, params.as_ref());
                self.log.add_message(params.as_ref(), (!is_relayed).then_some(principal));
            }
            _ => self.server_requests.forward_notice(&notice),
        }
    }
}

/// The lists that are to be fetched again.
#[derive(Debug, Default)]
pub(super) struct ListChanges {
    announced: AtomicU8,
    missed: AtomicU8,
    news: Notify,
}

/// Lists that are to be fetched again, by the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangedLists {
    /// The server announced that they changed.
    pub(super) announced: ListSet,
    /// They may have changed while the server could not announce it.
    pub(super) missed: ListSet,
}

impl ListChanges {
    /// Marks lists as announced to have changed, and wakes the refresh.
    pub(super) fn mark_lists(&self, lists: ListSet) {
        self.mark(&self.announced, lists);
    }

    /// Marks lists that may have changed without an announcement, and wakes the refresh.
    pub(super) fn mark_missed(&self, lists: ListSet) {
        self.mark(&self.missed, lists);
    }

    fn mark(&self, marks: &AtomicU8, lists: ListSet) {
        if marks.fetch_or(lists.bits(), Ordering::AcqRel) & lists.bits() != lists.bits() {
            self.news.notify_one();
        }
    }

    /// Waits until a list is marked.
    pub(super) async fn wait_for_marks(&self) {
        while self.announced.load(Ordering::Acquire) == 0 && self.missed.load(Ordering::Acquire) == 0 {
            self.news.notified().await;
        }
    }

    /// Takes the marked lists and clears the marks.
    pub(super) fn take_lists(&self) -> ChangedLists {
        let take = |marks: &AtomicU8| ListSet::from_bits(marks.swap(0, Ordering::AcqRel));
        ChangedLists { announced: take(&self.announced), missed: take(&self.missed) }
    }
}

impl ChangedLists {
    pub(super) fn union(self, more: Self) -> Self {
        Self { announced: self.announced.union(more.announced), missed: self.missed.union(more.missed) }
    }
}
