//! Metrics of the doors, in the text format of Prometheus.

use std::time::{Duration, Instant};

use mcparley_wire::RawJson;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::cluster_link::ClusterLink;
use crate::session::GatewaySession;

/// The upper limits of the latency histogram, in seconds.
const LATENCIES: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];

/// The metrics of a gateway.
#[derive(Debug)]
pub(crate) struct DoorMetrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    latency: Family<ServerLabels, Histogram>,
    refusals: Family<RefusalLabels, Counter>,
    sessions: Gauge,
    in_flight: Gauge,
    cluster: ClusterGauges,
}

/// The metrics of the shared state; zero outside of a cluster.
#[derive(Debug, Default)]
struct ClusterGauges {
    reachable: Gauge,
    waiting: Gauge,
    dropped: Gauge,
}

/// The figures of the shared state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterFigures {
    is_reachable: bool,
    waiting: usize,
    dropped: u64,
}

impl ClusterFigures {
    pub(crate) fn of_link(link: &ClusterLink) -> Self {
        Self {
            is_reachable: link.member.is_reachable(),
            waiting: link.member.waiting_writes(),
            dropped: link.member.dropped_writes(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    server: String,
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabels {
    server: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    reason: &'static str,
}

/// The measurement of one call.
#[derive(Debug)]
pub(crate) struct CallTimer {
    server: String,
    tool: String,
    started: Instant,
}

impl DoorMetrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("mcparley");
        let calls = Family::default();
        registry.register("calls", "Tool calls by server, tool and outcome", calls.clone());
        let new_histogram: fn() -> Histogram = || Histogram::new(LATENCIES);
        let latency = Family::new_with_constructor(new_histogram);
        registry.register("call_seconds", "Duration of tool calls by server", latency.clone());
        let refusals = Family::default();
        registry.register("refusals", "Refused HTTP requests by reason", refusals.clone());
        let (sessions, in_flight) = (Gauge::default(), Gauge::default());
        registry.register("sessions", "Sessions of clients in memory", sessions.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        let cluster = ClusterGauges::default();
        registry.register(
            "state_reachable",
            "Whether the shared state is reached",
            cluster.reachable.clone(),
        );
        registry.register(
            "state_writes_waiting",
            "Writes that wait for the shared state",
            cluster.waiting.clone(),
        );
        registry.register(
            "state_writes_dropped",
            "Writes to the shared state that were dropped",
            cluster.dropped.clone(),
        );
        Self { registry, calls, latency, refusals, sessions, in_flight, cluster }
    }

    /// Counts a refused request.
    pub(crate) fn count_refusal(&self, reason: &'static str) {
        self.refusals.get_or_create(&RefusalLabels { reason }).inc();
    }

    /// Starts the measurement of a tool call, by the name that clients see. Names that are not in the view are
    /// counted together, so that clients cannot create metrics.
    pub(crate) fn start_call(
        &self,
        session: &GatewaySession,
        method: &str,
        params: Option<&RawJson>,
    ) -> Option<CallTimer> {
        if method != "tools/call" {
            return None;
        }
        let name = params?.member("name")?.decode::<String>().ok()?;
        let view = session.shared.gateway.view();
        let (server, tool) = match view.find_tool(&name) {
            Some(entry) => (entry.server().map_or_else(|| "mcparley".to_owned(), ToString::to_string), name),
            None => ("unknown".to_owned(), "unknown".to_owned()),
        };
        Some(CallTimer { server, tool, started: Instant::now() })
    }

    /// Records the end of a call.
    pub(crate) fn finish_call(&self, call: Option<CallTimer>, outcome: &'static str) {
        let Some(CallTimer { server, tool, started }) = call else { return };
        let elapsed: Duration = started.elapsed();
        self.latency.get_or_create(&ServerLabels { server: server.clone() }).observe(elapsed.as_secs_f64());
        self.calls.get_or_create(&CallLabels { server, tool, outcome }).inc();
    }

    /// The metrics as text.
    pub(crate) fn to_text(
        &self,
        sessions: usize,
        in_flight: usize,
        cluster: Option<ClusterFigures>,
    ) -> String {
        if let Some(ClusterFigures { is_reachable, waiting, dropped }) = cluster {
            self.cluster.reachable.set(i64::from(is_reachable));
            self.cluster.waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
            self.cluster.dropped.set(i64::try_from(dropped).unwrap_or(i64::MAX));
        }
        self.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        self.in_flight.set(i64::try_from(in_flight).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}
