//! Waits for the servers, and says what became of each (L13).

use std::time::Duration;

use mcparley_model::config::Kind;
use mcparley_model::name::ServerName;
use tokio::time::Instant;

use super::Host;
use crate::connection::{State, Status};

/// One server of a host, and how it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub kind: Kind,
    /// Whether the host is not ready without it.
    pub required: bool,
    /// How it is, and what it offers.
    pub state: State,
}

/// What became of the servers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Readiness {
    /// Every server, in the order of the plan.
    pub servers: Vec<Server>,
    /// Whether nothing was under way any more, so that waiting longer would not have helped.
    pub settled: bool,
}

impl Readiness {
    /// Whether every required server answers.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let mut required = self.servers.iter().filter(|server| server.required);
        required.all(|server| matches!(server.state.status, Status::Connected { .. }))
    }
}

impl Host {
    /// Every server, in the order of the plan.
    #[must_use]
    pub fn servers(&self) -> Vec<Server> {
        let server = |connection: &std::sync::Arc<crate::connection::Connection>| Server {
            name: connection.name.clone(),
            kind: connection.config.kind(),
            required: connection.config.required,
            state: connection.state(),
        };
        self.roster().connections().map(server).collect()
    }

    /// Waits until every server has settled, at most `limit`.
    pub async fn ready(&self, limit: Duration) -> Readiness {
        let deadline = Instant::now() + limit;
        let settled = tokio::time::timeout_at(deadline, self.settled()).await.is_ok();
        Readiness { servers: self.servers(), settled }
    }

    /// Waits until nothing is under way. Connecting has its limit, so this ends.
    pub(crate) async fn settled(&self) {
        let mut changes = self.changes();
        while self.is_pending() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}
