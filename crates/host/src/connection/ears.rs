//! What a server says unasked: its requests are answered, its changes marked.
//!
//! Nothing here waits, so a storm of notifications costs a few instructions each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mcparley_wire::peer::{Boxed, Handler};
use mcparley_wire::{METHOD_NOT_FOUND, RawJson, RpcError};
use serde_json::json;
use tokio::sync::Notify;

use crate::connect::Surroundings;
use crate::log::Log;
use crate::surface::Lists;

/// The host's side of a conversation with a server.
#[derive(Debug)]
pub(crate) struct Ears {
    roots: Option<RawJson>,
    changes: Arc<Changes>,
    log: Arc<Log>,
}

impl Ears {
    /// For a connection that lives too short for changes to matter.
    pub(crate) fn for_a_moment(surroundings: &Surroundings, log: Arc<Log>) -> Self {
        Self::new(surroundings, Arc::default(), log)
    }

    pub(super) fn new(surroundings: &Surroundings, changes: Arc<Changes>, log: Arc<Log>) -> Self {
        Self { roots: roots(surroundings), changes, log }
    }
}

/// The working directories, as `roots/list` answers (X6).
fn roots(surroundings: &Surroundings) -> Option<RawJson> {
    let root = url::Url::from_file_path(&surroundings.places.cwd).ok()?;
    RawJson::of(&json!({ "roots": [{ "uri": root.as_str() }] })).ok()
}

impl Handler for Ears {
    fn request(&self, method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let answer = match method {
            "ping" => RawJson::of(&json!({})).ok(),
            "roots/list" => self.roots.clone(),
            _ => None,
        };
        let refused = || RpcError::new(METHOD_NOT_FOUND, "this client does not offer that method");
        Box::pin(std::future::ready(answer.ok_or_else(refused)))
    }

    fn notification(&self, method: &str, params: Option<RawJson>) {
        match method {
            "notifications/tools/list_changed" => self.changes.mark(Lists::TOOLS),
            "notifications/prompts/list_changed" => self.changes.mark(Lists::PROMPTS),
            "notifications/resources/list_changed" => self.changes.mark(Lists::RESOURCES),
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
