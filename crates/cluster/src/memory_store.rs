//! A store within one process: for gateways that share a process, and for tests.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::limits::CLUSTER_READ_ENTRIES;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::store::{LogEntry, LogPosition, SharedStore, SharedStoreError, StoreChange, StoreFuture};

/// Logs are trimmed in steps of so many entries, as Redis does with `MAXLEN ~`.
const LOG_NODE: usize = 100;

/// A store in memory.
#[derive(Debug)]
pub struct InProcessStore {
    state: Mutex<StoreState>,
    /// Notified when an entry is appended, and when the store becomes available.
    changed: Notify,
    availability: watch::Sender<bool>,
    /// Whether writes are refused.
    is_read_only: AtomicBool,
}

#[derive(Debug, Default)]
struct StoreState {
    keys: HashMap<String, StoredKey>,
    /// The number of the last entry of any log.
    entries: u64,
    /// The number of changes that were applied.
    changes: u64,
}

#[derive(Debug)]
struct StoredKey {
    content: KeyContent,
    until: Option<Instant>,
}

#[derive(Debug)]
enum KeyContent {
    Value(Vec<u8>),
    Fields(HashMap<String, Vec<u8>>),
    Log(BTreeMap<u64, Vec<u8>>),
}

impl Default for InProcessStore {
    fn default() -> Self {
        let availability = watch::Sender::new(true);
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            availability,
            is_read_only: AtomicBool::new(false),
        }
    }
}

impl InProcessStore {
    /// Makes the store unreachable, or reachable again.
    pub fn set_available(&self, is_available: bool) {
        self.availability.send_replace(is_available);
        self.changed.notify_waiters();
    }

    /// Makes the store refuse all changes, as a full one does, or take them again.
    pub fn refuse_changes(&self, is_refused: bool) {
        self.is_read_only.store(is_refused, Ordering::Relaxed);
    }

    /// Removes all keys, as a restart of a store without persistence does.
    pub fn lose_data(&self) {
        self.lock_state().keys.clear();
    }

    /// The number of changes that were applied so far, claims and counters included.
    #[must_use]
    pub fn change_count(&self) -> u64 {
        self.lock_state().changes
    }

    /// The keys that exist.
    #[must_use]
    pub fn list_keys(&self) -> Vec<String> {
        let mut state = self.lock_state();
        state.remove_expired();
        state.keys.keys().cloned().collect()
    }

    fn run_operation<T>(
        &self,
        operation: impl FnOnce(&mut StoreState) -> Result<T, SharedStoreError>,
    ) -> Result<T, SharedStoreError> {
        if !*self.availability.borrow() {
            return Err(SharedStoreError::Unavailable);
        }
        let mut state = self.lock_state();
        state.remove_expired();
        operation(&mut state)
    }

    fn lock_state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedStore for InProcessStore {
    fn fetch_value(&self, key: String) -> StoreFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            self.run_operation(|state| match state.keys.get(&key).map(|stored| &stored.content) {
                None => Ok(None),
                Some(KeyContent::Value(value)) => Ok(Some(value.clone())),
                Some(KeyContent::Fields(_) | KeyContent::Log(_)) => Err(wrong_type(&key)),
            })
        })
    }

    fn fetch_fields(&self, key: String) -> StoreFuture<'_, HashMap<String, Vec<u8>>> {
        Box::pin(async move {
            self.run_operation(|state| match state.keys.get(&key).map(|stored| &stored.content) {
                None => Ok(HashMap::new()),
                Some(KeyContent::Fields(fields)) => Ok(fields.clone()),
                Some(KeyContent::Value(_) | KeyContent::Log(_)) => Err(wrong_type(&key)),
            })
        })
    }

    fn claim_key(&self, key: String, value: Vec<u8>, ttl: Option<Duration>) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.run_operation(|state| {
                let is_free = !state.keys.contains_key(&key);
                if is_free {
                    state.put_content(key, KeyContent::Value(value), ttl);
                }
                Ok(is_free)
            })
        })
    }

    fn add_to_counters(
        &self,
        counters: Vec<(String, u64)>,
        ttl: Option<Duration>,
    ) -> StoreFuture<'_, Vec<u64>> {
        Box::pin(async move {
            self.run_operation(|state| {
                counters.into_iter().map(|(key, amount)| state.add_to_counter(key, amount, ttl)).collect()
            })
        })
    }

    fn apply_changes(&self, changes: Vec<StoreChange>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let is_refused = self.is_read_only.load(Ordering::Relaxed);
            let refused: Vec<_> = self.run_operation(|state| {
                if is_refused {
                    return Ok(changes
                        .iter()
                        .map(|_| SharedStoreError::refuse_command("out of memory"))
                        .collect());
                }
                let results = changes.into_iter().map(|change| state.apply_change(change));
                Ok(results.filter_map(Result::err).collect())
            })?;
            self.changed.notify_waiters();
            let changes = refused.len();
            match refused.into_iter().next() {
                None => Ok(()),
                Some(first) => Err(SharedStoreError::Refused { reason: first.to_string(), changes }),
            }
        })
    }

    fn read_logs(
        &self,
        logs: Vec<(String, LogPosition)>,
        wait: Option<Duration>,
    ) -> StoreFuture<'_, Vec<LogEntry>> {
        Box::pin(async move {
            let deadline = wait.map(|wait| Instant::now() + wait);
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let found = self.run_operation(|state| Ok(state.entries_after(&logs)))?;
                let Some(deadline) = deadline.filter(|_| found.is_empty()) else { return Ok(found) };
                if tokio::time::timeout_at(deadline, changed).await.is_err() {
                    return Ok(Vec::new());
                }
            }
        })
    }

    fn end_of_log(&self, log: String) -> StoreFuture<'_, LogPosition> {
        Box::pin(async move {
            self.run_operation(|state| match state.keys.get(&log).map(|stored| &stored.content) {
                Some(KeyContent::Log(entries)) => Ok(entries
                    .last_key_value()
                    .map_or_else(LogPosition::start, |(last, _)| position_of(*last))),
                Some(KeyContent::Value(_) | KeyContent::Fields(_)) | None => Ok(LogPosition::start()),
            })
        })
    }

    fn availability(&self) -> watch::Receiver<bool> {
        self.availability.subscribe()
    }
}

impl StoreState {
    fn put_content(&mut self, key: String, content: KeyContent, ttl: Option<Duration>) {
        self.changes += 1;
        self.keys.insert(key, StoredKey { content, until: ttl.map(|ttl| Instant::now() + ttl) });
    }

    fn add_to_counter(
        &mut self,
        key: String,
        amount: u64,
        ttl: Option<Duration>,
    ) -> Result<u64, SharedStoreError> {
        let before = match self.keys.get(&key).map(|stored| &stored.content) {
            None => 0,
            Some(KeyContent::Value(value)) => parse_number(value).ok_or_else(|| wrong_type(&key))?,
            Some(KeyContent::Fields(_) | KeyContent::Log(_)) => return Err(wrong_type(&key)),
        };
        let sum = before.saturating_add(amount);
        self.put_content(key, KeyContent::Value(sum.to_string().into_bytes()), ttl);
        Ok(sum)
    }

    fn apply_change(&mut self, change: StoreChange) -> Result<(), SharedStoreError> {
        match change {
            StoreChange::Put { key, value, ttl } => self.put_content(key, KeyContent::Value(value), ttl),
            StoreChange::PutFields { key, fields, ttl } => {
                let mut all = match self.keys.remove(&key).map(|stored| stored.content) {
                    Some(KeyContent::Fields(fields)) => fields,
                    Some(KeyContent::Value(_) | KeyContent::Log(_)) => return Err(wrong_type(&key)),
                    None => HashMap::new(),
                };
                all.extend(fields);
                self.put_content(key, KeyContent::Fields(all), Some(ttl));
            }
            StoreChange::RemoveFields { key, fields } => {
                self.changes += 1;
                if let Some(StoredKey { content: KeyContent::Fields(all), .. }) = self.keys.get_mut(&key) {
                    fields.iter().for_each(|field| drop(all.remove(field)));
                }
            }
            StoreChange::Remove { key } => {
                self.changes += 1;
                self.keys.remove(&key);
            }
            StoreChange::Append { log, entry, most, ttl } => {
                let mut entries = match self.keys.remove(&log).map(|stored| stored.content) {
                    Some(KeyContent::Log(entries)) => entries,
                    Some(KeyContent::Value(_) | KeyContent::Fields(_)) => return Err(wrong_type(&log)),
                    None => BTreeMap::new(),
                };
                self.entries += 1;
                entries.insert(self.entries, entry);
                if entries.len() >= most + LOG_NODE {
                    (0..LOG_NODE).for_each(|_| drop(entries.pop_first()));
                }
                self.put_content(log, KeyContent::Log(entries), Some(ttl));
            }
            StoreChange::Forget { log, entries: forgotten } => {
                self.changes += 1;
                if let Some(StoredKey { content: KeyContent::Log(entries), .. }) = self.keys.get_mut(&log) {
                    forgotten.iter().for_each(|position| drop(entries.remove(&number_of(position))));
                }
            }
        }
        Ok(())
    }

    fn entries_after(&self, logs: &[(String, LogPosition)]) -> Vec<LogEntry> {
        let mut found = Vec::new();
        for (log, after) in logs {
            let Some(KeyContent::Log(entries)) = self.keys.get(log).map(|stored| &stored.content) else {
                continue;
            };
            let newer = entries.range(number_of(after).saturating_add(1)..).take(CLUSTER_READ_ENTRIES);
            found.extend(newer.map(|(number, content)| LogEntry {
                log: log.clone(),
                position: position_of(*number),
                content: content.clone(),
            }));
        }
        found
    }

    fn remove_expired(&mut self) {
        let now = Instant::now();
        self.keys.retain(|_, stored| stored.until.is_none_or(|until| until > now));
    }
}

fn position_of(number: u64) -> LogPosition {
    LogPosition(format!("0-{number}"))
}

fn number_of(position: &LogPosition) -> u64 {
    position.0.split_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

fn parse_number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn wrong_type(key: &str) -> SharedStoreError {
    SharedStoreError::refuse_command(format!("`{key}` has another type"))
}
