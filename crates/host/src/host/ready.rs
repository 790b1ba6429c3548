//! Waits until servers are ready, and reports the state of each.

use std::time::Duration;

use mcparley_model::config::TransportKind;
use mcparley_model::limits::RETRY_PAUSE;
use mcparley_model::name::ServerName;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Host;
use mcparley_pool::connection::{ServerStatus, State, Unavailable};

/// One server of a host, with its state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostServer {
    /// The server's name.
    pub name: ServerName,
    /// The kind of transport.
    pub kind: TransportKind,
    /// Whether the host is not ready without it.
    pub required: bool,
    /// The connection state, and the tools it offers.
    pub state: State,
    /// The number of names under which hosts of this process use the connection.
    pub users: usize,
}

/// The state of the servers after waiting.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Readiness {
    /// Every server, in plan order.
    pub servers: Vec<HostServer>,
    /// Whether no server was still connecting, so that waiting longer would not have helped.
    pub settled: bool,
}

impl Readiness {
    /// Whether every required server is connected.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let mut required = self.servers.iter().filter(|server| server.required);
        required.all(|server| matches!(server.state.status, ServerStatus::Connected { .. }))
    }
}

impl Host {
    /// Every server, in plan order.
    #[must_use]
    pub fn servers(&self) -> Vec<HostServer> {
        let server = |connection: &std::sync::Arc<mcparley_pool::connection::Connection>| HostServer {
            name: connection.name.clone(),
            kind: connection.config.kind(),
            required: connection.config.required,
            state: connection.state(),
            users: connection.user_count(),
        };
        self.roster().connections().map(server).collect()
    }

    /// Whether a server is connecting whose tools are not known yet, so that more tools may come.
    #[must_use]
    pub fn has_unknown_servers(&self) -> bool {
        self.roster().connections().any(|connection| {
            let state = connection.state();
            matches!(state.status, ServerStatus::Pending { .. }) && state.surface.tools.is_empty()
        })
    }

    /// Waits until no server is connecting, at most `limit`. Servers that failed in an earlier process do
    /// not count while they are retried.
    pub async fn wait_until_ready(&self, limit: Duration) -> Readiness {
        let deadline = Instant::now() + limit;
        let settled = tokio::time::timeout_at(deadline, self.wait_until_settled()).await.is_ok();
        Readiness { servers: self.servers(), settled }
    }

    /// Connects to these servers, and retries those that fail, until all are connected or `limit` has
    /// passed. States that only the user can change are not retried: a required sign-in, a disabled server.
    pub async fn connect_required(&self, servers: &[ServerName], limit: Duration) -> Readiness {
        let mut reaching = JoinSet::new();
        for server in servers {
            let (host, server) = (self.clone(), server.clone());
            reaching.spawn(async move { host.connect_with_retries(&server).await });
        }
        let all = async { while reaching.join_next().await.is_some() {} };
        let settled = tokio::time::timeout(limit, all).await.is_ok();
        let mut servers_now = self.servers();
        servers_now.retain(|server| servers.contains(&server.name));
        Readiness { servers: servers_now, settled }
    }

    async fn connect_with_retries(&self, server: &ServerName) {
        loop {
            match self.connect_server(server).await {
                Err(Unavailable::Failed(_) | Unavailable::Waiting { .. } | Unavailable::TimedOut { .. }) => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                Ok(()) | Err(_) => return,
            }
        }
    }

    /// Waits until no server is connecting. Each connection attempt has a timeout, so this ends.
    pub(crate) async fn wait_until_settled(&self) {
        let mut changes = self.change_listener();
        while self.is_pending() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}
