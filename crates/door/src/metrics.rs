//! The measurement of tool calls, and the figures of the shared state, for the metrics of a gateway.

use std::sync::Arc;
use std::time::Instant;

use mcparley_telemetry::{CountedCall, GatewayMetrics, StateFigures};
use mcparley_wire::RawJson;

use mcparley_gateway::GatewaySession;
use mcparley_gateway::RequestedTool;
use mcparley_gateway::cluster_link::ClusterLink;

/// The measurement of one call.
pub(crate) struct CallTimer {
    requested: RequestedTool,
    principal: Arc<str>,
    started: Instant,
}

impl CallTimer {
    /// Starts the measurement of a tool call; `None` for other requests.
    pub(crate) fn start(session: &GatewaySession, method: &str, params: Option<&RawJson>) -> Option<Self> {
        let requested = session.requested_tool(method, params)?;
        let principal = Arc::clone(&session.principal().identity.account);
        Some(Self { requested, principal, started: Instant::now() })
    }

    /// Records the end of the call.
    pub(crate) fn record_end(self, metrics: &GatewayMetrics, outcome: &'static str) {
        let (server, tool) = self.requested.find_or_unknown();
        let (principal, elapsed) = (&self.principal, self.started.elapsed());
        metrics.count_call(&CountedCall { server: &server, tool, principal, outcome, elapsed });
    }
}

/// The figures of the shared state.
pub(crate) fn state_figures(link: &ClusterLink) -> StateFigures {
    StateFigures {
        is_reachable: link.member.is_reachable(),
        waiting: link.member.waiting_writes(),
        dropped: link.member.dropped_writes(),
        refused_beats: link.member.refused_beats(),
    }
}
