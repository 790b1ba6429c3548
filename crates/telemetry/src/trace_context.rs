//! The trace context of a request: W3C Trace Context, as `traceparent` and `tracestate` write it.
//!
//! MCP sends both as members of `_meta`, HTTP as headers.

use std::fmt;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use mcparley_model::limits::TRACE_STATE_BYTES;
use mcparley_platform::random::random_number;

/// The length of `version-trace-parent-flags`.
const TRACEPARENT_LENGTH: usize = 55;
/// The flag of a trace that its caller exports.
const SAMPLED: u8 = 1;

/// The id of a trace, which all its spans share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// The id of a span, unique in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// The place of a span in its trace, as it is passed on with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    /// Whether the trace is exported.
    pub(crate) is_sampled: bool,
    /// The `tracestate`, which belongs to other vendors and is passed on as it came.
    pub(crate) state: Option<Arc<str>>,
}

impl TraceContext {
    /// Parses a `traceparent`. A wrong one is `None`: the specification lets its receiver begin a new trace.
    ///
    /// Later versions may append members, which are ignored.
    #[must_use]
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let (known, rest) = traceparent.trim().split_at_checked(TRACEPARENT_LENGTH)?;
        let mut parts = known.split('-');
        let mut next = || parts.next();
        let (version, trace, span, flags) = (next()?, next()?, next()?, next()?);
        let [version] = parse_hex::<1>(version)?;
        let is_version_right = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let (trace, span, [flags]) = (parse_hex::<16>(trace)?, parse_hex::<8>(span)?, parse_hex::<1>(flags)?);
        if !is_version_right || next().is_some() || trace == [0; 16] || span == [0; 8] {
            return None;
        }
        let state = tracestate.filter(|state| !state.is_empty() && state.len() <= TRACE_STATE_BYTES);
        Some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            is_sampled: flags & SAMPLED != 0,
            state: state.map(Arc::from),
        })
    }

    /// The `traceparent` of requests that the span sends.
    #[must_use]
    pub fn to_traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span, u8::from(self.is_sampled))
    }

    /// The `tracestate` of requests that the span sends.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The context of a new span below this one.
    pub(crate) fn new_child(&self) -> Self {
        Self { span: SpanId::random(), ..self.clone() }
    }
}

impl TraceId {
    /// The low half of the id, by which traces are sampled.
    pub(crate) fn low_half(self) -> u64 {
        u64::from_be_bytes(self.0.last_chunk().copied().unwrap_or_default())
    }

    pub(crate) fn random() -> Self {
        let value = u128::from(random_nonzero()) << 64 | u128::from(random_nonzero());
        Self(value.to_be_bytes())
    }
}

impl SpanId {
    pub(crate) fn random() -> Self {
        Self(random_nonzero().to_be_bytes())
    }
}

/// A random number that is not zero: ids of zeros are invalid.
fn random_nonzero() -> u64 {
    random_number().max(1)
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

/// Parses exactly `N` bytes of lowercase hexadecimal digits: the specification allows no others.
fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
