//! Limits of traces and metrics.

use std::time::Duration;

/// The maximum number of finished spans that wait for the collector; further ones are dropped and counted.
pub const TRACE_QUEUE: usize = 2048;

/// The maximum number of spans in one request to the collector.
pub const TRACE_BATCH: usize = 512;

/// The maximum number of spans that are open at once; further ones are dropped and counted.
pub const TRACE_OPEN_SPANS: usize = 65_536;

/// The time for which a span waits for others, so that they are sent in one request.
pub const TRACE_LINGER: Duration = Duration::from_secs(1);

/// The timeout of one request to the collector.
pub const TRACE_EXPORT_TIME: Duration = Duration::from_secs(10);

/// The number of attempts to send a batch to a collector that is away; then it is dropped and counted.
pub const TRACE_ATTEMPTS: u32 = 5;

/// The pause before the second attempt. It doubles with each further one.
pub const TRACE_PAUSE: Duration = Duration::from_secs(1);

/// The time at the end of the program in which the last spans are sent.
pub const TRACE_FLUSH_TIME: Duration = Duration::from_secs(2);

/// The minimum time between two warnings that the collector does not take spans.
pub const TRACE_WARNING_INTERVAL: Duration = Duration::from_secs(600);

/// The maximum length of an attribute of a span, in characters.
pub const TRACE_ATTRIBUTE_CHARS: usize = 256;

/// The maximum size of a `tracestate`, as W3C Trace Context lets receivers limit it.
pub const TRACE_STATE_BYTES: usize = 512;

/// The number of principals that metrics name. The others are counted together, as `other`.
pub const METRIC_PRINCIPALS: usize = 100;
