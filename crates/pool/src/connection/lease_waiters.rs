//! The callers that wait for a connection. Those that gave up are dropped, so that a server that connects slowly and is
//! asked often holds no more of them than wait at once.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::LiveConnection;
use super::state::Unavailable;

/// The reply channel of a caller that waits for a connection.
pub(super) type LeaseWaiter = oneshot::Sender<Result<Arc<LiveConnection>, Unavailable>>;

/// The callers that wait for a connection.
#[derive(Default)]
pub(super) struct LeaseWaiters(Vec<LeaseWaiter>);

impl LeaseWaiters {
    /// Adds a caller. Those that gave up are dropped when the list is full, before it grows: each is looked at a
    /// constant number of times on average.
    pub(super) fn add_waiter(&mut self, waiter: LeaseWaiter) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|waiter| !waiter.is_closed());
            self.0.reserve(self.0.len().max(4));
        }
        self.0.push(waiter);
    }

    /// Answers all callers, and forgets them.
    pub(super) fn answer_all(&mut self, answer: &Result<Arc<LiveConnection>, Unavailable>) {
        for waiter in std::mem::take(&mut self.0) {
            answer_waiter(waiter, answer.clone());
        }
    }

    /// Whether a caller is in the list, also one that gave up.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Answers a waiting caller, which may have given up.
pub(super) fn answer_waiter(waiter: LeaseWaiter, answer: Result<Arc<LiveConnection>, Unavailable>) {
    let _gone = waiter.send(answer);
}

#[cfg(test)]
mod tests {
    //! Callers that wait, and callers that gave up.
    use super::*;

    #[test]
    fn callers_that_gave_up_do_not_pile_up_while_a_server_connects() {
        let mut waiters = LeaseWaiters::default();
        let mut wait = || {
            let (reply, answer) = oneshot::channel();
            waiters.add_waiter(reply);
            answer
        };
        let patient: Vec<_> = (0..3).map(|_| wait()).collect();
        for _ in 0..10_000 {
            drop(wait());
        }
        assert!(waiters.0.capacity() < 64, "{}", waiters.0.capacity());
        waiters.answer_all(&Err(Unavailable::Disabled));
        assert!(waiters.is_empty());
        for mut answer in patient {
            assert!(matches!(answer.try_recv(), Ok(Err(Unavailable::Disabled))));
        }
    }
}
