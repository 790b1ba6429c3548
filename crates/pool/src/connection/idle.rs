//! Idle timeout: detects that a server is unused, so that its process can be stopped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcparley_model::config::{ServerConfig, TransportKind};
use tokio::time::Instant;

use super::LiveConnection;

/// The reference count of an unused connection: the actor and the published state.
const HOLDERS: usize = 2;

/// The number of checks within the idle timeout: a server is stopped at most a quarter of the timeout late.
const LOOKS: u32 = 4;

/// The idle timeout of an entry. Only for local processes: an idle remote server costs this machine nothing.
pub(super) fn idle_timeout(config: &ServerConfig) -> Option<Duration> {
    (config.kind() == TransportKind::Stdio).then_some(config.idle_timeout).flatten()
}

/// The time of the last use of a connection.
#[derive(Debug)]
pub(super) struct IdleTimer {
    since: Instant,
}

impl IdleTimer {
    pub(super) fn new() -> Self {
        Self { since: Instant::now() }
    }

    /// Waits until the connection has been unused for `limit`. Cancel safe.
    pub(super) async fn wait_until_idle(&mut self, live: &Arc<LiveConnection>, limit: Option<Duration>) {
        let Some(limit) = limit else { return std::future::pending().await };
        loop {
            let is_used = live.used.swap(false, Ordering::Relaxed) || Arc::strong_count(live) > HOLDERS;
            // Watched resources count as use.
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
