//! Reconnects the servers that another process has asked for (`mcparley reconnect`).

use std::sync::Arc;

use mcparley_wire::peer::Boxed;

use crate::connection::{Connection, Status};
use crate::host::Host;
use crate::reconnect_requests::ReconnectRequest;

impl Host {
    /// Connects anew to every server of this host that one of the requests is for, whatever its back-off; and to those
    /// that its agents bring. Boxed, since agents may have agents.
    pub(crate) fn reconnect_requested<'r>(&'r self, requests: &'r [ReconnectRequest]) -> Boxed<'r, ()> {
        Box::pin(async move {
            if requests.is_empty() {
                return;
            }
            for connection in self.find_requested(requests) {
                connection.log().event("connecting anew, because `mcparley reconnect` asks for it");
                connection.reconnect().await;
            }
            for agent in self.agents() {
                agent.reconnect_requested(requests).await;
            }
        })
    }

    /// The connections that the requests are for, each once, whatever number of names it has.
    fn find_requested(&self, requests: &[ReconnectRequest]) -> Vec<Arc<Connection>> {
        let roster = self.roster();
        let project = roster.paths().project_key();
        let mut found: Vec<Arc<Connection>> = Vec::new();
        for connection in roster.own() {
            let is_wanted = requests
                .iter()
                .any(|request| request.is_for(&project, &connection.name, &connection.signature));
            // A server that this host was told to leave out, and nobody has needed, is not started for that.
            let is_left_out =
                matches!(connection.state().status, Status::Dormant) && roster.leaves_out(&connection.name);
            if is_wanted && !is_left_out && !found.iter().any(|known| known.is(connection)) {
                found.push(Arc::clone(connection));
            }
        }
        found
    }
}
