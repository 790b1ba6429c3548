//! The `tracing` span of one request to a server, and the trace context that the request carries.

use std::borrow::Cow;

use mcparley_model::name::ServerName;
use mcparley_telemetry::{SpanOutcome, TraceContext};
use mcparley_wire::{Failure, RequestParams, RoundOutcome};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use super::context::CallContext;

/// The `_meta` members of the trace context.
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// Opens the span of a request, if a subscriber wants it.
pub(super) fn open_upstream_span(server: Option<&ServerName>, method: &'static str) -> Option<Span> {
    let server = server.map(ServerName::as_str);
    let span = info_span!("upstream_request", server, method, outcome = Empty);
    (!span.is_disabled()).then_some(span)
}

/// Sends the request in its span, and records the outcome.
pub(super) async fn send_in_span(
    span: Span,
    request: impl Future<Output = Result<RoundOutcome, Failure>>,
) -> Result<RoundOutcome, Failure> {
    let outcome = SpanOutcome::new(&span);
    let sent = request.instrument(span).await;
    outcome.record(match &sent {
        Ok(RoundOutcome::Complete(_) | RoundOutcome::Task(_)) => "ok",
        Ok(RoundOutcome::InputRequired(_)) => "input-required",
        Err(failure) => failure.kind(),
    });
    sent
}

/// Puts the current span between the client's and those of the server. Without a collector of spans, and where the
/// client's bytes stay as they are, nothing is changed.
pub(super) fn with_trace_meta<'p>(
    params: Cow<'p, RequestParams>,
    context: Option<&CallContext>,
) -> Cow<'p, RequestParams> {
    if context.is_some_and(|context| context.keeps_meta) {
        return params;
    }
    let Some(trace) = TraceContext::current() else { return params };
    let params = params.into_owned().with_meta(TRACEPARENT, trace.to_traceparent());
    Cow::Owned(match trace.tracestate() {
        Some(state) => params.with_meta(TRACESTATE, state),
        // One that came with a wrong `traceparent` belongs to no trace.
        None => params.without_meta(TRACESTATE),
    })
}
