//! Background writes: kept in their order while the store is away, and dropped with a count when there are too
//! many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcparley_model::limits::{CLUSTER_WRITE_BYTES, CLUSTER_WRITES};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::store::{SharedStore, SharedStoreError, StoreChange};

/// The maximum number of changes that are sent at once.
const BATCH: usize = 64;
/// The pause after a failed attempt.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// The interval at which [`WriteQueue::wait_until_empty`] looks.
const EMPTY_INTERVAL: Duration = Duration::from_millis(10);

/// A bounded queue of changes, applied by a task of its own.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    sender: mpsc::Sender<StoreChange>,
    counts: Arc<WriteCounts>,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct WriteCounts {
    waiting: AtomicUsize,
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl WriteQueue {
    pub(crate) fn start(store: Arc<dyn SharedStore>) -> Self {
        let (sender, changes) = mpsc::channel(CLUSTER_WRITES);
        let counts = Arc::<WriteCounts>::default();
        let task = tokio::spawn(apply_queue(store, changes, Arc::clone(&counts))).abort_handle();
        Self { sender, counts, task }
    }

    /// Adds a change; a full queue drops it.
    pub(crate) fn add_change(&self, change: StoreChange) {
        let counts = &self.counts;
        let size = change.size();
        let before = counts.waiting_bytes.fetch_add(size, Ordering::Relaxed);
        counts.waiting.fetch_add(1, Ordering::Relaxed);
        // A single large change passes when nothing else waits.
        let is_full = before > 0 && before + size > CLUSTER_WRITE_BYTES;
        let is_queued = !is_full && self.sender.try_send(change).is_ok();
        if !is_queued {
            counts.note_end(1, size);
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of changes that wait.
    pub(crate) fn waiting_count(&self) -> usize {
        self.counts.waiting.load(Ordering::Relaxed)
    }

    /// The number of changes that were dropped: by the full queue, or refused by the store.
    pub(crate) fn dropped_count(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Waits until all changes are applied.
    pub(crate) async fn wait_until_empty(&self) {
        while self.waiting_count() > 0 {
            tokio::time::sleep(EMPTY_INTERVAL).await;
        }
    }
}

impl WriteCounts {
    fn note_end(&self, changes: usize, size: usize) {
        self.waiting.fetch_sub(changes, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(size, Ordering::Relaxed);
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn apply_queue(
    store: Arc<dyn SharedStore>,
    mut changes: mpsc::Receiver<StoreChange>,
    counts: Arc<WriteCounts>,
) {
    let mut availability = store.availability();
    let mut batch = Vec::new();
    while changes.recv_many(&mut batch, BATCH).await > 0 {
        loop {
            if availability.wait_for(|is_available| *is_available).await.is_err() {
                return;
            }
            match store.apply_changes(batch.clone()).await {
                Ok(()) => break,
                // A repeated change has the same effect; an event that is appended twice carries its number.
                Err(SharedStoreError::Unavailable) => tokio::time::sleep(RETRY_PAUSE).await,
                Err(SharedStoreError::Refused { reason, changes }) => {
                    tracing::warn!(reason, changes, "the shared state refuses writes");
                    counts.dropped.fetch_add(changes as u64, Ordering::Relaxed);
                    break;
                }
            }
        }
        counts.note_end(batch.len(), batch.iter().map(StoreChange::size).sum());
        batch.clear();
    }
}
