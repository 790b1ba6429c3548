//! Invariants of the actor, checked after every event in every test: the published state matches the phase.

use std::sync::Arc;

use super::{ActorPhase, ConnectionActor, ServerStatus, State};

impl ConnectionActor {
    pub(super) fn check_invariants(&self) {
        let State { status, live, .. } = self.publisher.current_state();
        assert!(self.is_consistent_with(&status), "published as {status:?}");
        match (&self.phase, &live) {
            (ActorPhase::Ready(ready), Some(live)) => {
                assert!(Arc::ptr_eq(&ready.live, live), "another connection is published");
                assert!(live.epoch == self.epoch, "an old connection is published");
            }
            (ActorPhase::Ready(_), None) => panic!("the connection is not published"),
            (_, live) => assert!(live.is_none(), "a connection is published as {status:?}"),
        }
        let may_wait = matches!(self.phase, ActorPhase::Connecting { .. } | ActorPhase::Waiting { .. });
        assert!(may_wait || self.waiters.is_empty(), "somebody waits for ever as {status:?}");
    }

    fn is_consistent_with(&self, status: &ServerStatus) -> bool {
        match &self.phase {
            // A server that is about to be woken is published as pending from the beginning.
            ActorPhase::Dormant => {
                matches!(status, ServerStatus::Dormant | ServerStatus::Pending { attempt: 0, .. })
                    || is_remembered_failure(status)
            }
            ActorPhase::Connecting { attempt: 0, .. } if is_remembered_failure(status) => true,
            ActorPhase::Connecting { attempt, .. } | ActorPhase::Waiting { attempt, .. } => {
                matches!(status, ServerStatus::Pending { attempt: published, .. } if published == attempt)
            }
            ActorPhase::Ready(_) => matches!(status, ServerStatus::Connected { .. }),
            ActorPhase::Failed { .. } => matches!(status, ServerStatus::Failed(_)),
            ActorPhase::NeedsAuth { .. } => matches!(status, ServerStatus::NeedsAuth),
            ActorPhase::Off => matches!(status, ServerStatus::Disabled),
            ActorPhase::Stopping(_) => matches!(status, ServerStatus::Stopped),
        }
    }
}

/// Whether the status is a cached failure of an earlier process, published until the server has been tried
/// again.
fn is_remembered_failure(status: &ServerStatus) -> bool {
    matches!(status, ServerStatus::Failed(error) if error.ago.is_some())
}
