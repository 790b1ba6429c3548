//! Reads the configuration again and puts what changed into force, without touching the rest (C13, C11).
//!
//! Whatever the cause (a file, a wish of the embedding program), the way is the same: a new plan, compared with the
//! one in force by signature. Calls on a server whose entry changed may finish for some seconds; its successor
//! starts when it is gone.
//!
//! A file that can no longer be read counts as it did until it can be: half a file is what an editor leaves for a
//! moment, and stopping every server of it would be a high price. The others count as they are now, so that a broken
//! file in a repository holds no rule of the user back. Only the administrator's files count even when they are
//! broken, because then nothing may run (C5).

mod connectors;
mod reconnect;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::name::ServerName;
use serde::Serialize;

use crate::host::Host;
use crate::paths::Paths;
use crate::sources::{Earlier, Known, Loaded, Problem, RunOptions, load_again};

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
    /// Files that could be read before and cannot now; until they can, what they said before goes on.
    pub held_back: Vec<Problem>,
}

/// Where a host's configuration comes from.
#[derive(Debug)]
pub(crate) struct Sources {
    paths: Paths,
    run_options: Mutex<RunOptions>,
    /// What is known of the organisation's connectors; reading files again does not ask for them again.
    connectors: Mutex<Known>,
    /// What the files said when they could last be read.
    earlier: Mutex<Earlier>,
    /// Held from reading to applying: of two that run at once, the one that read earlier must not apply later.
    turn: tokio::sync::Mutex<()>,
}

impl Sources {
    pub(crate) fn new(paths: Paths, run_options: RunOptions, earlier: Earlier) -> Self {
        Self {
            paths,
            run_options: Mutex::new(run_options),
            connectors: Mutex::default(),
            earlier: Mutex::new(earlier),
            turn: tokio::sync::Mutex::default(),
        }
    }

    fn run_options(&self) -> RunOptions {
        self.run_options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn load(&self) -> Option<Loaded> {
        let (paths, run_options) = (self.paths.clone(), self.run_options());
        let connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reading = crate::task::aside(move || {
            let loaded = load_again(&paths, &run_options, &connectors, &mut earlier);
            (loaded, earlier)
        });
        let (loaded, earlier) = reading.await?;
        *self.earlier.lock().unwrap_or_else(PoisonError::into_inner) = earlier;
        Some(loaded)
    }

    fn held_back(&self) -> Vec<Problem> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner).held_back().to_vec()
    }
}

impl Host {
    /// Reads the configuration again and puts what changed into force. A host that was given its configuration
    /// ready-made has nowhere to read it from, and nothing changes.
    pub async fn reload(&self) -> Change {
        let Some(sources) = self.sources() else { return Change::default() };
        let _turn = sources.turn.lock().await;
        let Some(loaded) = sources.load().await else { return Change::default() };
        let held_back = sources.held_back();
        Change { held_back, ..self.apply(Arc::new(loaded)) }
    }

    /// Replaces the servers that this program itself brings, as `--mcp-config` does: each a path or JSON (C1).
    pub async fn set_servers(&self, servers: Vec<String>) -> Change {
        if let Some(sources) = self.sources() {
            sources.run_options.lock().unwrap_or_else(PoisonError::into_inner).mcp_config = servers;
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
