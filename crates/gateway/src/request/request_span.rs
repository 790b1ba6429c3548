//! The `tracing` span of a client's request, which goes on with the trace of the client.

use hyper::HeaderMap;
use mcparley_telemetry::{SpanOutcome, is_tracing, known_method};
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::{Incoming, JsonPieces, RawJson, RpcError};
use tracing::field::Empty;
use tracing::{Instrument as _, Level, Span, info_span, span_enabled};

use crate::client_abilities::RequestMeta;
use crate::session::GatewaySession;

/// The trace context of a client in headers of HTTP, which counts if `_meta` has none.
#[derive(Debug, Default)]
pub struct TraceHeaders(Option<Box<TraceFields>>);

/// `traceparent` and `tracestate` as the client wrote them.
#[derive(Debug, Default)]
struct TraceFields {
    parent: String,
    state: Option<String>,
}

/// The tool that a request names. It is looked up when it is needed: at first, its server may not be connected yet.
#[derive(Debug)]
pub struct RequestedTool {
    session: GatewaySession,
    name: String,
}

/// The name of tools that are not in the view, and of their servers: clients may write any text there.
const UNKNOWN: &str = "unknown";

impl RequestedTool {
    /// The server of the tool, and the tool by the name that clients see; `None` if it is not in the view.
    fn find_in_view(&self) -> Option<(String, &str)> {
        let view = self.session.shared.gateway.view();
        let entry = view.find_tool(&self.name)?;
        let server = entry.server().map_or_else(|| "mcparley".to_owned(), ToString::to_string);
        Some((server, &self.name))
    }

    /// Like the search in the view, with a name for all tools that are not in the view.
    #[must_use]
    pub fn find_or_unknown(&self) -> (String, &str) {
        self.find_in_view().unwrap_or_else(|| (UNKNOWN.to_owned(), UNKNOWN))
    }
}

impl TraceHeaders {
    /// Reads the headers, if spans are collected.
    #[must_use]
    pub fn read(headers: &HeaderMap) -> Self {
        let text = |name: &str| {
            let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            let values: Vec<&str> = values.collect();
            (!values.is_empty()).then(|| values.join(","))
        };
        let parent = if is_tracing() { text("traceparent") } else { None };
        Self(parent.map(|parent| Box::new(TraceFields { parent, state: text("tracestate") })))
    }
}

impl GatewaySession {
    /// Answers a request in a span of its own, if a subscriber wants it.
    pub fn answer_in_span(
        &self,
        incoming: Incoming,
        headers: &TraceHeaders,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        let span = self.open_request_span(&incoming, headers);
        let called =
            span.as_ref().and_then(|_| self.requested_tool(&incoming.method, incoming.params.as_ref()));
        let answer = self.answer_incoming(incoming);
        let Some(span) = span else { return answer };
        Box::pin(async move {
            let outcome = SpanOutcome::new(&span);
            if let Some((server, tool)) = called.as_ref().and_then(RequestedTool::find_in_view) {
                span.record("server", server).record("tool", tool);
            }
            let answer = answer.instrument(span.clone()).await;
            // Its server may have connected for this call.
            if let Some((server, tool)) = called.as_ref().map(RequestedTool::find_or_unknown) {
                span.record("server", server).record("tool", tool);
            }
            if let Err(error) = &answer {
                span.record("code", error.code);
            }
            outcome.record(if answer.is_ok() { "ok" } else { "error" });
            answer
        })
    }

    fn open_request_span(&self, incoming: &Incoming, headers: &TraceHeaders) -> Option<Span> {
        if !span_enabled!(Level::INFO) {
            return None;
        }
        let (method, params) = (&*incoming.method, incoming.params.as_ref());
        // A wrong `_meta` is refused later.
        let meta = RequestMeta::parse(params).unwrap_or_default();
        let from_meta = meta.trace_fields().map(|(parent, state)| TraceFields {
            parent: parent.to_owned(),
            state: state.map(str::to_owned),
        });
        let trace = from_meta.as_ref().or(headers.0.as_deref());
        let is_new = meta.has_version() || method == "server/discover";
        Some(info_span!(
            "request",
            traceparent = trace.map(|trace| trace.parent.as_str()),
            tracestate = trace.and_then(|trace| trace.state.as_deref()),
            method = known_method(method),
            era = if is_new { "new" } else { "old" },
            principal = self.principal_name(),
            server = Empty,
            tool = Empty,
            code = Empty,
            outcome = Empty
        ))
    }

    /// The tool that `tools/call` names; `None` for other requests.
    #[must_use]
    pub fn requested_tool(&self, method: &str, params: Option<&RawJson>) -> Option<RequestedTool> {
        if method != "tools/call" {
            return None;
        }
        let name = params?.member("name")?.decode::<String>().ok()?;
        Some(RequestedTool { session: self.clone(), name })
    }
}
