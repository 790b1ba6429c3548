//! The state that all listeners and requests of a gateway share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use mcparley::Host;
use mcparley::auth::CallbackEndpoint;
use mcparley::host::RefusedRequest;
use mcparley_gateway::Gateway;
use mcparley_gateway::cluster_link::ClusterLink;
use mcparley_telemetry::GatewayMetrics;
use tokio::sync::watch;

use crate::endpoint::Endpoints;
use crate::guard::refusal::RequestRefusal;
use crate::guard::{Guard, PeerAddress};
use crate::legacy_sessions::LegacySessions;
use crate::page::PageHandler;
use crate::tasks::DoorTasks;

/// State that all listeners of a gateway share.
#[derive(Debug)]
pub(crate) struct DoorShared {
    pub(crate) guard: Guard,
    pub(crate) endpoints: Endpoints,
    /// The host that keeps the audit log.
    pub(crate) host: Host,
    pub(crate) legacy: Option<LegacySessions>,
    pub(crate) metrics: GatewayMetrics,
    /// The gateway of the main endpoint, which has the open questions of all.
    pub(crate) gateway: Gateway,
    pub(crate) callback: Option<CallbackEndpoint>,
    pub(crate) cluster: Option<Arc<ClusterLink>>,
    /// The number of requests of other gateways that run here.
    pub(crate) served: AtomicUsize,
    pub(crate) has_mcp: bool,
    pub(crate) page: Option<Arc<dyn PageHandler>>,
    pub(crate) tasks: Arc<DoorTasks>,
    pub(crate) drain: watch::Sender<bool>,
}

impl DoorShared {
    /// Whether the gateway stops.
    pub(crate) fn is_draining(&self) -> bool {
        *self.drain.borrow()
    }

    /// The number of sessions of the old era in memory.
    pub(crate) fn session_count(&self) -> usize {
        self.endpoints.iter().map(|endpoint| endpoint.sessions.len()).sum()
    }

    /// The number of questions that wait for their user.
    pub(crate) fn open_questions(&self) -> usize {
        self.gateway.count_open_questions()
    }

    /// Counts a refused request, and records it if it is a misuse.
    pub(crate) fn count_refusal(&self, refusal: &RequestRefusal, (peer, path): (PeerAddress, &str)) {
        self.metrics.count_refusal(refusal.reason);
        let Some(misuse) = &refusal.misuse else { return };
        let address = match peer {
            PeerAddress::Tcp(address) => address.to_string(),
            PeerAddress::Unix(_) => "unix".to_owned(),
        };
        let client = misuse.client.clone();
        self.host.record_refusal(RefusedRequest {
            reason: refusal.reason,
            path: path.to_owned(),
            address,
            client,
        });
    }

    /// Waits until the gateway stops.
    pub(crate) async fn wait_for_drain(&self) {
        let mut drain = self.drain.subscribe();
        // The sender lives as long as this value.
        let _draining = drain.wait_for(|is_draining| *is_draining).await.is_ok();
    }
}
