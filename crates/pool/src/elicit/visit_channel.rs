//! The channel for pages that servers report as visited, for gateways: their clients are told.

use mcparley_model::name::ServerName;
use mcparley_wire::RawJson;
use tokio::sync::broadcast;

/// The number of visits buffered for a slow listener before the oldest are dropped.
const WAITING: usize = 64;

/// A page that its server reports as visited (2025-11-25).
#[derive(Clone, Debug)]
pub struct FinishedVisit {
    /// The server.
    pub server: ServerName,
    /// The parameters of `notifications/elicitation/complete`, as the server wrote them.
    pub params: RawJson,
}

/// The channel for visits of pages of all servers of a host. Clones share it.
#[derive(Clone, Debug)]
pub struct VisitChannel(broadcast::Sender<FinishedVisit>);

impl Default for VisitChannel {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl VisitChannel {
    /// Subscribes to visits. A listener that falls behind misses the oldest.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<FinishedVisit> {
        self.0.subscribe()
    }

    /// Sends a visit to the listeners. Having none is fine.
    pub(crate) fn send_visit(&self, visit: FinishedVisit) {
        let _nobody = self.0.send(visit);
    }
}
