//! Notices that nobody uses a server, so that its process need not run (L14).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcparley_model::config::{Kind, ServerConfig};
use tokio::time::Instant;

use super::Live;

/// Who holds a connection that nobody uses: the actor and the published state.
const HOLDERS: usize = 2;

/// How often it is looked at within the limit: a server is stopped at most a quarter of the limit late.
const LOOKS: u32 = 4;

/// After which idle time the server is stopped. Only processes are worth it: an idle remote server costs us nothing.
pub(super) fn limit(config: &ServerConfig) -> Option<Duration> {
    (config.kind() == Kind::Stdio).then_some(config.idle_timeout).flatten()
}

/// Since when nobody has used a connection.
#[derive(Debug)]
pub(super) struct Idle {
    since: Instant,
}

impl Idle {
    pub(super) fn new() -> Self {
        Self { since: Instant::now() }
    }

    /// Waits until nobody has used the connection for `limit`. Giving up the waiting forgets nothing.
    pub(super) async fn over(&mut self, live: &Arc<Live>, limit: Option<Duration>) {
        let Some(limit) = limit else { return std::future::pending().await };
        loop {
            let is_used = live.used.swap(false, Ordering::Relaxed) || Arc::strong_count(live) > HOLDERS;
            // Who watches its resources needs it too.
            if is_used || !live.watched.is_empty() {
                self.since = Instant::now();
            }
            let left = limit.saturating_sub(self.since.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(limit / LOOKS)).await;
        }
    }
}
