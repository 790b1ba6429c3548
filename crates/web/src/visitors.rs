//! The connected pages: bounded in number, and counted, so that `mcparley ui` ends some time after the last.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::PAGE_STREAMS;
use tokio::sync::watch;

/// Counter of the event streams that are open.
#[derive(Clone, Debug)]
pub(crate) struct Visitors {
    count: Arc<watch::Sender<usize>>,
}

/// One open event stream, which counts until it is dropped.
#[derive(Debug)]
pub(crate) struct VisitorGuard {
    count: Arc<watch::Sender<usize>>,
}

impl Visitors {
    pub(crate) fn new() -> Self {
        Self { count: Arc::new(watch::Sender::new(0)) }
    }

    /// Counts one more stream; `None` if there are too many.
    pub(crate) fn admit_stream(&self) -> Option<VisitorGuard> {
        let is_admitted = self.count.send_if_modified(|count| {
            let has_room = *count < PAGE_STREAMS;
            *count += usize::from(has_room);
            has_room
        });
        is_admitted.then(|| VisitorGuard { count: Arc::clone(&self.count) })
    }

    /// Waits until no page was connected for this time.
    pub(crate) async fn wait_until_idle(&self, idle: Duration) {
        let mut count = self.count.subscribe();
        loop {
            // The sender lives as long as this value.
            let _none = count.wait_for(|count| *count == 0).await.is_ok();
            let next = count.wait_for(|count| *count > 0);
            if tokio::time::timeout(idle, next).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for VisitorGuard {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U6
    #[tokio::test(start_paused = true)]
    async fn idle_time_begins_when_the_last_page_is_gone() {
        let visitors = Visitors::new();
        let idle = Duration::from_secs(60);
        let page = visitors.admit_stream();
        let begin = tokio::time::Instant::now();
        let leaving = async {
            tokio::time::sleep(Duration::from_secs(300)).await;
            drop(page);
        };
        tokio::join!(visitors.wait_until_idle(idle), leaving);
        assert_eq!(begin.elapsed(), Duration::from_secs(360));
    }

    // U6
    #[test]
    fn number_of_streams_is_limited() {
        let visitors = Visitors::new();
        let mut open: Vec<VisitorGuard> = (0..PAGE_STREAMS).filter_map(|_| visitors.admit_stream()).collect();
        assert_eq!(open.len(), PAGE_STREAMS);
        assert!(visitors.admit_stream().is_none());
        open.pop();
        assert!(visitors.admit_stream().is_some());
    }
}
