//! The progress notifications of one call, as a stream.

use mcparley_wire::peer::ProgressUpdate;
use tokio::sync::watch;

/// A stream of one call's progress: the newest value each time, the last one exactly once, then the end.
///
/// A slow reader misses values in between, never the last. Created by
/// [`Call::with_progress`](super::Call::with_progress).
#[derive(Debug)]
pub struct ProgressStream {
    newest: watch::Receiver<Option<ProgressUpdate>>,
}

impl ProgressStream {
    /// Creates a stream and its sender; dropping the sender ends the stream.
    pub(super) fn new() -> (watch::Sender<Option<ProgressUpdate>>, Self) {
        let (sender, newest) = watch::channel(None);
        (sender, Self { newest })
    }

    /// Waits for the next value; `None` when the call is over and its last value was returned.
    ///
    /// Cancel-safe: dropping the future loses no value.
    pub async fn next(&mut self) -> Option<ProgressUpdate> {
        loop {
            self.newest.changed().await.ok()?;
            if let Some(progress) = self.newest.borrow_and_update().clone() {
                return Some(progress);
            }
        }
    }
}
