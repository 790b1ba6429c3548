//! The progress notifications of one call, as a stream.

use mcparley_wire::peer::{ProgressReceiver, ProgressSender, ProgressUpdate, progress_channel};

/// A stream of one call's progress: every value in order, the last one exactly once, then the end.
///
/// A reader that falls behind by more than [`PROGRESS_UPDATES`](mcparley_model::limits::PROGRESS_UPDATES) misses values
/// in between, never the last. Created by [`Call::with_progress`](super::Call::with_progress).
#[derive(Debug)]
pub struct ProgressStream {
    updates: ProgressReceiver,
}

impl ProgressStream {
    /// Creates a stream and its sender; dropping the sender ends the stream.
    pub(super) fn new() -> (ProgressSender, Self) {
        let (sender, updates) = progress_channel();
        (sender, Self { updates })
    }

    /// Waits for the next value; `None` when the call is over and its last value was returned.
    ///
    /// Cancel-safe: dropping the future loses no value.
    pub async fn next(&mut self) -> Option<ProgressUpdate> {
        self.updates.next_update().await
    }
}
