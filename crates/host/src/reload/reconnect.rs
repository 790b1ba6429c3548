//! Reconnects servers on request of another process (`mcparley reconnect`).

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::BoxedFuture;

use crate::host::Host;
use mcparley_config::reconnect_requests::ReconnectRequest;
use mcparley_pool::connection::{Connection, ServerStatus};

impl Host {
    /// Reconnects every server of this host that a request of another process names, and those of its agents;
    /// returns their names. The same request in the file of requests is ignored afterwards.
    pub async fn reconnect_on_request(&self, request: &ReconnectRequest) -> Vec<ServerName> {
        self.seen_requests().mark_seen(request);
        let requests = std::slice::from_ref(request);
        let mut names: Vec<ServerName> = Vec::new();
        for host in [self.clone()].into_iter().chain(self.live_agents()) {
            let found = host.find_requested(requests);
            names.extend(found.iter().map(|connection| connection.name.clone()));
        }
        self.reconnect_requested(requests).await;
        names.sort();
        names.dedup();
        names
    }

    /// Reconnects every server of this host that a request names, regardless of backoff, and those of its
    /// agents. Boxed, since agents may have agents.
    pub(crate) fn reconnect_requested<'r>(&'r self, requests: &'r [ReconnectRequest]) -> BoxedFuture<'r, ()> {
        Box::pin(async move {
            if requests.is_empty() {
                return;
            }
            for connection in self.find_requested(requests) {
                connection.log().add_event("reconnecting on request of `mcparley reconnect`");
                connection.reconnect().await;
            }
            for agent in self.live_agents() {
                agent.reconnect_requested(requests).await;
            }
        })
    }

    /// The connections that the requests name, each once, even if it has several names.
    fn find_requested(&self, requests: &[ReconnectRequest]) -> Vec<Arc<Connection>> {
        let roster = self.roster();
        let project = roster.paths().project_key();
        let mut found: Vec<Arc<Connection>> = Vec::new();
        for connection in roster.own_connections() {
            let is_wanted = requests
                .iter()
                .any(|request| request.is_for(&project, &connection.name, &connection.key.signature));
            // A server that the start options exclude, and that is not in use, is not started for a request.
            let is_left_out = matches!(connection.state().status, ServerStatus::Dormant)
                && roster.is_excluded(&connection.name);
            if is_wanted && !is_left_out && !found.iter().any(|known| known.is_same_connection(connection)) {
                found.push(Arc::clone(connection));
            }
        }
        found
    }
}
