//! On-disk cache of server surfaces: a new process knows its tools before any server runs.
//!
//! One file per signature and set of client capabilities, `surfaces/<signature>.<capabilities>.json`, because
//! servers list other tools to clients with more capabilities. The cache makes no decisions: a call connects
//! to the server first, and a tool that has changed is checked and permitted again when it is called. An
//! unreadable file counts as missing.
//!
//! The last connection failure of a server is cached too, in `failures/<signature>.json`, with exponential
//! backoff: until it has passed, commands that only list tools do not wait for the server.

mod failure;
mod record;
mod stamp;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_model::config::{Era, ServerConfig, TransportKind};
use mcparley_model::expand::Env;
use mcparley_model::limits::{FAILURE_BYTES, SURFACE_BYTES, SURFACE_FRESH, SURFACE_RENEWED, SURFACES_KEPT};
use mcparley_model::signature::Signature;
use mcparley_platform::file;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::connect_error::ConnectError;
use crate::principal::PrincipalHash;
use crate::surface::Surface;
use failure::FailureRecord;
use mcparley_config::Paths;
use record::SurfaceRecord;

/// The number of hash digits for the capabilities in a file name: there are only a dozen different sets.
const CAPABILITIES_DIGITS: usize = 16;

/// On-disk cache of server surfaces and connection failures.
#[derive(Debug)]
pub struct CatalogCache {
    paths: Arc<Paths>,
    env: Env,
    /// The principal of a gateway whose credentials the connections carry: a server may list other tools to it.
    owner: Option<PrincipalHash>,
}

/// A cached surface of a server.
#[derive(Debug)]
pub struct CachedSurface {
    /// The surface: tools, prompts and resources.
    pub surface: Surface,
    /// The protocol era of the server.
    pub era: Era,
    /// Whether the entry is recent and the server's files are unchanged.
    pub is_fresh: bool,
}

impl CatalogCache {
    /// A cache below the cache folder of these paths.
    pub fn new(paths: Arc<Paths>, env: Env) -> Self {
        Self { paths, env, owner: None }
    }

    /// This cache for connections with the credentials of a principal, which share no entry with others.
    pub(crate) fn with_owner(self, owner: Option<PrincipalHash>) -> Self {
        Self { owner, ..self }
    }

    /// The cache for connections with the credentials of this principal.
    pub(crate) fn for_owner(&self, owner: PrincipalHash) -> Self {
        Self::new(Arc::clone(&self.paths), self.env.clone()).with_owner(Some(owner))
    }

    /// The surface of a server from its last connection with these client capabilities. Without one, the
    /// newest with other capabilities is returned, which is never fresh.
    pub fn load_surface(&self, config: &ServerConfig, capabilities: &Value) -> Option<CachedSurface> {
        let key = self.cache_key(config)?;
        let exact = self.surface_path(&key, capabilities)?;
        let (stored, is_exact) = match file::read_cache_file(&exact, SURFACE_BYTES) {
            Some(stored) => (stored, true),
            None => {
                (file::read_cache_file(&newest_surface_file(exact.parent()?, &key)?, SURFACE_BYTES)?, false)
            }
        };
        let record = SurfaceRecord::parse(&stored.text)?;
        let is_fresh = is_exact
            && is_newer_than(stored.written, SURFACE_FRESH)
            && record.stamp == stamp::files_stamp(config, &self.env, &self.paths);
        let era = record.era;
        Some(CachedSurface { surface: record.into_surface()?, era, is_fresh })
    }

    /// Stores the surface of a server. A surface with gaps is not stored, so it never replaces a complete
    /// one.
    pub fn store_surface(&self, config: &ServerConfig, capabilities: &Value, era: Era, surface: &Surface) {
        let path = self.cache_key(config).and_then(|key| self.surface_path(&key, capabilities));
        let Some(path) = path else { return };
        if !surface.gaps.is_empty() {
            return;
        }
        let stamp = stamp::files_stamp(config, &self.env, &self.paths);
        let Some(text) = record::serialize_surface(era, &stamp, surface) else { return };
        let old = file::read_cache_file(&path, SURFACE_BYTES);
        let is_kept =
            |old: &file::CachedText| old.text == text && is_newer_than(old.written, SURFACE_RENEWED);
        if text.len() as u64 > SURFACE_BYTES || old.as_ref().is_some_and(is_kept) {
            return;
        }
        write_cache_file(&path, &text, old.is_none());
    }

    /// The cached connection failure of a server. `None` once the backoff has passed or the server's files
    /// have changed.
    pub fn load_failure(&self, config: &ServerConfig) -> Option<ConnectError> {
        let stored = file::read_cache_file(&self.failure_path(config)?, FAILURE_BYTES)?;
        let record = FailureRecord::parse(&stored.text)?;
        // A time in the future comes from a wrong clock.
        let age = SystemTime::now().duration_since(stored.written).ok()?;
        let holds = record.is_within_backoff(age)
            && record.stamp == stamp::files_stamp(config, &self.env, &self.paths);
        if holds { record.to_error(age) } else { None }
    }

    /// Stores a connection failure and counts it; the attempt took `took`.
    pub fn store_failure(&self, config: &ServerConfig, error: &ConnectError, took: Duration) {
        let Some(path) = self.failure_path(config) else { return };
        let stamp = stamp::files_stamp(config, &self.env, &self.paths);
        let old =
            file::read_cache_file(&path, FAILURE_BYTES).and_then(|stored| FailureRecord::parse(&stored.text));
        let is_new = old.is_none();
        let count = old.filter(|old| old.stamp == stamp).map_or(0, |old| old.count).saturating_add(1);
        let record = FailureRecord::new(error, took, count, stamp);
        if let Some(text) = record.and_then(|record| record.to_text()) {
            write_cache_file(&path, &text, is_new);
        }
    }

    /// Removes the cached connection failure of a server.
    pub fn remove_failure(&self, config: &ServerConfig) {
        if let Some(path) = self.failure_path(config) {
            file::remove_cache_file(&path);
        }
    }

    /// Whether the cache stores surfaces and failures for this entry at all.
    pub fn is_cacheable(&self, config: &ServerConfig) -> bool {
        self.paths.cache.is_some() && self.cache_key(config).is_some()
    }

    /// The cache key of an entry. `None` for in-process servers and editors, which exist only while their
    /// program runs.
    ///
    /// The working directory is part of the key only if the entry has relative paths, which mean another
    /// program there.
    fn cache_key(&self, config: &ServerConfig) -> Option<String> {
        let mut hash = Sha256::new();
        hash.update(Signature::from_config(config).to_string());
        if let Some(owner) = &self.owner {
            hash.update(owner.as_bytes());
        }
        match config.kind() {
            TransportKind::Stdio => {
                for path in stamp::relative_paths(config, &self.paths) {
                    hash.update(path.as_os_str().as_encoded_bytes());
                    hash.update([0]);
                }
            }
            TransportKind::Sse | TransportKind::Http | TransportKind::Ws | TransportKind::ClaudeAiProxy => {}
            TransportKind::Sdk | TransportKind::SseIde | TransportKind::WsIde => return None,
        }
        Some(stamp::hex_digest(hash))
    }

    fn surface_path(&self, key: &str, capabilities: &Value) -> Option<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(capabilities.to_string());
        let mut digits = stamp::hex_digest(hash);
        digits.truncate(CAPABILITIES_DIGITS);
        Some(self.paths.cache.as_ref()?.join("surfaces").join(format!("{key}.{digits}.json")))
    }

    fn failure_path(&self, config: &ServerConfig) -> Option<PathBuf> {
        let key = self.cache_key(config)?;
        Some(self.paths.cache.as_ref()?.join("failures").join(format!("{key}.json")))
    }
}

/// Writes a cache file. A failure is ignored: the next process asks the server instead.
fn write_cache_file(path: &Path, text: &str, is_new: bool) {
    let _unwritten = file::store_cache_file(path, text);
    if let (true, Some(folder)) = (is_new, path.parent()) {
        file::prune_cache_folder(folder, SURFACES_KEPT);
    }
}

/// The newest surface file for a key, for any client capabilities.
fn newest_surface_file(folder: &Path, key: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let is_of_key = |name: &str| {
        name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')) && name.ends_with(".json")
    };
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of_key));
    let dated = files.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    dated.max().map(|(_, path)| path)
}

/// Whether a file was written less than `age` ago; false for a time in the future.
fn is_newer_than(written: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(written).is_ok_and(|since| since < age)
}
