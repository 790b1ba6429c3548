//! What servers offered the last time, on disk: a new process knows its tools before any server runs (L12).
//!
//! One file per signature and per set of client capabilities, because servers list other tools to clients that can do
//! more; `surfaces/<signature>.<capabilities>.json`. Nothing is decided by it: a call reaches the server first, and a
//! tool that turns out to be another one is checked and permitted anew ([`crate::call`]). A file that cannot be read is
//! as good as none.
//!
//! The last failure of a server is remembered beside it, `failures/<signature>.json`, with an exponential back-off: within
//! it, whoever only lists does not wait for the server.

mod failure;
mod record;
mod stamp;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_model::config::{Era, Kind, ServerConfig};
use mcparley_model::expand::Env;
use mcparley_model::limits::{FAILURE_BYTES, SURFACE_BYTES, SURFACE_FRESH, SURFACE_RENEWED, SURFACES_KEPT};
use mcparley_model::signature::Signature;
use mcparley_platform::file;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::connect::ConnectError;
use crate::paths::Paths;
use crate::surface::Surface;
use failure::FailureRecord;
use record::Record;

/// How many digits of the hash of capabilities stand in a file's name: there are a dozen different ones.
const CAPABILITIES_DIGITS: usize = 16;

/// Where offers are remembered.
#[derive(Debug)]
pub(crate) struct Cache {
    paths: Arc<Paths>,
    env: Env,
}

/// What is remembered of a server.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) surface: Surface,
    /// The era it spoke.
    pub(crate) era: Era,
    /// Whether it is young enough, and the server's files as they were.
    pub(crate) is_fresh: bool,
}

impl Cache {
    pub(crate) fn new(paths: Arc<Paths>, env: Env) -> Self {
        Self { paths, env }
    }

    /// What the server of this entry offered when it was last reached with these client capabilities; failing that, with
    /// any others, which is better than nothing and never fresh.
    pub(crate) fn recall(&self, config: &ServerConfig, capabilities: &Value) -> Option<Known> {
        let key = self.key(config)?;
        let exact = self.surface_path(&key, capabilities)?;
        let (stored, is_exact) = match file::recall(&exact, SURFACE_BYTES) {
            Some(stored) => (stored, true),
            None => (file::recall(&newest_of(exact.parent()?, &key)?, SURFACE_BYTES)?, false),
        };
        let record = Record::read(&stored.text)?;
        let is_fresh = is_exact
            && is_younger(stored.written, SURFACE_FRESH)
            && record.stamp == stamp::of(config, &self.env, &self.paths);
        let era = record.era;
        Some(Known { surface: record.into_surface()?, era, is_fresh })
    }

    /// Remembers what a server offers; a list with gaps does not take the place of a whole one.
    pub(crate) fn keep(&self, config: &ServerConfig, capabilities: &Value, era: Era, surface: &Surface) {
        let path = self.key(config).and_then(|key| self.surface_path(&key, capabilities));
        let Some(path) = path else { return };
        if !surface.gaps.is_empty() {
            return;
        }
        let stamp = stamp::of(config, &self.env, &self.paths);
        let Some(text) = record::write(era, &stamp, surface) else { return };
        let old = file::recall(&path, SURFACE_BYTES);
        let is_kept = |old: &file::Stored| old.text == text && is_younger(old.written, SURFACE_RENEWED);
        if text.len() as u64 > SURFACE_BYTES || old.as_ref().is_some_and(is_kept) {
            return;
        }
        store(&path, &text, old.is_none());
    }

    /// Why the server of this entry could not be reached lately. Nothing once the back-off has passed, or the server's
    /// files are other ones.
    pub(crate) fn recall_failure(&self, config: &ServerConfig) -> Option<ConnectError> {
        let stored = file::recall(&self.failure_path(config)?, FAILURE_BYTES)?;
        let record = FailureRecord::parse(&stored.text)?;
        // A time that is still to come is one of a clock that was wrong.
        let age = SystemTime::now().duration_since(stored.written).ok()?;
        let holds = record.holds(age) && record.stamp == stamp::of(config, &self.env, &self.paths);
        if holds { record.to_error(age) } else { None }
    }

    /// Remembers that the server could not be reached, which `took` so long.
    pub(crate) fn keep_failure(&self, config: &ServerConfig, error: &ConnectError, took: Duration) {
        let Some(path) = self.failure_path(config) else { return };
        let stamp = stamp::of(config, &self.env, &self.paths);
        let old = file::recall(&path, FAILURE_BYTES).and_then(|stored| FailureRecord::parse(&stored.text));
        let is_new = old.is_none();
        let count = old.filter(|old| old.stamp == stamp).map_or(0, |old| old.count).saturating_add(1);
        let record = FailureRecord::new(error, took, count, stamp);
        if let Some(text) = record.and_then(|record| record.to_text()) {
            store(&path, &text, is_new);
        }
    }

    /// Forgets that the server could not be reached.
    pub(crate) fn forget_failure(&self, config: &ServerConfig) {
        if let Some(path) = self.failure_path(config) {
            file::discard(&path);
        }
    }

    /// Whether anything about this entry is kept at all.
    pub(crate) fn keeps(&self, config: &ServerConfig) -> bool {
        self.paths.cache.is_some() && self.key(config).is_some()
    }

    /// The name under which this entry is remembered. Servers inside this program and editors come and go with it.
    ///
    /// The folder somebody stands in is part of it only where the entry means another program there.
    fn key(&self, config: &ServerConfig) -> Option<String> {
        let mut hash = Sha256::new();
        hash.update(Signature::of(config).to_string());
        match config.kind() {
            Kind::Stdio => {
                for path in stamp::relative_paths(config, &self.paths) {
                    hash.update(path.as_os_str().as_encoded_bytes());
                    hash.update([0]);
                }
            }
            Kind::Sse | Kind::Http | Kind::Ws | Kind::ClaudeAiProxy => {}
            Kind::Sdk | Kind::SseIde | Kind::WsIde => return None,
        }
        Some(stamp::hex(hash))
    }

    fn surface_path(&self, key: &str, capabilities: &Value) -> Option<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(capabilities.to_string());
        let mut digits = stamp::hex(hash);
        digits.truncate(CAPABILITIES_DIGITS);
        Some(self.paths.cache.as_ref()?.join("surfaces").join(format!("{key}.{digits}.json")))
    }

    fn failure_path(&self, config: &ServerConfig) -> Option<PathBuf> {
        let key = self.key(config)?;
        Some(self.paths.cache.as_ref()?.join("failures").join(format!("{key}.json")))
    }
}

/// Writes a file of the cache. Without it the next process asks the server, as it did before.
fn store(path: &Path, text: &str, is_new: bool) {
    let _unwritten = file::store(path, text);
    if let (true, Some(folder)) = (is_new, path.parent()) {
        file::prune(folder, SURFACES_KEPT);
    }
}

/// The newest file about the server of this key, whatever the capabilities.
fn newest_of(folder: &Path, key: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let is_of_key = |name: &str| {
        name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')) && name.ends_with(".json")
    };
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of_key));
    let dated = files.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    dated.max().map(|(_, path)| path)
}

/// Whether it was written less than `age` ago; not so for a time that is still to come.
fn is_younger(written: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(written).is_ok_and(|since| since < age)
}
