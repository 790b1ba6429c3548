//! A `tracing` subscriber that records every span and event of mcparley with its fields.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, set_default};
use tracing::{Event, Metadata, Subscriber};

/// Spans and events of one thread, in the order in which they began. All clones share one record.
#[derive(Clone, Debug, Default)]
pub struct TraceRecorder(Arc<Mutex<Vec<String>>>);

impl TraceRecorder {
    /// Records the spans and events of this thread until the guard is dropped.
    #[must_use]
    pub fn install() -> (Self, DefaultGuard) {
        let recorder = Self::default();
        let guard = set_default(recorder.clone());
        (recorder, guard)
    }

    /// The recorded lines: spans as `name field=value …`, events as `event field=value …`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for TraceRecorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("mcparley")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = span.metadata().name().to_owned();
        span.record(&mut LineVisitor(&mut line));
        let mut lines = self.lock();
        lines.push(line);
        // A span id is the number of its line, counted from one.
        Id::from_u64(lines.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let index = usize::try_from(span.into_u64() - 1).unwrap_or(usize::MAX);
        if let Some(line) = self.lock().get_mut(index) {
            values.record(&mut LineVisitor(line));
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = "event".to_owned();
        event.record(&mut LineVisitor(&mut line));
        self.lock().push(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Appends fields to a line.
struct LineVisitor<'l>(&'l mut String);

impl Visit for LineVisitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string cannot fail.
        let _written = write!(self.0, " {}={value:?}", field.name());
    }
}
