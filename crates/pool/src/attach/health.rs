//! What a client remembers about the daemon: when it started one, and whether one has just failed to answer.
//!
//! Without this memory a client would start a daemon that ends at once for every server, and would wait for a daemon
//! that hangs each time it connects.

use std::time::Duration;

use mcparley_model::limits::{DAEMON_RESTART_TIME, DAEMON_SKIP_TIME};
use tokio::time::Instant;

/// The last start of the daemon by this client, and its last silence.
#[derive(Debug, Default)]
pub(super) struct DaemonHealth {
    started: Option<Instant>,
    silent: Option<(Instant, String)>,
}

impl DaemonHealth {
    /// Whether the daemon may be started now, which is noted. Clients that connect together start it once.
    pub(super) fn begin_start(&mut self) -> bool {
        let may_start = self.started.is_none_or(|at| has_passed(at, DAEMON_RESTART_TIME));
        if may_start {
            self.started = Some(Instant::now());
        }
        may_start
    }

    /// Notes the reason why the daemon cannot be used for some time.
    pub(super) fn note_silence(&mut self, reason: &str) {
        self.silent = Some((Instant::now(), reason.to_owned()));
    }

    /// The reason why the daemon is not asked now.
    pub(super) fn recent_silence(&self) -> Option<String> {
        let (at, reason) = self.silent.as_ref()?;
        (!has_passed(*at, DAEMON_SKIP_TIME)).then(|| reason.clone())
    }
}

fn has_passed(since: Instant, time: Duration) -> bool {
    since.elapsed() >= time
}

#[cfg(test)]
mod tests {
    //! The times of the memory, on a paused clock.

    use super::*;

    // U5
    #[tokio::test(start_paused = true)]
    async fn daemon_is_started_once_per_interval() {
        let mut health = DaemonHealth::default();
        assert!(health.begin_start());
        assert!(!health.begin_start());
        tokio::time::advance(DAEMON_RESTART_TIME).await;
        assert!(health.begin_start());
        assert!(!health.begin_start());
    }

    // U5
    #[tokio::test(start_paused = true)]
    async fn daemon_that_does_not_answer_is_asked_again_after_some_seconds() {
        let mut health = DaemonHealth::default();
        assert_eq!(health.recent_silence(), None);
        health.note_silence("it does not answer");
        assert_eq!(health.recent_silence().as_deref(), Some("it does not answer"));
        tokio::time::advance(DAEMON_SKIP_TIME).await;
        assert_eq!(health.recent_silence(), None);
    }
}
