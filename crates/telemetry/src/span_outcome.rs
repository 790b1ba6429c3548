//! The outcome of the work in a span, also of work that is canceled.

use tracing::Span;

/// Records the outcome in the span's field `outcome`. Dropped without one, the work was canceled.
#[derive(Debug)]
pub struct SpanOutcome(Span);

impl SpanOutcome {
    /// For work in this span, which must have a field `outcome`.
    #[must_use]
    pub fn new(span: &Span) -> Self {
        Self(span.clone())
    }

    /// Records the outcome.
    pub fn record(mut self, outcome: &str) {
        std::mem::replace(&mut self.0, Span::none()).record("outcome", outcome);
    }
}

impl Drop for SpanOutcome {
    fn drop(&mut self) {
        // After an outcome was recorded, this is no span.
        self.0.record("outcome", "canceled");
    }
}
