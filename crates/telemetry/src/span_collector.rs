//! The `tracing` subscriber that turns the spans of the program into spans of a trace.
//!
//! Opening and closing a span takes a short lock on one of several tables, and never waits for a collector. Spans
//! of other crates, and events, are not collected.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mcparley_model::limits::TRACE_OPEN_SPANS;
use tracing::metadata::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

use crate::finished_span::{AttributeValue, FinishedSpan};
use crate::sampler::TraceSampler;
use crate::span_fields::FieldCollector;
use crate::span_queue::{ExportCounts, SpanQueue};
use crate::trace_context::{SpanId, TraceContext, TraceId};

/// The number of tables of open spans, so that threads rarely wait for each other.
const TABLES: usize = 16;

thread_local! {
    /// The spans that this thread has entered, the innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Collects the spans of the program.
#[derive(Debug)]
pub struct SpanCollector {
    sampler: TraceSampler,
    queue: SpanQueue,
    next: AtomicU64,
    open: [Mutex<HashMap<u64, OpenSpan>>; TABLES],
}

/// A span that has begun and not ended.
#[derive(Debug)]
struct OpenSpan {
    /// The number of handles to the span. It ends with the last one.
    handles: usize,
    context: TraceContext,
    parent: Option<SpanId>,
    metadata: &'static Metadata<'static>,
    attributes: Vec<(&'static str, AttributeValue)>,
    started: (SystemTime, Instant),
}

impl SpanCollector {
    /// A collector that puts sampled spans into the queue when they end.
    #[must_use]
    pub fn new(sampler: TraceSampler, queue: SpanQueue) -> Self {
        Self { sampler, queue, next: AtomicU64::new(1), open: Default::default() }
    }

    /// The context of an open span.
    fn context_of(&self, span: &Id) -> Option<TraceContext> {
        self.lock_table(span.into_u64()).get(&span.into_u64()).map(|open| open.context.clone())
    }

    fn lock_table(&self, number: u64) -> MutexGuard<'_, HashMap<u64, OpenSpan>> {
        let index = usize::try_from(number % TABLES as u64).unwrap_or_default();
        let [first, ..] = &self.open;
        // Every change is one step, so a panic leaves no partial change.
        self.open.get(index).unwrap_or(first).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The context of the span that a new one belongs to.
    fn local_parent(&self, attributes: &Attributes<'_>) -> Option<TraceContext> {
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.clone()),
            None if attributes.is_contextual() => innermost_span(),
            None => None,
        };
        self.context_of(&parent?)
    }

    /// Begins a trace, or goes on with the one of the client.
    fn begin_trace(&self, remote: Option<&TraceContext>) -> TraceContext {
        let trace = remote.map_or_else(TraceId::random, |remote| remote.trace);
        let is_sampled = self.sampler.is_sampled(trace, remote.map(|remote| remote.is_sampled));
        let state = remote.and_then(|remote| remote.state.clone());
        TraceContext { trace, span: SpanId::random(), is_sampled, state }
    }
}

impl Subscriber for SpanCollector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && *metadata.level() <= Level::INFO && metadata.target().starts_with("mcparley")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = FieldCollector::default();
        attributes.record(&mut fields);
        let remote = fields.remote_parent();
        let local = if remote.is_some() { None } else { self.local_parent(attributes) };
        let parent = local.as_ref().or(remote.as_ref()).map(|parent| parent.span);
        let context = match &local {
            Some(local) => local.new_child(),
            None => self.begin_trace(remote.as_ref()),
        };
        let is_sampled = context.is_sampled;
        let open = OpenSpan {
            handles: 1,
            context,
            parent,
            metadata: attributes.metadata(),
            attributes: if is_sampled { fields.attributes } else { Vec::new() },
            started: (SystemTime::now(), Instant::now()),
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed).max(1);
        let mut table = self.lock_table(number);
        if table.len() < TRACE_OPEN_SPANS / TABLES {
            drop(table.insert(number, open))
        } else {
            self.queue.count_dropped()
        }
        Id::from_u64(number)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut table = self.lock_table(span.into_u64());
        let Some(open) = table.get_mut(&span.into_u64()).filter(|open| open.context.is_sampled) else {
            return;
        };
        let mut fields = FieldCollector::default();
        values.record(&mut fields);
        for (name, value) in fields.attributes {
            open.attributes.retain(|(known, _)| *known != name);
            open.attributes.push((name, value));
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(index) = entered.iter().rposition(|number| *number == span.into_u64()) {
                entered.remove(index);
            }
        });
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(open) = self.lock_table(span.into_u64()).get_mut(&span.into_u64()) {
            open.handles += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let number = span.into_u64();
        let mut table = self.lock_table(number);
        let Some(open) = table.get_mut(&number) else { return false };
        open.handles = open.handles.saturating_sub(1);
        if open.handles > 0 {
            return false;
        }
        let ended = table.remove(&number);
        drop(table);
        if let Some(ended) = ended.filter(|open| open.context.is_sampled) {
            self.queue.push_span(ended.into_finished());
        }
        true
    }

    fn current_span(&self) -> Current {
        let Some(span) = innermost_span() else { return Current::none() };
        let metadata = self.lock_table(span.into_u64()).get(&span.into_u64()).map(|open| open.metadata);
        metadata.map_or_else(Current::none, |metadata| Current::new(span, metadata))
    }
}

impl OpenSpan {
    fn into_finished(self) -> FinishedSpan {
        let (since, begun) = self.started;
        let nanos = |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let started = since.duration_since(UNIX_EPOCH).map_or(0, nanos);
        FinishedSpan {
            context: self.context,
            parent: self.parent,
            name: self.metadata.name(),
            attributes: self.attributes,
            started,
            // By the monotonic clock, so that no span ends before it begins.
            ended: started.saturating_add(nanos(begun.elapsed())),
        }
    }
}

/// The innermost span that this thread has entered.
fn innermost_span() -> Option<Id> {
    ENTERED.with_borrow(|entered| entered.last().copied()).filter(|number| *number > 0).map(Id::from_u64)
}

/// Whether the spans of this thread are collected.
#[must_use]
pub fn is_tracing() -> bool {
    with_collector(|_| Some(())).is_some()
}

/// The figures of the export of this process; zero without one.
#[must_use]
pub fn export_counts() -> ExportCounts {
    with_collector(|collector| Some(collector.queue.counts())).unwrap_or_default()
}

impl TraceContext {
    /// The context of the current span of `tracing`, if spans are collected.
    #[must_use]
    pub fn current() -> Option<Self> {
        with_collector(|collector| collector.context_of(&innermost_span()?))
    }
}

/// Runs `work` with the collector of this thread, if there is one.
fn with_collector<T>(work: impl FnOnce(&SpanCollector) -> Option<T>) -> Option<T> {
    if !tracing::dispatcher::has_been_set() {
        return None;
    }
    let mut work = Some(work);
    tracing::dispatcher::get_default(|dispatch| {
        let collector = dispatch.downcast_ref::<SpanCollector>()?;
        work.take().and_then(|work| work(collector))
    })
}

#[cfg(test)]
mod tests;
