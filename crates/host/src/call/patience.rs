//! How long a call waits: one limit for all of it, whatever it waits for and however often it is repeated (K2).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::wish::Call;
use crate::connection::{Connection, Epoch, Live, Unavailable};

/// The limit of one call, and when it passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) limit: Duration,
    /// Absent when that is farther away than the clock reaches.
    pub(super) until: Option<Instant>,
}

impl Patience {
    /// Begins now: the call's own limit, else that of the server's entry, else the general one.
    pub(super) fn of(call: &Call, connection: &Connection) -> Self {
        let limit = call.limit.or(connection.config.timeout).unwrap_or(connection.tool_limit);
        Self { limit, until: Instant::now().checked_add(limit) }
    }

    /// The same, after a person was asked who took this long.
    pub(super) fn later_by(self, pause: Duration) -> Self {
        Self { until: self.until.and_then(|until| until.checked_add(pause)), ..self }
    }

    /// A connection to use, while the patience lasts.
    pub(super) async fn lease(&self, connection: &Connection) -> Result<Arc<Live>, Unavailable> {
        self.lease_after(connection, Epoch::default()).await
    }

    /// As [`Patience::lease`], when the one of epoch `stale` was found to be of no use.
    pub(super) async fn lease_after(
        &self,
        connection: &Connection,
        stale: Epoch,
    ) -> Result<Arc<Live>, Unavailable> {
        // Most of the time there is nothing to wait for, and then no timer is needed.
        if let Some(live) = connection.ready(stale) {
            return Ok(live);
        }
        let leased = self.within(connection.lease_after(stale)).await;
        leased.unwrap_or(Err(Unavailable::Late { after: self.limit }))
    }

    /// What comes of it, if that is in time.
    pub(super) async fn within<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        match self.until {
            Some(until) => tokio::time::timeout_at(until, wait).await.ok(),
            None => Some(wait.await),
        }
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
