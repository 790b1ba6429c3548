//! The allowed state transitions of a server (L1), checked against the published ones.

use mcparley_model::limits::RECONNECT_ATTEMPTS;
use tokio::sync::broadcast;

use crate::connection::{ServerStatus, StatusEvent};

/// The allowed transitions. A repeated state counts once.
const LEGAL: &[(&str, &[&str])] = &[
    ("dormant", &["pending", "disabled", "stopped"]),
    ("pending", &["connected", "failed", "needs-auth", "disabled", "stopped"]),
    // Failed: too many lost connections.
    ("connected", &["pending", "failed", "needs-auth", "dormant", "disabled", "stopped"]),
    ("failed", &["pending", "disabled", "stopped"]),
    ("needs-auth", &["pending", "disabled", "stopped"]),
    ("disabled", &["pending", "stopped"]),
    ("stopped", &[]),
];

/// The published states of a server so far.
pub(super) struct Path {
    events: broadcast::Receiver<StatusEvent>,
    been: Vec<&'static str>,
}

impl Path {
    /// Starts with a server that is not connected yet.
    pub(super) fn new(events: broadcast::Receiver<StatusEvent>) -> Self {
        Self { events, been: vec!["dormant"] }
    }

    /// All states so far.
    pub(super) fn been(&self) -> &[&'static str] {
        &self.been
    }

    /// Adds the current state, and panics if the transition is not allowed.
    pub(super) fn check(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            let next = word(&event.status);
            let last = self.been.last().unwrap();
            let (_, follow) = LEGAL.iter().find(|(state, _)| state == last).unwrap();
            assert!(follow.contains(&next), "{last} was followed by {next}");
            if let ServerStatus::Pending { attempt, .. } = event.status {
                assert!(attempt <= RECONNECT_ATTEMPTS, "attempt {attempt}");
            }
            self.been.push(next);
        }
        assert_eq!(self.events.len(), 0, "every event was looked at");
    }
}

fn word(status: &ServerStatus) -> &'static str {
    match status {
        ServerStatus::Dormant => "dormant",
        ServerStatus::Pending { .. } => "pending",
        ServerStatus::Connected { .. } => "connected",
        ServerStatus::Failed(_) => "failed",
        ServerStatus::NeedsAuth => "needs-auth",
        ServerStatus::Disabled => "disabled",
        ServerStatus::Stopped => "stopped",
    }
}
