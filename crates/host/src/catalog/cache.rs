//! What servers offered the last time, on disk: a new process knows its tools before any server runs (L12).
//!
//! One file per connection, named by its signature and, for local servers, by the project they run in. Nothing is
//! decided by it: a call reaches the server first, and a tool that turns out to be another one is checked and
//! permitted anew ([`crate::call`]). A file that cannot be read is as good as none.

mod record;
mod stamp;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_model::config::{Era, Kind, ServerConfig};
use mcparley_model::expand::Env;
use mcparley_model::limits::{SURFACE_BYTES, SURFACE_FRESH, SURFACE_RENEWED, SURFACES_KEPT};
use mcparley_model::signature::Signature;
use mcparley_platform::file;
use sha2::{Digest, Sha256};

use crate::places::Places;
use crate::surface::Surface;
use record::Record;

/// Where offers are remembered.
#[derive(Debug)]
pub(crate) struct Cache {
    places: Arc<Places>,
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
    pub(crate) fn new(places: Arc<Places>, env: Env) -> Self {
        Self { places, env }
    }

    /// What the server of this entry offered when it was last reached.
    pub(crate) fn recall(&self, config: &ServerConfig) -> Option<Known> {
        let path = self.path(config)?;
        let stored = file::recall(&path, SURFACE_BYTES)?;
        let record = Record::read(&stored.text)?;
        let is_fresh = is_younger(stored.written, SURFACE_FRESH)
            && record.stamp == stamp::of(config, &self.env, &self.places);
        let era = record.era;
        Some(Known { surface: record.into_surface()?, era, is_fresh })
    }

    /// Remembers what a server offers; a list with gaps does not take the place of a whole one.
    pub(crate) fn keep(&self, config: &ServerConfig, era: Era, surface: &Surface) {
        let Some(path) = self.path(config) else { return };
        if !surface.gaps.is_empty() {
            return;
        }
        let stamp = stamp::of(config, &self.env, &self.places);
        let Some(text) = record::write(era, &stamp, surface) else { return };
        let old = file::recall(&path, SURFACE_BYTES);
        let is_kept = |old: &file::Stored| old.text == text && is_younger(old.written, SURFACE_RENEWED);
        if text.len() as u64 > SURFACE_BYTES || old.as_ref().is_some_and(is_kept) {
            return;
        }
        // Without it the next process asks the server, as it did before.
        let _unwritten = file::store(&path, &text);
        if let (None, Some(folder)) = (old, path.parent()) {
            file::prune(folder, SURFACES_KEPT);
        }
    }

    /// Whether the offer of this entry is kept at all.
    pub(crate) fn keeps(&self, config: &ServerConfig) -> bool {
        self.path(config).is_some()
    }

    /// Where the offer of this entry stands. Servers inside this program and editors come and go with it.
    fn path(&self, config: &ServerConfig) -> Option<PathBuf> {
        let folder = self.places.cache.as_ref()?.join("surfaces");
        let mut hash = Sha256::new();
        hash.update(Signature::of(config).to_string());
        match config.kind() {
            Kind::Stdio => hash.update(self.places.project.as_os_str().as_encoded_bytes()),
            Kind::Sse | Kind::Http | Kind::Ws | Kind::ClaudeAiProxy => {}
            Kind::Sdk | Kind::SseIde | Kind::WsIde => return None,
        }
        Some(folder.join(format!("{}.json", stamp::hex(hash))))
    }
}

/// Whether it was written less than `age` ago; not so for a time that is still to come.
fn is_younger(written: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(written).is_ok_and(|since| since < age)
}
