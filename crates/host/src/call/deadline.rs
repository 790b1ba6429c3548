//! The deadline of a call: one limit for all of it, whatever it waits for and however often it is repeated (K2).

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::TOOL_TIME;
use tokio::sync::watch;
use tokio::time::Instant;

use super::wish::Call;
use crate::connection::{Connection, Epoch, Live, Unavailable};

/// The time limit of one call, and the moment it passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) limit: Duration,
    /// Absent when that is farther away than the clock reaches.
    pub(super) until: Option<Instant>,
}

impl Deadline {
    /// Begins now: the call's own limit, else that of the server's entry, else the general one.
    pub(super) fn of(call: &Call, connection: &Connection) -> Self {
        Self::lasting(call.limit.or(connection.config.timeout).unwrap_or(connection.tool_limit))
    }

    /// Begins now.
    pub(super) fn lasting(limit: Duration) -> Self {
        Self { limit, until: Instant::now().checked_add(limit) }
    }

    /// A connection to use, if there is one before the deadline.
    pub(super) async fn lease(&self, connection: &Connection) -> Result<Arc<Live>, Unavailable> {
        self.lease_after(connection, Epoch::default()).await
    }

    /// As [`Deadline::lease`], when the one of epoch `stale` was found to be of no use.
    pub(super) async fn lease_after(
        &self,
        connection: &Connection,
        stale: Epoch,
    ) -> Result<Arc<Live>, Unavailable> {
        // Most of the time there is nothing to wait for, and then no timer is needed.
        let live = match connection.ready(stale) {
            Some(live) => live,
            None => {
                let leased = self.within(connection.lease_after(stale)).await;
                leased.unwrap_or(Err(Unavailable::Late { after: self.limit }))?
            }
        };
        live.know_roots(connection.server_requests().roots()).await;
        Ok(live)
    }

    /// What comes of it, if that is in time.
    pub(super) async fn within<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        match self.until {
            Some(until) => tokio::time::timeout_at(until, wait).await.ok(),
            None => Some(wait.await),
        }
    }

    /// Does something that takes a person's time, which is not the call's (K2).
    pub(super) async fn aside<T>(&mut self, asking: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let outcome = asking.await;
        self.extend(begun.elapsed());
        outcome
    }

    /// Some of the time that has passed was not the call's.
    fn extend(&mut self, by: Duration) {
        self.until = self.until.and_then(|until| until.checked_add(by));
    }

    /// Lets some time pass; says whether there was any to spare. If not, none has passed.
    pub(super) async fn wait(&self, pause: Duration) -> bool {
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

/// The clock of one request: progress winds it up again, under an absolute cap, and it stands still while a person is
/// asked what the server wants to know (K2).
#[derive(Debug)]
pub(super) struct Clock {
    limit: Duration,
    deadline: Instant,
    last: Instant,
    /// How many questions of the server are open.
    open: watch::Receiver<usize>,
    /// Since when it stands still.
    stopped: Option<Instant>,
    stood: Duration,
}

impl Clock {
    pub(super) fn new(deadline: &Deadline, open: watch::Receiver<usize>) -> Self {
        let Deadline { limit, until } = *deadline;
        let last = Instant::now() + limit.max(TOOL_TIME);
        Self { limit, deadline: until.unwrap_or(last), last, open, stopped: None, stood: Duration::ZERO }
    }

    /// The server shows that it is at work; but it may not be so for ever.
    pub(super) fn wind_up(&mut self) {
        self.deadline = (Instant::now() + self.limit).min(self.last);
    }

    /// Waits until it has run out. Giving up the waiting loses nothing.
    pub(super) async fn over(&mut self) {
        loop {
            let is_open = *self.open.borrow_and_update() > 0;
            match (is_open, self.stopped) {
                (true, None) => self.stopped = Some(Instant::now()),
                (false, Some(since)) => self.go_on(since),
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

    fn go_on(&mut self, since: Instant) {
        let stood = since.elapsed();
        self.stopped = None;
        self.stood += stood;
        self.deadline += stood;
        self.last += stood;
    }

    /// The request is over: the time it stood still was not the call's.
    pub(super) fn give_back(mut self, deadline: &mut Deadline) {
        if let Some(since) = self.stopped {
            self.go_on(since);
        }
        deadline.extend(self.stood);
    }
}
