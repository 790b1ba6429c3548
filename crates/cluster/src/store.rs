//! The store that gateways share: values, claims, counters and logs, each with its time to live.

use std::collections::HashMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::watch;

/// The future of an operation of the store.
pub type StoreFuture<'s, T> = Pin<Box<dyn Future<Output = Result<T, SharedStoreError>> + Send + 's>>;

/// A store that all gateways of a cluster reach.
///
/// An operation fails at once while the store is away, and is never repeated by the store itself.
pub trait SharedStore: Debug + Send + Sync {
    /// The value of a key.
    fn fetch_value(&self, key: String) -> StoreFuture<'_, Option<Vec<u8>>>;

    /// The fields of a key; none if there is no such key.
    fn fetch_fields(&self, key: String) -> StoreFuture<'_, HashMap<String, Vec<u8>>>;

    /// Sets a value if the key has none. Returns whether it was set.
    fn claim_key(&self, key: String, value: Vec<u8>, ttl: Option<Duration>) -> StoreFuture<'_, bool>;

    /// Adds to counters in one round trip, and returns their new values in the same order.
    fn add_to_counters(
        &self,
        counters: Vec<(String, u64)>,
        ttl: Option<Duration>,
    ) -> StoreFuture<'_, Vec<u64>>;

    /// Applies changes, in their order. A change that is refused does not stop those after it.
    fn apply_changes(&self, changes: Vec<StoreChange>) -> StoreFuture<'_, ()>;

    /// Reads the entries of logs after these positions. Waits this long for the first one.
    fn read_logs(
        &self,
        logs: Vec<(String, LogPosition)>,
        wait: Option<Duration>,
    ) -> StoreFuture<'_, Vec<LogEntry>>;

    /// The position of the last entry of a log.
    fn end_of_log(&self, log: String) -> StoreFuture<'_, LogPosition>;

    /// Whether the store can be reached. The value is updated as long as the store lives.
    fn availability(&self) -> watch::Receiver<bool>;
}

/// A change of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// Sets a value.
    Put {
        /// The key of the value.
        key: String,
        /// The value.
        value: Vec<u8>,
        /// The time after which the key is removed.
        ttl: Option<Duration>,
    },
    /// Sets fields of a key; its other fields stay.
    PutFields {
        /// The key of the fields.
        key: String,
        /// The names and values of the fields.
        fields: Vec<(String, Vec<u8>)>,
        /// The time after which the key is removed.
        ttl: Duration,
    },
    /// Removes fields of a key; its other fields stay.
    RemoveFields {
        /// The key of the fields.
        key: String,
        /// The names of the fields.
        fields: Vec<String>,
    },
    /// Removes a key.
    Remove {
        /// The key.
        key: String,
    },
    /// Appends an entry to a log.
    Append {
        /// The key of the log.
        log: String,
        /// The entry.
        entry: Vec<u8>,
        /// The maximum number of entries; the oldest are dropped.
        most: usize,
        /// The time after which the log is removed, from the last entry on.
        ttl: Duration,
    },
    /// Removes entries of a log.
    Forget {
        /// The key of the log.
        log: String,
        /// The positions of the entries.
        entries: Vec<LogPosition>,
    },
}

impl StoreChange {
    /// The size of the change, without its key.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Put { value, .. } => value.len(),
            Self::PutFields { fields, .. } => fields.iter().map(|(_, value)| value.len()).sum(),
            Self::Append { entry, .. } => entry.len(),
            Self::RemoveFields { .. } | Self::Remove { .. } | Self::Forget { .. } => 0,
        }
    }
}

/// The position of an entry in a log. Positions of later entries are greater.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition(pub(crate) String);

impl LogPosition {
    /// The position before the first entry.
    #[must_use]
    pub fn start() -> Self {
        Self("0-0".to_owned())
    }
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The key of the log.
    pub log: String,
    /// The position in the log.
    pub position: LogPosition,
    /// The content of the entry.
    pub content: Vec<u8>,
}

/// Error of the store.
#[derive(Debug, thiserror::Error)]
pub enum SharedStoreError {
    /// The store cannot be reached, or does not answer in time.
    #[error("the shared state cannot be reached")]
    Unavailable,
    /// The store refuses the command.
    #[error("the shared state refuses a command: {reason}")]
    Refused {
        /// The reason of the store.
        reason: String,
        /// The number of changes that it refuses; others in the same command are applied.
        changes: usize,
    },
}

impl SharedStoreError {
    /// The refusal of a single command.
    pub fn refuse_command(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into(), changes: 1 }
    }
}
