//! The progress of one request, in a bounded queue.
//!
//! The receiving side of a connection never waits, and a server may report progress by the million. So a reader that
//! keeps up gets every report, and one that does not misses some in between, never the newest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::PROGRESS_UPDATES;
use tokio::sync::Notify;

use super::call::ProgressUpdate;

/// The sending end of the progress of one request. Dropping it ends the progress.
#[derive(Debug)]
pub struct ProgressSender(Arc<ProgressQueue>);

/// The receiving end of the progress of one request.
#[derive(Debug)]
pub struct ProgressReceiver(Arc<ProgressQueue>);

/// Shows the newest progress of one request to observers, which take nothing from the queue.
#[derive(Clone, Debug)]
pub struct NewestProgress(Arc<ProgressQueue>);

#[derive(Debug, Default)]
struct ProgressQueue {
    state: Mutex<QueueState>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<ProgressUpdate>,
    newest: Option<ProgressUpdate>,
    is_closed: bool,
}

/// Creates the two ends of the progress of one request.
#[must_use]
pub fn progress_channel() -> (ProgressSender, ProgressReceiver) {
    let queue = Arc::<ProgressQueue>::default();
    (ProgressSender(Arc::clone(&queue)), ProgressReceiver(queue))
}

impl ProgressSender {
    /// Adds an update. While the queue is full it replaces the newest one.
    pub fn send_update(&self, update: ProgressUpdate) {
        let mut state = self.0.lock_state();
        state.newest = Some(update.clone());
        if state.waiting.len() >= PROGRESS_UPDATES {
            state.waiting.pop_back();
        }
        state.waiting.push_back(update);
        drop(state);
        self.0.arrived.notify_one();
    }

    /// The newest update for observers.
    #[must_use]
    pub fn observe_newest(&self) -> NewestProgress {
        NewestProgress(Arc::clone(&self.0))
    }
}

impl NewestProgress {
    /// The newest update, if there was one.
    #[must_use]
    pub fn newest_update(&self) -> Option<ProgressUpdate> {
        self.0.lock_state().newest.clone()
    }
}

impl ProgressReceiver {
    /// Waits for the next update; `None` when the sender is gone and all were returned. Cancel-safe.
    pub async fn next_update(&mut self) -> Option<ProgressUpdate> {
        loop {
            match self.0.take_next() {
                QueueStep::Update(update) => return Some(update),
                QueueStep::Closed => return None,
                QueueStep::Empty => self.0.arrived.notified().await,
            }
        }
    }

    /// The next update, if one has arrived.
    pub fn try_next(&mut self) -> Option<ProgressUpdate> {
        self.0.lock_state().waiting.pop_front()
    }
}

/// The next step of a reader.
enum QueueStep {
    Update(ProgressUpdate),
    Closed,
    Empty,
}

impl ProgressQueue {
    fn take_next(&self) -> QueueStep {
        let mut state = self.lock_state();
        match state.waiting.pop_front() {
            Some(update) => QueueStep::Update(update),
            None if state.is_closed => QueueStep::Closed,
            None => QueueStep::Empty,
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        // Every change is one step, so a panic leaves no partial change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProgressSender {
    fn drop(&mut self) {
        self.0.lock_state().is_closed = true;
        self.0.arrived.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update_at(progress: f64) -> ProgressUpdate {
        ProgressUpdate { progress, total: None, message: None, raw: None }
    }

    async fn read_all(mut receiver: ProgressReceiver) -> Vec<f64> {
        let mut seen = Vec::new();
        while let Some(update) = receiver.next_update().await {
            seen.push(update.progress);
        }
        seen
    }

    // F95 G7
    #[tokio::test]
    async fn burst_arrives_whole_and_in_order() {
        let (sender, receiver) = progress_channel();
        let steps: Vec<f64> = (0..20).map(f64::from).collect();
        steps.iter().for_each(|step| sender.send_update(update_at(*step)));
        drop(sender);
        assert_eq!(read_all(receiver).await, steps);
    }

    // F95
    #[tokio::test]
    async fn full_queue_keeps_the_oldest_and_the_newest() {
        let (sender, receiver) = progress_channel();
        (0..1000).for_each(|step| sender.send_update(update_at(f64::from(step))));
        drop(sender);
        let seen = read_all(receiver).await;
        assert_eq!((seen.len(), seen[0], seen[PROGRESS_UPDATES - 1]), (PROGRESS_UPDATES, 0.0, 999.0));
    }

    // F95
    #[tokio::test]
    async fn reader_that_waits_is_woken_by_an_update_and_by_the_end() {
        let (sender, receiver) = progress_channel();
        let reading = tokio::spawn(read_all(receiver));
        tokio::task::yield_now().await;
        sender.send_update(update_at(1.0));
        tokio::task::yield_now().await;
        drop(sender);
        assert_eq!(reading.await.unwrap(), [1.0]);
    }
}
