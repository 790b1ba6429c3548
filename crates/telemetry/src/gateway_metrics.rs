//! The metrics of a gateway, in the text format of OpenMetrics, which Prometheus reads.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_model::limits::METRIC_PRINCIPALS;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::span_collector::export_counts;
use crate::span_queue::ExportCounts;

/// The upper limits of the latency histogram, in seconds.
const LATENCIES: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];

/// The metrics of a gateway.
#[derive(Debug)]
pub struct GatewayMetrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    latency: Family<ServerLabels, Histogram>,
    refusals: Family<RefusalLabels, Counter>,
    sessions: Gauge,
    in_flight: Gauge,
    questions: Gauge,
    principals: NamedPrincipals,
    cluster: ClusterGauges,
    traces: TraceCounters,
}

/// The principals that metrics name, the first ones of the process. Others are counted together: principals of an
/// issuer come and go, and each name is a series that Prometheus keeps.
#[derive(Debug, Default)]
struct NamedPrincipals(Mutex<HashSet<Arc<str>>>);

/// The name under which the other principals are counted.
const OTHER: &str = "other";

/// The metrics of the export of traces; zero without one.
#[derive(Debug, Default)]
struct TraceCounters {
    exported: Counter,
    dropped: Counter,
}

/// The figures that are read when metrics are.
#[derive(Clone, Copy, Debug)]
pub struct GatewayFigures {
    /// Sessions of clients in memory.
    pub sessions: usize,
    /// Requests that are being answered.
    pub in_flight: usize,
    /// Questions that wait for their user.
    pub questions: usize,
    /// The figures of the shared state, in a cluster.
    pub state: Option<StateFigures>,
}

/// The figures of the shared state.
#[derive(Clone, Copy, Debug)]
pub struct StateFigures {
    /// Whether the shared state is reached.
    pub is_reachable: bool,
    /// Writes that wait for it.
    pub waiting: usize,
    /// Writes that were dropped.
    pub dropped: u64,
    /// Heartbeats that the shared state has refused.
    pub refused_beats: u64,
}

/// A tool call that has ended.
#[derive(Debug)]
pub struct CountedCall<'c> {
    /// The server of the tool.
    pub server: &'c str,
    /// The tool, by a name that clients cannot choose.
    pub tool: &'c str,
    /// The account of the client.
    pub principal: &'c Arc<str>,
    /// The outcome as in the audit log, or `input-required`.
    pub outcome: &'static str,
    /// The duration.
    pub elapsed: Duration,
}

/// The metrics of the shared state; zero outside of a cluster.
#[derive(Debug, Default)]
struct ClusterGauges {
    reachable: Gauge,
    waiting: Gauge,
    dropped: Gauge,
    refused_beats: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    server: String,
    tool: String,
    principal: Arc<str>,
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

impl Default for GatewayMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl GatewayMetrics {
    /// Metrics that count from zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("mcparley");
        let calls = Family::default();
        registry.register("calls", "Tool calls by server, tool, principal and outcome", calls.clone());
        let new_histogram: fn() -> Histogram = || Histogram::new(LATENCIES);
        let latency = Family::new_with_constructor(new_histogram);
        registry.register("call_seconds", "Duration of tool calls by server", latency.clone());
        let refusals = Family::default();
        registry.register("refusals", "Refused HTTP requests by reason", refusals.clone());
        let (sessions, in_flight, questions) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("sessions", "Sessions of clients in memory", sessions.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        registry.register("questions_open", "Questions that wait for their user", questions.clone());
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
        registry.register(
            "state_heartbeats_refused",
            "Heartbeats that the shared state has refused",
            cluster.refused_beats.clone(),
        );
        let traces = TraceCounters::default();
        registry.register(
            "trace_spans_exported",
            "Spans that the collector has taken",
            traces.exported.clone(),
        );
        registry.register(
            "trace_spans_dropped",
            "Spans that the collector did not get",
            traces.dropped.clone(),
        );
        let principals = NamedPrincipals::default();
        Self {
            registry,
            calls,
            latency,
            refusals,
            sessions,
            in_flight,
            questions,
            principals,
            cluster,
            traces,
        }
    }

    /// Counts a refused request.
    pub fn count_refusal(&self, reason: &'static str) {
        self.refusals.get_or_create(&RefusalLabels { reason }).inc();
    }

    /// Counts a tool call that has ended.
    pub fn count_call(&self, call: &CountedCall<'_>) {
        let (server, tool) = (call.server.to_owned(), call.tool.to_owned());
        let principal = self.principals.bounded_name(call.principal);
        let latency = self.latency.get_or_create(&ServerLabels { server: server.clone() });
        latency.observe(call.elapsed.as_secs_f64());
        drop(latency);
        self.calls.get_or_create(&CallLabels { server, tool, principal, outcome: call.outcome }).inc();
    }

    /// The metrics as text.
    #[must_use]
    pub fn to_text(&self, figures: GatewayFigures) -> String {
        let gauge = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let GatewayFigures { sessions, in_flight, questions, state } = figures;
        if let Some(StateFigures { is_reachable, waiting, dropped, refused_beats }) = state {
            self.cluster.reachable.set(i64::from(is_reachable));
            self.cluster.waiting.set(gauge(waiting));
            self.cluster.dropped.set(i64::try_from(dropped).unwrap_or(i64::MAX));
            self.cluster.refused_beats.set(i64::try_from(refused_beats).unwrap_or(i64::MAX));
        }
        self.sessions.set(gauge(sessions));
        self.in_flight.set(gauge(in_flight));
        self.questions.set(gauge(questions));
        let ExportCounts { exported, dropped } = export_counts();
        self.traces.exported.inner().store(exported, Ordering::Relaxed);
        self.traces.dropped.inner().store(dropped, Ordering::Relaxed);
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}

impl NamedPrincipals {
    /// The name of a principal in metrics.
    fn bounded_name(&self, principal: &Arc<str>) -> Arc<str> {
        // Every change is one step, so a panic leaves no partial change.
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !named.contains(principal) && named.len() >= METRIC_PRINCIPALS {
            return Arc::from(OTHER);
        }
        named.insert(Arc::clone(principal));
        Arc::clone(principal)
    }
}

#[cfg(test)]
mod tests {
    //! The bound of the names.
    use super::*;

    // G6
    #[test]
    fn principals_beyond_the_limit_are_counted_together() {
        let names = NamedPrincipals::default();
        let principal = |number: usize| Arc::from(format!("jwt:{number}"));
        for number in 0..METRIC_PRINCIPALS {
            assert_eq!(names.bounded_name(&principal(number)), principal(number));
        }
        assert_eq!(&*names.bounded_name(&principal(METRIC_PRINCIPALS)), OTHER);
        assert_eq!(names.bounded_name(&principal(0)), principal(0));
    }
}
