//! Remembers servers between processes: the catalogue of those that were reached, the failure of those that were not.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_model::config::{Era, ServerConfig};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_wire::{Session, Spoken};

use super::{ConnectError, NeedsAuth, Surroundings};
use crate::catalog::Known;
use crate::surface::Surface;

impl Surroundings {
    /// What is remembered of a server from earlier processes.
    pub(crate) fn known(&self, config: &ServerConfig) -> Option<Known> {
        let known = self.cache.recall(config, &self.capabilities(config))?;
        self.eras.assume(config, known.era);
        Some(known)
    }

    /// Why a server could not be reached lately, from earlier processes; nothing once it may be tried again.
    pub(crate) fn known_failure(&self, config: &ServerConfig) -> Option<ConnectError> {
        self.cache.recall_failure(config)
    }

    /// Forgets that a server failed or wanted a sign-in, so that whoever reaches it next really tries.
    pub(crate) fn forget_trouble(&self, server: &ServerName, config: &ServerConfig) {
        self.cache.forget_failure(config);
        if let Some(folder) = &self.paths.cache {
            NeedsAuth::new(folder).clear(server, SystemTime::now());
        }
    }

    /// Remembers for later processes that a server could not be reached.
    pub(super) async fn remember_failure(&self, config: &ServerConfig, error: &ConnectError, took: Duration) {
        if !self.cache.keeps(config) {
            return;
        }
        let (cache, config, error) = (Arc::clone(&self.cache), config.clone(), error.clone());
        let write = move || cache.keep_failure(&config, &error, took);
        // What was not written is found out again by the next process.
        let _broken = crate::task::aside(write).await;
    }

    /// Remembers what a server offers; gives the tools that have changed since they were accepted.
    pub(crate) async fn learnt(
        &self,
        config: &ServerConfig,
        session: &Session,
        surface: &Surface,
    ) -> Vec<ToolName> {
        let server = self.server.clone().unwrap_or_else(|| ServerName::new(""));
        if !self.cache.keeps(config) && self.paths.trust.is_none() {
            return self.trust.meet(config, &server, &surface.tools);
        }
        let (cache, config, surface) = (Arc::clone(&self.cache), config.clone(), surface.clone());
        let (trust, capabilities) = (Arc::clone(&self.trust), self.capabilities(&config));
        let era = match session.spoken() {
            Spoken::Old(_) => Era::Old,
            Spoken::New => Era::New,
        };
        // Files are slow at times, and connections share a thread. A write that broke off left nothing behind.
        let written = crate::task::aside(move || {
            cache.keep(&config, &capabilities, era, &surface);
            cache.forget_failure(&config);
            trust.meet(&config, &server, &surface.tools)
        });
        written.await.unwrap_or_default()
    }
}
