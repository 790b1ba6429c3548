//! Distributed traces, and the metrics of a gateway.
//!
//! The spans are those of `tracing`, which every crate opens where its work is done. [`SpanCollector`] is the
//! `tracing` subscriber that turns them into OpenTelemetry spans; without it they cost next to nothing.
//!
//! | responsibility | module |
//! |---|---|
//! | the ids that connect spans of several programs: `traceparent`, `tracestate` | [`TraceContext`] |
//! | the `tracing` subscriber | [`SpanCollector`] |
//! | the decision which traces are exported | [`TraceSampler`] |
//! | a finished span, and the fields and methods that may leave the program | `finished_span`, `span_fields`, `known_method` |
//! | the outcome of the work in a span | [`SpanOutcome`] |
//! | finished spans that wait, bounded | `span_queue` |
//! | the export as the environment says, with its settings | [`TraceExport`], `export_settings` (feature `otlp`) |
//! | sends spans to a collector | `trace_exporter`, `otlp` (feature `otlp`) |
//! | calls, refusals and figures of a gateway | `gateway_metrics` (feature `metrics`) |

#[cfg(feature = "otlp")]
mod export_settings;
mod finished_span;
#[cfg(feature = "metrics")]
mod gateway_metrics;
mod known_method;
#[cfg(feature = "otlp")]
mod otlp;
mod sampler;
mod span_collector;
mod span_fields;
mod span_outcome;
mod span_queue;
mod trace_context;
#[cfg(feature = "otlp")]
mod trace_export;
#[cfg(feature = "otlp")]
mod trace_exporter;
#[cfg(not(feature = "otlp"))]
mod without_export;

pub use finished_span::{AttributeValue, FinishedSpan};
#[cfg(feature = "metrics")]
pub use gateway_metrics::{CountedCall, GatewayFigures, GatewayMetrics, StateFigures};
pub use known_method::known_method;
pub use sampler::TraceSampler;
pub use span_collector::{SpanCollector, export_counts, is_tracing};
pub use span_outcome::SpanOutcome;
pub use span_queue::{ExportCounts, SpanQueue, SpanReceiver, span_queue};
pub use trace_context::{SpanId, TraceContext, TraceId};
#[cfg(feature = "otlp")]
pub use trace_export::TraceExport;
#[cfg(not(feature = "otlp"))]
pub use without_export::TraceExport;
