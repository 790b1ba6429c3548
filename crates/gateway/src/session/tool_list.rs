//! The tool list that a client got last, and the tools it has found by tool search.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::FOUND_TOOLS;
use tokio::sync::{Notify, OnceCell, watch};

use crate::response::item::ToolListItem;

/// The tool list of one client.
#[derive(Debug, Default)]
pub(crate) struct ClientToolList {
    /// Whether the first list has waited for connecting servers; later lists do not wait.
    pub(crate) first: OnceCell<()>,
    shown: Mutex<ShownTools>,
    /// Whether the client has requested a list.
    has_begun: watch::Sender<bool>,
    found: Notify,
    /// Notified when the client has got its lists from another gateway of the cluster.
    pub(crate) assumed: Notify,
}

/// The tool list that a client got last.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownTools {
    /// The number of lists that the client has requested.
    pub(crate) count: u64,
    pub(crate) items: Arc<Vec<ToolListItem>>,
    /// The state that the items are of: the catalog, the number of found tools, and whether apps are shown.
    pub(crate) items_of: Option<(u64, usize, bool)>,
    /// The tools that the client has found by tool search, the newest last.
    pub(crate) found: Vec<String>,
    /// The digest of the prompts that the client got last.
    pub(crate) prompts: Option<u64>,
    /// The digest of the resources that the client got last.
    pub(crate) resources: Option<u64>,
}

impl ClientToolList {
    pub(crate) fn lock_shown(&self) -> MutexGuard<'_, ShownTools> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the list that the client gets, with the revision of the catalog and whether apps are shown.
    pub(crate) fn replace_list(&self, items: Arc<Vec<ToolListItem>>, (revision, has_apps): (u64, bool)) {
        let mut shown = self.lock_shown();
        shown.count += 1;
        shown.items_of = Some((revision, shown.found.len(), has_apps));
        shown.items = items;
        drop(shown);
        self.has_begun.send_replace(true);
    }

    /// Stores the digest of a list that the client gets.
    pub(crate) fn note_list(&self, note: impl FnOnce(&mut ShownTools)) {
        note(&mut self.lock_shown());
        self.has_begun.send_replace(true);
    }

    /// Adds tools that the client has found, so that they belong to its list from now on.
    pub(crate) fn add_found(&self, names: impl IntoIterator<Item = String>) {
        let mut shown = self.lock_shown();
        for name in names {
            if !shown.found.contains(&name) && shown.found.len() < FOUND_TOOLS {
                shown.found.push(name);
            }
        }
        self.found.notify_one();
    }

    /// Waits until the client has requested its list. The catalog is not read before: the order of tools is
    /// fixed by the first read, and servers connect in any order.
    pub(crate) async fn wait_for_first(&self) {
        let mut begun = self.has_begun.subscribe();
        // The sender lives as long as this value, so waiting cannot fail.
        let _begun = begun.wait_for(|begun| *begun).await;
    }

    /// Waits until a search of the client has changed its list.
    pub(crate) async fn wait_for_found(&self) {
        self.found.notified().await;
    }
}
