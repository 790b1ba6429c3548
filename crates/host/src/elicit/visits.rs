//! Remembers at which pages a person is done, as far as the server tells (2025-11-25).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::PAGES_DONE;
use mcparley_wire::RawJson;
use serde::Deserialize;
use tokio::sync::Notify;

/// The pages that are done with, by what the server calls them. A server that tells of ever more forgets the oldest.
#[derive(Debug, Default)]
pub(super) struct Visits {
    done: Mutex<VecDeque<String>>,
    news: Notify,
}

impl Visits {
    /// Takes `notifications/elicitation/complete`. What names no page says nothing.
    pub(super) fn tell(&self, params: Option<&RawJson>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Complete {
            elicitation_id: String,
        }
        let Some(Ok(Complete { elicitation_id })) = params.map(RawJson::decode) else { return };
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done.len() >= PAGES_DONE {
            done.pop_front();
        }
        done.push_back(elicitation_id);
        drop(done);
        self.news.notify_waiters();
    }

    /// Waits until the server tells that the person is done at the page it calls so. It is told once.
    pub(super) async fn done(&self, id: &str) {
        loop {
            // Before looking, so that nothing is told in between.
            let news = self.news.notified();
            let mut news = std::pin::pin!(news);
            news.as_mut().enable();
            if self.take(id) {
                return;
            }
            news.await;
        }
    }

    fn take(&self, id: &str) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let place = done.iter().position(|known| known == id);
        place.and_then(|place| done.remove(place)).is_some()
    }
}
