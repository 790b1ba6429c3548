//! Records the elicitation pages that the server reported as finished (2025-11-25).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::PAGES_DONE;
use mcparley_wire::RawJson;
use serde::Deserialize;
use tokio::sync::Notify;

/// The finished pages by elicitation id. Bounded: the oldest are evicted.
#[derive(Debug, Default)]
pub(super) struct PageVisits {
    done: Mutex<VecDeque<String>>,
    news: Notify,
}

impl PageVisits {
    /// Handles `notifications/elicitation/complete`. A notification without an id is ignored.
    pub(super) fn handle_complete(&self, params: Option<&RawJson>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CompleteParams {
            elicitation_id: String,
        }
        let Some(Ok(CompleteParams { elicitation_id })) = params.map(RawJson::decode) else { return };
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done.len() >= PAGES_DONE {
            done.pop_front();
        }
        done.push_back(elicitation_id);
        drop(done);
        self.news.notify_waiters();
    }

    /// Waits until the server reports the page with this id as finished. Each report is returned once.
    pub(super) async fn wait_until_finished(&self, id: &str) {
        loop {
            // Registered before the check, so that no report is missed in between.
            let news = self.news.notified();
            let mut news = std::pin::pin!(news);
            news.as_mut().enable();
            if self.take_finished(id) {
                return;
            }
            news.await;
        }
    }

    fn take_finished(&self, id: &str) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let place = done.iter().position(|known| known == id);
        place.and_then(|place| done.remove(place)).is_some()
    }
}
