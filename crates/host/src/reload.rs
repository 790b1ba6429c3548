//! Reload: reads the configuration again and applies the changes, without touching unchanged servers.
//!
//! There is one way for every cause (a file, a request of the embedding program): a new plan, compared by
//! signature with the one in force. Calls on a server whose entry changed have a grace period of some
//! seconds; its successor starts when it has ended.
//!
//! A file that can no longer be read keeps its last content until it can be: an editor leaves half a file
//! for a moment, and stopping all of its servers would be a high price. The other files count as they are
//! now, so that a broken file in a repository holds back no rule of the user. Only the administrator's files
//! count even when they are broken, because then no server may run.

mod connectors;
mod reconnect;
mod watch;

use std::sync::{Arc, PoisonError};

use crate::host::{Host, ServerChanges};
use mcparley_config::ConnectorList;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

pub(crate) use connectors::fetch_connectors;
pub(crate) use watch::watch_config_files;

impl Host {
    /// Reads the configuration again and applies the changes. A host that was given its configuration
    /// ready-made has no source to read from, and does not change.
    pub async fn reload(&self) -> ServerChanges {
        let span = info_span!("reload", added = Empty, removed = Empty, changed = Empty, held_back = Empty);
        let change = self.read_and_apply().instrument(span.clone()).await;
        span.record("added", change.added.len());
        span.record("removed", change.removed.len());
        span.record("changed", change.changed.len());
        span.record("held_back", change.held_back.len());
        change
    }

    async fn read_and_apply(&self) -> ServerChanges {
        let Some(sources) = self.config_sources() else { return ServerChanges::default() };
        let _turn = sources.turn.lock().await;
        let Some(loaded) = sources.reload_config(self.loaded_config()).await else {
            return ServerChanges::default();
        };
        let held_back = loaded.stale_file_problems().to_vec();
        ServerChanges { held_back, ..self.apply_plan(Arc::new(loaded)) }
    }

    /// Replaces the servers that the embedding program adds, as `--mcp-config` does: each a path or JSON.
    pub async fn set_servers(&self, servers: Vec<String>) -> ServerChanges {
        if let Some(sources) = self.config_sources() {
            sources.run_options.lock().unwrap_or_else(PoisonError::into_inner).mcp_config = servers;
        }
        self.reload().await
    }

    /// Replaces the connectors by those that were just fetched: start-up need not wait for them.
    pub async fn set_connectors(&self, connectors: ConnectorList) -> ServerChanges {
        if let Some(sources) = self.config_sources() {
            *sources.connectors.lock().unwrap_or_else(PoisonError::into_inner) = connectors;
        }
        self.reload().await
    }
}
