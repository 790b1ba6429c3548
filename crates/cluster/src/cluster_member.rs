//! One gateway as a member of a cluster: its number, its heartbeat, and messages to other gateways.

mod heartbeat;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::limits::{
    CLUSTER_BEAT_TTL, CLUSTER_COMMAND_TIME, CLUSTER_GRACE, CLUSTER_JOIN_TIME, CLUSTER_MAILBOX_ENTRIES,
    CLUSTER_MAILBOX_TIME, CLUSTER_NEWS_ENTRIES,
};
use mcparley_model::secret::Secret;
use mcparley_platform::random::random_number;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::cluster_member::heartbeat::{Heartbeat, take_number};
use crate::instance_id::InstanceId;
use crate::key_names::KeyNames;
use crate::mailbox::Mailbox;
use crate::store::{SharedStore, SharedStoreError, StoreChange};
use crate::write_queue::WriteQueue;

/// The time for which the name of a gateway is remembered, and the news of all.
const NAME_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether another gateway runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberStatus {
    /// The gateway has a heartbeat.
    Alive,
    /// The gateway has had none for a while, so it is gone for good.
    Gone,
    /// The store is away, or was until now.
    Unknown,
}

/// One gateway of a cluster.
#[derive(Debug)]
pub struct ClusterMember {
    store: Arc<dyn SharedStore>,
    keys: KeyNames,
    /// The number of this gateway. It changes if another gateway has taken it after the store lost its data.
    instance: Arc<AtomicU32>,
    name: String,
    writes: WriteQueue,
    pulse: Arc<Pulse>,
    lasting: Arc<LastingValues>,
    heartbeat: AbortHandle,
}

/// The times of the heartbeat.
#[derive(Debug)]
struct Pulse(Mutex<PulseTimes>);

/// Values without an end that are set again if the store has lost them.
#[derive(Debug, Default)]
struct LastingValues(Mutex<Vec<(String, Secret<Vec<u8>>)>>);

#[derive(Clone, Copy, Debug)]
struct PulseTimes {
    /// The time at which the last heartbeat was sent. The store may have received it then or a little later, so it
    /// never ends for others before it ends here.
    last_beat: Instant,
    /// The end of the last pause that was so long that others count this gateway as gone.
    last_lapse: Option<Instant>,
    /// The time since which the store can be reached.
    reachable_since: Option<Instant>,
    /// Whether the store refused the last heartbeat, and how many it has refused so far.
    is_refused: bool,
    refused: u64,
}

/// Error of joining a cluster.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The store was not reached in time.
    #[error("the shared state was not reached within {} s", CLUSTER_JOIN_TIME.as_secs())]
    Unreachable,
    /// The store fails.
    #[error(transparent)]
    Store(#[from] SharedStoreError),
}

impl ClusterMember {
    /// Joins the cluster: takes a number, and starts the heartbeat.
    ///
    /// # Errors
    /// When the store cannot be reached in time.
    pub async fn join(
        store: Arc<dyn SharedStore>,
        keys: KeyNames,
        name: &str,
    ) -> Result<(Self, Mailbox), JoinError> {
        let mut availability = store.availability();
        let reached = availability.wait_for(|is_available| *is_available);
        let reached = tokio::time::timeout(CLUSTER_JOIN_TIME, reached).await.is_ok_and(|it| it.is_ok());
        if !reached {
            return Err(JoinError::Unreachable);
        }
        let joined = Instant::now();
        let token = random_number().to_string();
        let number = take_number(&*store, &keys, &token).await?;
        let instance = Arc::new(AtomicU32::new(number.0));
        let end_of_news = store.end_of_log(keys.news_log()).await?;
        let mailbox = Mailbox::new(Arc::clone(&store), keys.clone(), Arc::clone(&instance), end_of_news);
        let pulse = Arc::new(Pulse::with_first_beat(joined));
        let lasting = Arc::<LastingValues>::default();
        let beating = Heartbeat {
            store: Arc::clone(&store),
            keys: keys.clone(),
            instance: Arc::clone(&instance),
            token,
            name: name.to_owned(),
            pulse: Arc::clone(&pulse),
            lasting: Arc::clone(&lasting),
        };
        let heartbeat = tokio::spawn(async move { beating.keep_beating().await }).abort_handle();
        let writes = WriteQueue::start(Arc::clone(&store));
        let name = name.to_owned();
        Ok((Self { store, keys, instance, name, writes, pulse, lasting, heartbeat }, mailbox))
    }

    /// The number of this gateway.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        InstanceId(self.instance.load(Ordering::Acquire))
    }

    /// The name of this gateway.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys of the cluster.
    #[must_use]
    pub fn keys(&self) -> &KeyNames {
        &self.keys
    }

    /// The store of the cluster.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn SharedStore> {
        &self.store
    }

    /// Whether the store can be reached, and takes the heartbeat of this gateway.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        *self.store.availability().borrow() && !self.pulse.lock_times().is_refused
    }

    /// The number of heartbeats that the store has refused.
    #[must_use]
    pub fn refused_beats(&self) -> u64 {
        self.pulse.lock_times().refused
    }

    /// The value of a key that has no end: that of the first gateway that shares one. It is set again if the store
    /// loses its data while this gateway runs.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn share_value(&self, key: String, ours: Vec<u8>) -> Result<Secret<Vec<u8>>, SharedStoreError> {
        let is_ours = self.store.claim_key(key.clone(), ours.clone(), None).await?;
        let value = match is_ours {
            true => ours,
            false => self.store.fetch_value(key.clone()).await?.unwrap_or(ours),
        };
        self.lasting.lock_values().push((key, Secret::new(value.clone())));
        Ok(Secret::new(value))
    }

    /// Whether another gateway runs.
    pub async fn find_status(&self, other: InstanceId) -> MemberStatus {
        match self.store.fetch_value(self.keys.heartbeat_key(other)).await {
            Ok(Some(_)) => MemberStatus::Alive,
            Ok(None) if self.pulse.is_settled() => MemberStatus::Gone,
            Ok(None) | Err(_) => MemberStatus::Unknown,
        }
    }

    /// The name of another gateway, running or gone.
    pub async fn find_name(&self, other: InstanceId) -> String {
        let name = self.store.fetch_value(self.keys.instance_name(other)).await.ok().flatten();
        let name = name.and_then(|name| String::from_utf8(name).ok());
        name.unwrap_or_else(|| format!("gateway {other}"))
    }

    /// Whether others may have counted this gateway as gone at some time since `since`.
    #[must_use]
    pub fn may_count_as_gone(&self, since: Instant) -> bool {
        let times = *self.pulse.lock_times();
        times.last_beat.elapsed() >= CLUSTER_BEAT_TTL || times.last_lapse.is_some_and(|lapse| lapse > since)
    }

    /// The value of a key, from a store that may take a moment to reconnect: the connection of a process that was
    /// stopped is often lost when it goes on.
    ///
    /// # Errors
    /// When the store stays away.
    pub async fn fetch_after_reconnect(&self, key: String) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let fetched = self.store.fetch_value(key.clone()).await;
        if !matches!(fetched, Err(SharedStoreError::Unavailable)) {
            return fetched;
        }
        let mut availability = self.store.availability();
        let reached = availability.wait_for(|is_available| *is_available);
        let is_reached = tokio::time::timeout(CLUSTER_COMMAND_TIME, reached).await.is_ok_and(|it| it.is_ok());
        if is_reached { self.store.fetch_value(key).await } else { fetched }
    }

    /// Sends a message to another gateway.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn send_message(&self, to: InstanceId, message: Vec<u8>) -> Result<(), SharedStoreError> {
        self.store.apply_changes(vec![self.message_change(to, message)]).await
    }

    /// Sends a message to another gateway as soon as the store can be reached.
    pub fn send_message_later(&self, to: InstanceId, message: Vec<u8>) {
        self.writes.add_change(self.message_change(to, message));
    }

    /// Sends a message to all gateways as soon as the store can be reached.
    pub fn announce_later(&self, news: Vec<u8>) {
        self.writes.add_change(StoreChange::Append {
            log: self.keys.news_log(),
            entry: news,
            most: CLUSTER_NEWS_ENTRIES,
            ttl: NAME_TIME,
        });
    }

    /// Writes as soon as the store can be reached. Writes keep their order; with too many, the last are dropped.
    pub fn write_later(&self, change: StoreChange) {
        self.writes.add_change(change);
    }

    /// The number of writes that wait for the store.
    #[must_use]
    pub fn waiting_writes(&self) -> usize {
        self.writes.waiting_count()
    }

    /// The number of writes that were dropped.
    #[must_use]
    pub fn dropped_writes(&self) -> u64 {
        self.writes.dropped_count()
    }

    /// Leaves the cluster: waits for writes within `time`, and removes the heartbeat, so that others need not wait
    /// for its end.
    pub async fn leave(&self, time: Duration) {
        let written = tokio::time::timeout(time, self.writes.wait_until_empty()).await.is_ok();
        self.heartbeat.abort();
        let removed = vec![
            StoreChange::Remove { key: self.keys.heartbeat_key(self.instance()) },
            StoreChange::Remove { key: self.keys.mailbox_log(self.instance()) },
        ];
        let removed = self.store.apply_changes(removed).await.is_ok();
        tracing::debug!(written, removed, "left the cluster");
    }

    fn message_change(&self, to: InstanceId, message: Vec<u8>) -> StoreChange {
        StoreChange::Append {
            log: self.keys.mailbox_log(to),
            entry: message,
            most: CLUSTER_MAILBOX_ENTRIES,
            ttl: CLUSTER_MAILBOX_TIME,
        }
    }
}

impl Drop for ClusterMember {
    fn drop(&mut self) {
        self.heartbeat.abort();
    }
}

impl LastingValues {
    fn copy_values(&self) -> Vec<(String, Vec<u8>)> {
        self.lock_values().iter().map(|(key, value)| (key.clone(), value.expose().clone())).collect()
    }

    fn lock_values(&self) -> MutexGuard<'_, Vec<(String, Secret<Vec<u8>>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pulse {
    fn with_first_beat(joined: Instant) -> Self {
        Self(Mutex::new(PulseTimes {
            last_beat: joined,
            last_lapse: None,
            reachable_since: Some(joined),
            is_refused: false,
            refused: 0,
        }))
    }

    fn note_beat(&self, sent: Instant) {
        let mut times = self.lock_times();
        let now = Instant::now();
        if now.duration_since(times.last_beat) >= CLUSTER_BEAT_TTL {
            times.last_lapse = Some(now);
        }
        times.last_beat = sent;
        times.is_refused = false;
    }

    /// Notes a heartbeat that the store has refused. Returns whether it is the first in a row.
    fn note_refusal(&self) -> bool {
        let mut times = self.lock_times();
        times.refused += 1;
        !std::mem::replace(&mut times.is_refused, true)
    }

    fn note_availability(&self, is_available: bool) {
        let mut times = self.lock_times();
        times.reachable_since = match (is_available, times.reachable_since) {
            (true, Some(since)) => Some(since),
            (true, None) => Some(Instant::now()),
            (false, _) => None,
        };
    }

    /// Whether the store has been reachable for so long that all other gateways have renewed their heartbeats.
    fn is_settled(&self) -> bool {
        self.lock_times().reachable_since.is_some_and(|since| since.elapsed() >= CLUSTER_GRACE)
    }

    fn lock_times(&self) -> MutexGuard<'_, PulseTimes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
