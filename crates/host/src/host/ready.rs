//! Waits for the servers, and says what became of each (L13).

use std::time::Duration;

use mcparley_model::config::Kind;
use mcparley_model::limits::RETRY_PAUSE;
use mcparley_model::name::ServerName;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Host;
use crate::connection::{State, Status, Unavailable};

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

    /// Whether a server is being reached of which nothing is known yet, so that tools may still come.
    #[must_use]
    pub fn has_unknown_servers(&self) -> bool {
        self.roster().connections().any(|connection| {
            let state = connection.state();
            matches!(state.status, Status::Pending { .. }) && state.surface.tools.is_empty()
        })
    }

    /// Waits until every server has settled, at most `limit`. Servers that failed in an earlier process count as settled
    /// while they are tried again.
    pub async fn ready(&self, limit: Duration) -> Readiness {
        let deadline = Instant::now() + limit;
        let settled = tokio::time::timeout_at(deadline, self.settled()).await.is_ok();
        Readiness { servers: self.servers(), settled }
    }

    /// Reaches these servers, and tries those that fail again and again, until all answer or `limit` has passed.
    /// What only a person can change is not tried again: a sign-in, a server that is switched off.
    pub async fn require(&self, servers: &[ServerName], limit: Duration) -> Readiness {
        let mut reaching = JoinSet::new();
        for server in servers {
            let (host, server) = (self.clone(), server.clone());
            reaching.spawn(async move { host.reach(&server).await });
        }
        let all = async { while reaching.join_next().await.is_some() {} };
        let settled = tokio::time::timeout(limit, all).await.is_ok();
        let mut servers_now = self.servers();
        servers_now.retain(|server| servers.contains(&server.name));
        Readiness { servers: servers_now, settled }
    }

    async fn reach(&self, server: &ServerName) {
        loop {
            match self.connect(server).await {
                Err(Unavailable::Failed(_) | Unavailable::Waiting { .. } | Unavailable::Late { .. }) => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                Ok(()) | Err(Unavailable::NeedsAuth | Unavailable::Disabled | Unavailable::Stopped) => return,
            }
        }
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
