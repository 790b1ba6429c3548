//! The deadline of a call: one time limit for all of its waits and retries together.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::TOOL_TIME;
use tokio::sync::watch;
use tokio::time::Instant;

use super::requested_call::Call;
use mcparley_pool::connection::{Connection, Epoch, LiveConnection, Unavailable};

/// The time limit of one call, and the moment it passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) limit: Duration,
    /// The moment the limit passes; absent when it is farther away than the clock can represent.
    pub(super) until: Option<Instant>,
}

impl Deadline {
    /// Starts the deadline of a call: its own limit, else that of the server's entry, else the general one.
    pub(super) fn for_call(call: &Call, connection: &Connection) -> Self {
        Self::with_limit(call.limit.or(connection.config.timeout).unwrap_or(connection.tool_limit))
    }

    /// Starts a deadline that passes after `limit`.
    pub(super) fn with_limit(limit: Duration) -> Self {
        Self { limit, until: Instant::now().checked_add(limit) }
    }

    /// Leases a connection before the deadline.
    pub(super) async fn lease_connection(
        &self,
        connection: &Connection,
    ) -> Result<Arc<LiveConnection>, Unavailable> {
        self.lease_newer_connection(connection, Epoch::default()).await
    }

    /// Leases a connection newer than epoch `stale`, which was found to be broken.
    pub(super) async fn lease_newer_connection(
        &self,
        connection: &Connection,
        stale: Epoch,
    ) -> Result<Arc<LiveConnection>, Unavailable> {
        // Mostly the connection is ready, and then no timer is needed.
        let live = match connection.try_lease(stale) {
            Some(live) => live,
            None => {
                let leased = self.run_until_deadline(connection.lease_after(stale)).await;
                leased.unwrap_or(Err(Unavailable::TimedOut { after: self.limit }))?
            }
        };
        live.wait_for_roots(connection.server_requests().roots()).await;
        Ok(live)
    }

    /// Runs a future until the deadline; `None` if the deadline passed first.
    pub(super) async fn run_until_deadline<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        match self.until {
            Some(until) => tokio::time::timeout_at(until, wait).await.ok(),
            None => Some(wait.await),
        }
    }

    /// Runs a future that waits for the user. Its duration does not count against the deadline.
    pub(super) async fn run_off_the_clock<T>(&mut self, asking: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let outcome = asking.await;
        self.extend_by(begun.elapsed());
        outcome
    }

    /// Extends the deadline by time that does not count against the call.
    fn extend_by(&mut self, by: Duration) {
        self.until = self.until.and_then(|until| until.checked_add(by));
    }

    /// Sleeps for `pause` if it ends before the deadline; otherwise returns `false` at once.
    pub(super) async fn sleep_if_in_time(&self, pause: Duration) -> bool {
        let then = Instant::now().checked_add(pause);
        let is_in_time = match (then, self.until) {
            (Some(then), Some(until)) => then < until,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_in_time {
            tokio::time::sleep(pause).await;
        }
        is_in_time
    }
}

/// The timer of one request: an idle timeout that progress resets, under an absolute cap. The timer is
/// suspended while the user answers a question of the server.
#[derive(Debug)]
pub(super) struct RequestTimer {
    limit: Duration,
    deadline: Instant,
    last: Instant,
    /// The number of open questions of the server.
    open: watch::Receiver<usize>,
    /// The moment the timer was suspended, while it is.
    stopped: Option<Instant>,
    stood: Duration,
}

impl RequestTimer {
    pub(super) fn new(deadline: &Deadline, open: watch::Receiver<usize>) -> Self {
        let Deadline { limit, until } = *deadline;
        let last = Instant::now() + limit.max(TOOL_TIME);
        Self { limit, deadline: until.unwrap_or(last), last, open, stopped: None, stood: Duration::ZERO }
    }

    /// Resets the timeout on progress of the server, up to the absolute cap: a server cannot extend a call
    /// for ever.
    pub(super) fn reset_on_progress(&mut self) {
        self.deadline = (Instant::now() + self.limit).min(self.last);
    }

    /// Waits until the timer has expired. Cancel-safe.
    pub(super) async fn wait_until_expired(&mut self) {
        loop {
            let is_open = *self.open.borrow_and_update() > 0;
            match (is_open, self.stopped) {
                (true, None) => self.stopped = Some(Instant::now()),
                (false, Some(since)) => self.resume_timer(since),
                (true, Some(_)) | (false, None) => {}
            }
            tokio::select! {
                biased;
                Ok(()) = self.open.changed() => {}
                () = tokio::time::sleep_until(self.deadline), if !is_open => return,
                else => std::future::pending().await,
            }
        }
    }

    /// Resumes the suspended timer and moves its limits by the suspended time.
    fn resume_timer(&mut self, since: Instant) {
        let stood = since.elapsed();
        self.stopped = None;
        self.stood += stood;
        self.deadline += stood;
        self.last += stood;
    }

    /// Ends the timer when the request is over: suspended time does not count against the call's deadline.
    pub(super) fn credit_suspended_time(mut self, deadline: &mut Deadline) {
        if let Some(since) = self.stopped {
            self.resume_timer(since);
        }
        deadline.extend_by(self.stood);
    }
}
