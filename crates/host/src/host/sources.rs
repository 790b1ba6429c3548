//! The sources of a host's configuration, and the changes when they are read again.

use std::sync::{Arc, Mutex, PoisonError};

use mcparley_config::{ConfigProblem, ConnectorList, LoadedConfig, Paths, RunOptions};
use mcparley_model::name::ServerName;
use mcparley_platform::thread::run_blocking;
use serde::Serialize;

/// The changes of a new plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerChanges {
    /// Servers that are new.
    pub added: Vec<ServerName>,
    /// Servers that were removed.
    pub removed: Vec<ServerName>,
    /// Servers whose configuration changed, so that they were restarted.
    pub changed: Vec<ServerName>,
    /// Files that could be read before and cannot now; until they can, their last content stays in force.
    pub held_back: Vec<ConfigProblem>,
}

/// The sources of a host's configuration.
#[derive(Debug)]
pub(crate) struct Sources {
    paths: Paths,
    pub(crate) run_options: Mutex<RunOptions>,
    /// The known connectors of the organization; a reload of files does not fetch them again.
    pub(crate) connectors: Mutex<ConnectorList>,
    /// Held from reading to applying: of two concurrent reloads, the one that read earlier must not apply
    /// later.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Sources {
    pub(crate) fn new(paths: Paths, run_options: RunOptions) -> Self {
        Self {
            paths,
            run_options: Mutex::new(run_options),
            connectors: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    fn run_options(&self) -> RunOptions {
        self.run_options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the configuration again, after `last`.
    pub(crate) async fn reload_config(&self, last: Arc<LoadedConfig>) -> Option<LoadedConfig> {
        let (paths, run_options) = (self.paths.clone(), self.run_options());
        let connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        run_blocking(move || last.reload(&paths, &run_options).with_connectors(&connectors)).await
    }
}
