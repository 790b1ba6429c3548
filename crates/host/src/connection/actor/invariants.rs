//! What holds after every event, whatever it was: what is published is what the actor does. Checked in every test.

use std::sync::Arc;

use super::{Actor, Phase, State, Status};

impl Actor {
    pub(super) fn check(&self) {
        let State { status, live, .. } = self.publisher.current();
        assert!(self.says(&status), "published as {status:?}");
        match (&self.phase, &live) {
            (Phase::Ready(ready), Some(live)) => {
                assert!(Arc::ptr_eq(&ready.live, live), "another connection is published");
                assert!(live.epoch == self.epoch, "an old connection is published");
            }
            (Phase::Ready(_), None) => panic!("the connection is not published"),
            (_, live) => assert!(live.is_none(), "a connection is published as {status:?}"),
        }
        let may_wait = matches!(self.phase, Phase::Connecting { .. } | Phase::Waiting { .. });
        assert!(may_wait || self.waiters.is_empty(), "somebody waits for ever as {status:?}");
    }

    fn says(&self, status: &Status) -> bool {
        match &self.phase {
            // A server that is about to be woken is published as pending from the beginning.
            Phase::Dormant => {
                matches!(status, Status::Dormant | Status::Pending { attempt: 0, .. })
                    || is_remembered_failure(status)
            }
            Phase::Connecting { attempt: 0, .. } if is_remembered_failure(status) => true,
            Phase::Connecting { attempt, .. } | Phase::Waiting { attempt, .. } => {
                matches!(status, Status::Pending { attempt: published, .. } if published == attempt)
            }
            Phase::Ready(_) => matches!(status, Status::Connected { .. }),
            Phase::Failed { .. } => matches!(status, Status::Failed(_)),
            Phase::NeedsAuth { .. } => matches!(status, Status::NeedsAuth),
            Phase::Off => matches!(status, Status::Disabled),
            Phase::Stopping(_) => matches!(status, Status::Stopped),
        }
    }
}

/// A server that failed in an earlier process is published as failed until it is known better.
fn is_remembered_failure(status: &Status) -> bool {
    matches!(status, Status::Failed(error) if error.ago.is_some())
}
