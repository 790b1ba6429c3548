//! Which states of a server may follow each other (L1), and that those which were published did.

use mcparley_model::limits::RECONNECT_ATTEMPTS;
use tokio::sync::broadcast;

use crate::connection::{Event, Status};

/// What may follow what. The same state twice is one state.
const LEGAL: &[(&str, &[&str])] = &[
    ("dormant", &["pending", "disabled", "stopped"]),
    ("pending", &["connected", "failed", "needs-auth", "disabled", "stopped"]),
    // Failed: it was lost once too often.
    ("connected", &["pending", "failed", "needs-auth", "dormant", "disabled", "stopped"]),
    ("failed", &["pending", "disabled", "stopped"]),
    ("needs-auth", &["pending", "disabled", "stopped"]),
    ("disabled", &["pending", "stopped"]),
    ("stopped", &[]),
];

/// Where a server has been.
pub(super) struct Path {
    events: broadcast::Receiver<Event>,
    been: Vec<&'static str>,
}

impl Path {
    /// From a server that was not reached yet.
    pub(super) fn new(events: broadcast::Receiver<Event>) -> Self {
        Self { events, been: vec!["dormant"] }
    }

    /// All states so far.
    pub(super) fn been(&self) -> &[&'static str] {
        &self.been
    }

    /// Goes on to where the server is now, and fails where it could not have gone.
    pub(super) fn check(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            let next = word(&event.status);
            let last = self.been.last().unwrap();
            let (_, follow) = LEGAL.iter().find(|(state, _)| state == last).unwrap();
            assert!(follow.contains(&next), "{last} was followed by {next}");
            if let Status::Pending { attempt, .. } = event.status {
                assert!(attempt <= RECONNECT_ATTEMPTS, "attempt {attempt}");
            }
            self.been.push(next);
        }
        assert_eq!(self.events.len(), 0, "every event was looked at");
    }
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::Dormant => "dormant",
        Status::Pending { .. } => "pending",
        Status::Connected { .. } => "connected",
        Status::Failed(_) => "failed",
        Status::NeedsAuth => "needs-auth",
        Status::Disabled => "disabled",
        Status::Stopped => "stopped",
    }
}
