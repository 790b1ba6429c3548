//! The queue of finished spans. A full queue drops the newest span and counts it: no call waits for a collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcparley_model::limits::TRACE_QUEUE;
use tokio::sync::mpsc;

use crate::finished_span::FinishedSpan;

/// The figures of the export, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Spans that the collector has taken.
    pub exported: u64,
    /// Spans that were dropped: the queue was full, or the collector did not take them.
    pub dropped: u64,
}

/// A bounded queue of finished spans.
#[must_use]
pub fn span_queue() -> (SpanQueue, SpanReceiver) {
    let (sender, receiver) = mpsc::channel(TRACE_QUEUE);
    let counters = Arc::new(Counters::default());
    (SpanQueue { sender, counters: Arc::clone(&counters) }, SpanReceiver { receiver, counters })
}

#[derive(Debug, Default)]
struct Counters {
    exported: AtomicU64,
    dropped: AtomicU64,
}

/// The end of the queue that spans are put into.
#[derive(Clone, Debug)]
pub struct SpanQueue {
    sender: mpsc::Sender<FinishedSpan>,
    counters: Arc<Counters>,
}

/// The end of the queue that the exporter reads.
#[derive(Debug)]
pub struct SpanReceiver {
    receiver: mpsc::Receiver<FinishedSpan>,
    counters: Arc<Counters>,
}

impl SpanQueue {
    pub(crate) fn push_span(&self, span: FinishedSpan) {
        if self.sender.try_send(span).is_err() {
            self.count_dropped();
        }
    }

    pub(crate) fn count_dropped(&self) {
        self.counters.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> ExportCounts {
        ExportCounts {
            exported: self.counters.exported.load(Ordering::Relaxed),
            dropped: self.counters.dropped.load(Ordering::Relaxed),
        }
    }
}

impl SpanReceiver {
    /// Waits for the next span.
    pub async fn next_span(&mut self) -> Option<FinishedSpan> {
        self.receiver.recv().await
    }

    /// The next span, if one waits.
    pub fn try_next_span(&mut self) -> Option<FinishedSpan> {
        self.receiver.try_recv().ok()
    }

    /// Counts spans that the collector has taken.
    pub fn count_exported(&self, spans: usize) {
        self.counters.exported.fetch_add(spans as u64, Ordering::Relaxed);
    }

    /// Counts spans that were given up.
    pub fn count_dropped(&self, spans: usize) {
        self.counters.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }
}
