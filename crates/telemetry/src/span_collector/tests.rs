//! Spans and their places in the trace.

use tracing::subscriber::with_default;
use tracing::{Instrument as _, Span, info, info_span};

use super::SpanCollector;
use crate::export_counts;
use crate::finished_span::{AttributeValue, FinishedSpan};
use crate::span_queue::{SpanReceiver, span_queue};
use crate::{TraceContext, TraceSampler};
use mcparley_model::limits::TRACE_QUEUE;

const CLIENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn collect(sampler: &str, work: impl FnOnce()) -> Vec<FinishedSpan> {
    let (collector, mut spans) = collector(sampler);
    with_default(collector, work);
    std::iter::from_fn(|| spans.try_next_span()).collect()
}

fn collector(sampler: &str) -> (SpanCollector, SpanReceiver) {
    let (queue, spans) = span_queue();
    (SpanCollector::new(TraceSampler::from_name(sampler, None).unwrap(), queue), spans)
}

fn named<'s>(spans: &'s [FinishedSpan], name: &str) -> &'s FinishedSpan {
    spans.iter().find(|span| span.name == name).unwrap()
}

// G6
#[test]
fn span_belongs_to_the_trace_of_the_client_and_its_children_to_it() {
    let mut sent = None;
    let spans = collect("parentbased_always_on", || {
        let request = info_span!("request", traceparent = CLIENT, tracestate = "v=1", method = "tools/call");
        let _entered = request.enter();
        let upstream = info_span!("upstream_request", server = "one");
        sent = upstream.in_scope(TraceContext::current);
    });
    let (request, upstream) = (named(&spans, "request"), named(&spans, "upstream_request"));
    let client = TraceContext::parse(CLIENT, None).unwrap();
    assert_eq!((request.parent, request.context.trace), (Some(client.span), client.trace));
    assert_eq!((upstream.parent, upstream.context.trace), (Some(request.context.span), client.trace));
    assert_eq!(sent.unwrap(), upstream.context);
    assert_eq!(upstream.context.tracestate(), Some("v=1"));
    assert!(request.started <= upstream.started && upstream.ended <= request.ended, "{spans:#?}");
    // The fields that carry the context are no attributes.
    assert_eq!(request.attributes, [("method", AttributeValue::Text("tools/call".to_owned()))]);
}

// G6
#[test]
fn span_without_a_valid_client_begins_a_trace() {
    let spans = collect("always_on", || {
        drop(info_span!("request", traceparent = "00-nonsense", tracestate = "v=1"));
        drop(info_span!("request"));
    });
    let [one, two] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!((one.parent, two.parent, one.context.tracestate()), (None, None, None));
    assert_ne!(one.context.trace, two.context.trace);
}

// G6
#[test]
fn span_that_is_not_sampled_is_not_exported_but_has_a_context() {
    let mut sent = None;
    let spans = collect("always_off", || {
        sent = info_span!("request", traceparent = CLIENT).in_scope(TraceContext::current);
    });
    assert_eq!(spans, []);
    let sent = sent.unwrap().to_traceparent();
    assert!(
        sent.starts_with(&CLIENT[..36]) && sent.ends_with("-00") && sent[36..52] != CLIENT[36..52],
        "{sent}"
    );
    let unsampled = CLIENT.replace("-01", "-00");
    assert_eq!(collect("parentbased_always_on", || drop(info_span!("request", traceparent = unsampled))), []);
}

// G6 N7
#[test]
fn only_known_fields_of_our_spans_leave_the_program() {
    let spans = collect("always_on", || {
        let span =
            info_span!("request", server = "one", arguments = "s3cret", outcome = tracing::field::Empty);
        span.record("outcome", "first");
        span.record("outcome", "o".repeat(300));
        let _entered = span.enter();
        info!(server = "s3cret", "an event");
        drop(info_span!(target: "hyper", "foreign", server = "s3cret"));
        drop(tracing::debug_span!("quiet", server = "s3cret"));
    });
    let [span] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!(span.text("outcome"), Some(&*"o".repeat(256)));
    assert_eq!(span.attributes.len(), 2, "{span:#?}");
    assert!(!format!("{spans:?}").contains("s3cret"));
}

// G6
#[tokio::test]
async fn tasks_that_take_turns_do_not_mix_their_spans() {
    let (collector, mut spans) = collector("always_on");
    let guard = tracing::subscriber::set_default(collector);
    let work = |name: &'static str| {
        async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
                drop(info_span!("upstream_request", server = name));
            }
        }
        .instrument(info_span!("request", server = name))
    };
    tokio::join!(work("one"), work("two"), work("three"));
    assert!(Span::current().is_none());
    drop(guard);
    let spans: Vec<_> = std::iter::from_fn(|| spans.try_next_span()).collect();
    assert_eq!(spans.len(), 12);
    for request in spans.iter().filter(|span| span.name == "request") {
        let children = spans.iter().filter(|span| span.parent == Some(request.context.span));
        let servers: Vec<_> = children.map(|child| child.text("server")).collect();
        assert_eq!(servers, [request.text("server"); 3]);
    }
}

// G6
#[test]
fn full_queue_drops_and_counts_spans() {
    let (collector, mut spans) = collector("always_on");
    with_default(collector, || {
        for _ in 0..TRACE_QUEUE + 7 {
            drop(info_span!("request"));
        }
        assert_eq!(export_counts().dropped, 7);
    });
    assert_eq!(std::iter::from_fn(|| spans.try_next_span()).count(), TRACE_QUEUE);
}
