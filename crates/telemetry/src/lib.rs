//! Distributed traces: the trace context of requests, and the exporter of spans.
//!
//! The spans are those of `tracing`, which every crate opens where its work is done. [`SpanCollector`] is the
//! `tracing` subscriber that turns them into OpenTelemetry spans; without it they cost next to nothing.
//!
//! | responsibility | module |
//! |---|---|
//! | the ids that connect spans of several programs: `traceparent`, `tracestate` | [`TraceContext`] |
//! | the `tracing` subscriber | [`SpanCollector`] |
//! | the decision which traces are exported | [`Sampler`] |
//! | a finished span, and the fields that may leave the program | `finished_span`, `span_fields` |
//! | the outcome of the work in a span | [`SpanOutcome`] |
//! | finished spans that wait, bounded | `span_queue` |
//! | the standard environment variables | [`ExportSettings`] (feature `otlp`) |
//! | sends spans to a collector | [`TraceExporter`] (feature `otlp`) |
//! | the OTLP encoding in JSON | `otlp` (feature `otlp`) |

#[cfg(feature = "otlp")]
mod export_settings;
mod finished_span;
#[cfg(feature = "otlp")]
mod otlp;
mod sampler;
mod span_collector;
mod span_fields;
mod span_outcome;
mod span_queue;
mod trace_context;
#[cfg(feature = "otlp")]
mod trace_exporter;
#[cfg(not(feature = "otlp"))]
mod without_export;

#[cfg(feature = "otlp")]
pub use export_settings::ExportSettings;
pub use finished_span::{AttributeValue, FinishedSpan};
pub use sampler::Sampler;
pub use span_collector::{SpanCollector, is_tracing};
pub use span_outcome::SpanOutcome;
pub use span_queue::{ExportCounts, SpanReceiver, export_counts, span_queue};
pub use trace_context::{SpanId, TraceContext, TraceId};
#[cfg(feature = "otlp")]
pub use trace_exporter::TraceExporter;
#[cfg(not(feature = "otlp"))]
pub use without_export::{ExportSettings, TraceExporter};
