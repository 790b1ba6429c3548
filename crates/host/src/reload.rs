//! Reads the configuration again and puts what changed into force, without touching the rest (C13, C11).
//!
//! Whatever the cause (a file, a wish of the embedding program), the way is the same: a new plan, compared with the
//! one in force by signature. Calls on a server whose entry changed may finish for some seconds; its successor
//! starts when it is gone.
//!
//! A file that can no longer be read changes nothing until it can be: half a file is what an editor leaves for a
//! moment, and stopping every server of it would be a high price. Only the administrator's files count even when
//! they are broken, because then nothing may run (C5).

mod connectors;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::name::ServerName;
use serde::Serialize;

use crate::host::Host;
use crate::places::Places;
use crate::sources::{Known, Loaded, Problem, Wishes, load};

pub(crate) use connectors::ask_for_connectors;
pub(crate) use watch::follow;

/// What a new plan has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Servers that were not there before.
    pub added: Vec<ServerName>,
    /// Servers that are there no more.
    pub removed: Vec<ServerName>,
    /// Servers that are another one now, so that they were started anew.
    pub changed: Vec<ServerName>,
    /// Files that could be read before and cannot now; until they can, everything stays as it is.
    pub held_back: Vec<Problem>,
}

/// Where a host's configuration comes from.
#[derive(Debug)]
pub(crate) struct Sources {
    places: Places,
    wishes: Mutex<Wishes>,
    /// What is known of the organisation's connectors; reading files again does not ask for them again.
    connectors: Mutex<Known>,
}

impl Sources {
    pub(crate) fn new(places: Places, wishes: Wishes) -> Self {
        Self { places, wishes: Mutex::new(wishes), connectors: Mutex::default() }
    }

    fn wishes(&self) -> Wishes {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn load(&self) -> Option<Loaded> {
        let (places, wishes) = (self.places.clone(), self.wishes());
        let connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tokio::task::spawn_blocking(move || load(&places, &wishes, &connectors)).await.ok()
    }
}

impl Host {
    /// Reads the configuration again and puts what changed into force. A host that was given its configuration
    /// ready-made has nowhere to read it from, and nothing changes.
    pub async fn reload(&self) -> Change {
        let Some(sources) = self.sources() else { return Change::default() };
        let Some(loaded) = sources.load().await else { return Change::default() };
        let held_back = newly_lost(&self.loaded(), &loaded);
        if held_back.is_empty() {
            self.apply(Arc::new(loaded))
        } else {
            Change { held_back, ..Change::default() }
        }
    }

    /// Replaces the servers that this program itself brings, as `--mcp-config` does: each a path or JSON (C1).
    pub async fn set_servers(&self, servers: Vec<String>) -> Change {
        if let Some(sources) = self.sources() {
            sources.wishes.lock().unwrap_or_else(PoisonError::into_inner).mcp_config = servers;
        }
        self.reload().await
    }

    /// Replaces the connectors by those that were fetched now (C1): start-up need not wait for them.
    pub async fn set_connectors(&self, connectors: Known) -> Change {
        if let Some(sources) = self.sources() {
            *sources.connectors.lock().unwrap_or_else(PoisonError::into_inner) = connectors;
        }
        self.reload().await
    }
}

/// The files that could be read before and cannot now. The administrator's are not among them.
fn newly_lost(old: &Loaded, new: &Loaded) -> Vec<Problem> {
    if new.managed_problem.is_some() {
        return Vec::new();
    }
    let was_lost = |problem: &Problem| {
        old.problems.iter().any(|old| old.is_whole_source && old.origin.source == problem.origin.source)
    };
    let lost = new.problems.iter().filter(|problem| problem.is_whole_source && !was_lost(problem));
    lost.cloned().collect()
}
