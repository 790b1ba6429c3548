//! The heartbeat of a gateway, and the number that it stands for.
//!
//! The value of a heartbeat is a random token of its gateway. A store that has lost its data gives numbers out again:
//! a gateway that finds another token at its number takes a new number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcparley_model::limits::{CLUSTER_BEAT, CLUSTER_BEAT_TTL};
use tokio::time::Instant;

use super::{LastingValues, NAME_TIME, Pulse};
use crate::instance_id::InstanceId;
use crate::key_names::KeyNames;
use crate::store::{SharedStore, SharedStoreError, StoreChange};

/// The task that renews the heartbeat.
pub(super) struct Heartbeat {
    pub(super) store: Arc<dyn SharedStore>,
    pub(super) keys: KeyNames,
    pub(super) instance: Arc<AtomicU32>,
    pub(super) token: String,
    pub(super) name: String,
    pub(super) pulse: Arc<Pulse>,
    pub(super) lasting: Arc<LastingValues>,
}

/// Takes the next free number. A store that has lost its data counts from the beginning, so the number of a
/// running gateway is left out.
pub(super) async fn take_number(
    store: &dyn SharedStore,
    keys: &KeyNames,
    token: &str,
) -> Result<InstanceId, SharedStoreError> {
    loop {
        let number = add_to_epoch(store, keys, 1).await?;
        let exhausted = |_| SharedStoreError::refuse_command("the numbers of gateways are used up");
        let instance = InstanceId(u32::try_from(number).map_err(exhausted)?);
        let beat = (keys.heartbeat_key(instance), token.as_bytes().to_vec(), Some(CLUSTER_BEAT_TTL));
        if store.claim_key(beat.0, beat.1, beat.2).await? {
            return Ok(instance);
        }
    }
}

async fn add_to_epoch(
    store: &dyn SharedStore,
    keys: &KeyNames,
    amount: u64,
) -> Result<u64, SharedStoreError> {
    let sums = store.add_to_counters(vec![(keys.epoch_counter(), amount)], None).await?;
    sums.first().copied().ok_or_else(|| SharedStoreError::refuse_command("a counter has no value"))
}

impl Heartbeat {
    /// Renews the heartbeat at its interval, and at once when the store is back. Never returns.
    pub(super) async fn keep_beating(&self) {
        let mut availability = self.store.availability();
        let mut is_first = true;
        loop {
            let is_available = *availability.borrow_and_update();
            self.pulse.note_availability(is_available);
            let sent = Instant::now();
            if is_available {
                match self.renew(is_first).await {
                    Ok(()) => {
                        self.pulse.note_beat(sent);
                        is_first = false;
                    }
                    Err(error) => self.note_failure(&error),
                }
            }
            tokio::select! {
                () = tokio::time::sleep(CLUSTER_BEAT) => {}
                changed = availability.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // A store that is back may have lost its data.
                    is_first = true;
                }
            }
        }
    }

    /// Notes a heartbeat that was not renewed. A store that is away is reported by its availability.
    fn note_failure(&self, error: &SharedStoreError) {
        if let SharedStoreError::Refused { reason, .. } = error
            && self.pulse.note_refusal()
        {
            tracing::warn!(reason, "the shared state refuses the heartbeat of this gateway");
        }
    }

    async fn renew(&self, with_name: bool) -> Result<(), SharedStoreError> {
        let number = self.confirm_number().await?;
        let put = |key: String, value: &str, ttl: Duration| StoreChange::Put {
            key,
            value: value.as_bytes().to_vec(),
            ttl: Some(ttl),
        };
        let mut changes = vec![put(self.keys.heartbeat_key(number), &self.token, CLUSTER_BEAT_TTL)];
        if with_name {
            changes.push(put(self.keys.instance_name(number), &self.name, NAME_TIME));
        }
        self.store.apply_changes(changes).await?;
        if with_name {
            self.raise_epoch(number).await?;
            let values = self.lasting.copy_values();
            for (key, value) in values {
                self.store.claim_key(key, value, None).await?;
            }
        }
        Ok(())
    }

    /// The number of this gateway: a new one if another gateway has taken the old one.
    async fn confirm_number(&self) -> Result<InstanceId, SharedStoreError> {
        let number = InstanceId(self.instance.load(Ordering::Acquire));
        let token = self.store.fetch_value(self.keys.heartbeat_key(number)).await?;
        if token.is_none_or(|token| token == self.token.as_bytes()) {
            return Ok(number);
        }
        let new = take_number(&*self.store, &self.keys, &self.token).await?;
        tracing::warn!(%number, %new, "another gateway has the number of this one, which takes a new number");
        self.instance.store(new.0, Ordering::Release);
        Ok(new)
    }

    /// Raises the counter of numbers to the number of this gateway, after the store has lost its data. Of several
    /// gateways each may raise it; numbers that are left out do no harm.
    async fn raise_epoch(&self, number: InstanceId) -> Result<(), SharedStoreError> {
        let epoch = self.store.fetch_value(self.keys.epoch_counter()).await?;
        let epoch = epoch.and_then(|epoch| String::from_utf8(epoch).ok()?.parse::<u64>().ok());
        let missing = u64::from(number.0).saturating_sub(epoch.unwrap_or(0));
        if missing > 0 {
            add_to_epoch(&*self.store, &self.keys, missing).await?;
        }
        Ok(())
    }
}
