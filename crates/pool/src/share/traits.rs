//! Traits of servers that matter for sharing, learned by observation and kept on disk.
//!
//! One file for all processes of a user, by signature. A trait that keeps clients apart is safe to believe
//! for ever; the only one that joins them, [`ServerTrait::IgnoresOffer`], ends as soon as an observation
//! contradicts it.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::{SERVER_TRAITS, SERVER_TRAITS_BYTES};
use mcparley_model::signature::Signature;
use mcparley_platform::file::{self, FileWriteError};
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// The name of the file in the cache folder.
const FILE: &str = "server-traits.json";

/// The member of the file that holds the servers by signature.
const SERVERS: &str = "servers";

/// A trait of a server that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerTrait {
    /// It requested the roots of its client.
    ReadsRoots,
    /// It asked its client (elicitation or sampling) outside of the answer to a request.
    Asks,
    /// It gave different lists to two clients with different capabilities.
    VariesByOffer,
    /// It gave equal lists to two clients with different capabilities.
    IgnoresOffer,
}

impl ServerTrait {
    /// All traits.
    pub const ALL: [Self; 4] = [Self::ReadsRoots, Self::Asks, Self::VariesByOffer, Self::IgnoresOffer];

    /// The name of the trait in the file.
    fn as_str(self) -> &'static str {
        match self {
            Self::ReadsRoots => "readsRoots",
            Self::Asks => "asks",
            Self::VariesByOffer => "variesByOffer",
            Self::IgnoresOffer => "ignoresOffer",
        }
    }
}

/// The observed traits of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerTraits {
    /// Whether it reads the roots of its client.
    pub reads_roots: bool,
    /// Whether it asks its client outside of the answer to a request.
    pub asks: bool,
    /// Whether it lists other tools to clients with other capabilities.
    pub varies: bool,
    /// Whether it lists the same tools to clients with other capabilities.
    pub ignores_offer: bool,
}

impl ServerTraits {
    /// Adds an observed trait. A server that asks or varies does not ignore the capabilities of its client,
    /// in either order of the observations.
    #[must_use]
    pub fn with_trait(self, observed: ServerTrait) -> Self {
        let mut traits = match observed {
            ServerTrait::ReadsRoots => Self { reads_roots: true, ..self },
            ServerTrait::Asks => Self { asks: true, ..self },
            ServerTrait::VariesByOffer => Self { varies: true, ..self },
            ServerTrait::IgnoresOffer => Self { ignores_offer: true, ..self },
        };
        traits.ignores_offer &= !traits.asks && !traits.varies;
        traits
    }

    /// Whether the trait was observed.
    #[must_use]
    pub fn has_trait(self, wanted: ServerTrait) -> bool {
        match wanted {
            ServerTrait::ReadsRoots => self.reads_roots,
            ServerTrait::Asks => self.asks,
            ServerTrait::VariesByOffer => self.varies,
            ServerTrait::IgnoresOffer => self.ignores_offer,
        }
    }

    /// The traits of an entry of the file. Members of other types do not count.
    fn from_json(entry: Option<&Value>) -> Self {
        let is_set = |name: &str| entry.and_then(|entry| entry.get(name)) == Some(&Value::Bool(true));
        let observed = ServerTrait::ALL.into_iter().filter(|observed| is_set(observed.as_str()));
        observed.fold(Self::default(), Self::with_trait)
    }

    fn merge_with(self, other: Self) -> Self {
        let observed = ServerTrait::ALL.into_iter().filter(|observed| other.has_trait(*observed));
        observed.fold(self, Self::with_trait)
    }
}

/// The observed traits of all servers of a user, in one file of the cache folder.
///
/// The file is looked at for each question, so that processes learn from each other, and read when it has changed.
/// Traits that cannot be written hold for this process. Reading and writing block.
#[derive(Debug, Default)]
pub struct TraitStore {
    path: Option<PathBuf>,
    /// The traits of the file as it was read last.
    stored: Mutex<StoredTraits>,
    /// The traits that this process observed.
    observed: Mutex<HashMap<Signature, ServerTraits>>,
}

/// The content of the file, and the stamp of the file it was read from.
#[derive(Debug, Default)]
struct StoredTraits {
    stamp: Option<FileStamp>,
    servers: HashMap<String, ServerTraits>,
}

/// Differs between two contents: each is written to a file of its own, which then takes the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl TraitStore {
    /// The store in this cache folder; without a folder, traits are kept in memory.
    #[must_use]
    pub fn new(folder: Option<&Path>) -> Self {
        Self { path: folder.map(|folder| folder.join(FILE)), ..Self::default() }
    }

    /// The traits of the server with this signature.
    #[must_use]
    pub fn traits_of(&self, signature: &Signature) -> ServerTraits {
        let stored = self.stored_traits(signature).unwrap_or_default();
        let observed = self.lock_observed().get(signature).copied().unwrap_or_default();
        stored.merge_with(observed)
    }

    /// The traits of the server in the file.
    fn stored_traits(&self, signature: &Signature) -> Option<ServerTraits> {
        let path = self.path.as_deref()?;
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken first: a file that changes while it is read is read again next time.
        let stamp = stamp_of(path);
        if stamp.is_none() || stored.stamp != stamp {
            let servers = read_servers(path).into_iter();
            let servers =
                servers.map(|(name, entry)| (name, ServerTraits::from_json(Some(&entry)))).collect();
            *stored = StoredTraits { stamp, servers };
        }
        stored.servers.get(&signature.to_string()).copied()
    }

    /// Records an observed trait; returns whether it changed the traits of the server.
    pub fn record(&self, signature: &Signature, observed: ServerTrait) -> bool {
        let before = self.traits_of(signature);
        if before.with_trait(observed) == before {
            return false;
        }
        self.remember_trait(signature, observed);
        if let Some(path) = &self.path
            && let Err(error) = write_trait(path, signature, observed)
        {
            tracing::debug!(%error, "traits of a server are not stored");
        }
        true
    }

    /// Keeps the trait in memory. If there are too many servers, any other one is dropped.
    fn remember_trait(&self, signature: &Signature, observed: ServerTrait) {
        let mut servers = self.lock_observed();
        let other = servers.keys().find(|other| *other != signature).copied();
        if let (true, Some(other)) = (servers.len() >= SERVER_TRAITS, other) {
            servers.remove(&other);
        }
        let traits = servers.entry(*signature).or_default();
        *traits = traits.with_trait(observed);
    }

    fn lock_observed(&self) -> MutexGuard<'_, HashMap<Signature, ServerTraits>> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The content of the file; empty if it is missing or damaged.
fn read_file(path: &Path) -> Map<String, Value> {
    let text = file::read_cache_file(path, SERVER_TRAITS_BYTES).map(|stored| stored.text);
    match text.and_then(|text| serde_json::from_str(&text).ok()) {
        Some(Value::Object(members)) => members,
        Some(_) | None => Map::new(),
    }
}

/// The stamp of the file; `None` if it is missing.
fn stamp_of(path: &Path) -> Option<FileStamp> {
    let file = path.metadata().ok()?;
    Some(FileStamp { inode: file.ino(), bytes: file.len(), modified: (file.mtime(), file.mtime_nsec()) })
}

/// The servers in the file, by signature.
fn read_servers(path: &Path) -> Map<String, Value> {
    match read_file(path).shift_remove(SERVERS) {
        Some(Value::Object(servers)) => servers,
        Some(_) | None => Map::new(),
    }
}

/// Adds a trait to the file under its lock, so that concurrent processes do not lose traits. Unknown members
/// stay; a damaged file is replaced.
fn write_trait(path: &Path, signature: &Signature, observed: ServerTrait) -> Result<(), FileWriteError> {
    let _lock = file::acquire_lock(&path.with_extension("lock"), file::LOCK_LIMIT)?;
    let mut content = read_file(path);
    let mut servers = match content.shift_remove(SERVERS) {
        Some(Value::Object(servers)) => servers,
        Some(_) | None => Map::new(),
    };
    // The server moves to the end: the first ones are the oldest.
    let name = signature.to_string();
    let mut entry = match servers.shift_remove(&name) {
        Some(Value::Object(entry)) => entry,
        Some(_) | None => Map::new(),
    };
    let before = ServerTraits::from_json(Some(&Value::Object(entry.clone())));
    update_entry(&mut entry, before.with_trait(observed));
    let excess = (servers.len() + 1).saturating_sub(SERVER_TRAITS);
    let mut servers: Map<String, Value> = servers.into_iter().skip(excess).collect();
    servers.insert(name, entry.into());
    content.insert(SERVERS.to_owned(), servers.into());
    let mut text = serialize_content(&content);
    if text.len() as u64 > SERVER_TRAITS_BYTES
        && let Some(Value::Object(servers)) = content.get_mut(SERVERS)
    {
        // Unknown members fill the file, and a longer one would count as damaged.
        *servers = std::mem::take(servers).into_iter().next_back().into_iter().collect();
        text = serialize_content(&content);
    }
    file::store_cache_file(path, &text)
}

/// Sets the members of the traits, and removes those of traits that no longer hold.
fn update_entry(entry: &mut Map<String, Value>, traits: ServerTraits) {
    for known in ServerTrait::ALL {
        if traits.has_trait(known) {
            entry.insert(known.as_str().to_owned(), true.into())
        } else {
            entry.shift_remove(known.as_str())
        };
    }
}

fn serialize_content(content: &Map<String, Value>) -> String {
    format!("{}\n", Value::Object(content.clone()))
}
