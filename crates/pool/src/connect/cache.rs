//! Reads and writes the catalog cache: surfaces of reached servers, failures of the others.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_config::BUILT_IN_SERVER;
use mcparley_model::config::{Era, ServerConfig, TransportConfig};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_wire::{AgreedProtocol, ProtocolSession};

use super::ConnectContext;
use crate::catalog_cache::CachedSurface;
use crate::connect_error::ConnectError;
use crate::needs_auth::NeedsAuthCache;
use crate::surface::Surface;

impl ConnectContext {
    /// The cached surface of a server from earlier processes.
    pub fn cached_surface(&self, config: &ServerConfig) -> Option<CachedSurface> {
        let known = self.caches.catalog.load_surface(config, &self.client_capabilities(config))?;
        self.caches.eras.assume_era(config, known.era);
        Some(known)
    }

    /// The cached connection failure of a server from earlier processes; `None` once it may be tried again.
    pub fn cached_failure(&self, config: &ServerConfig) -> Option<ConnectError> {
        self.caches.catalog.load_failure(config)
    }

    /// Removes a cached failure or sign-in need, so that the next connection attempt really tries.
    pub fn clear_cached_failures(&self, server: &ServerName, config: &ServerConfig) {
        self.caches.catalog.remove_failure(config);
        // The needs of principals are not on disk.
        if let (Some(folder), None) = (&self.dialer.paths.cache, &self.dialer.principal) {
            NeedsAuthCache::new(folder).clear_need(server, SystemTime::now());
        }
    }

    /// Caches a connection failure for later processes.
    pub(super) async fn cache_failure(&self, config: &ServerConfig, error: &ConnectError, took: Duration) {
        if !self.caches.catalog.is_cacheable(config) {
            return;
        }
        let (cache, config, error) = (Arc::clone(&self.caches.catalog), config.clone(), error.clone());
        let write = move || cache.store_failure(&config, &error, took);
        // A lost write does not matter: the next process tries the server itself.
        let _broken = mcparley_platform::thread::run_blocking(write).await;
    }

    /// Caches the surface of a server; returns the tools that have changed since the user accepted them.
    pub async fn cache_surface(
        &self,
        config: &ServerConfig,
        session: &ProtocolSession,
        surface: &Surface,
    ) -> Vec<ToolName> {
        let server = self.server.clone().unwrap_or_else(|| ServerName::new(""));
        // The tools of the built-in server are part of this program, and change only with it.
        if server.as_str() == BUILT_IN_SERVER && matches!(config.transport, TransportConfig::Sdk { .. }) {
            return Vec::new();
        }
        if !self.caches.catalog.is_cacheable(config) && self.dialer.paths.trust.is_none() {
            return self.caches.trust.record_tools(config, &server, &surface.tools);
        }
        let (cache, config, surface) = (Arc::clone(&self.caches.catalog), config.clone(), surface.clone());
        let (trust, capabilities) = (Arc::clone(&self.caches.trust), self.client_capabilities(&config));
        let era = match session.protocol() {
            AgreedProtocol::Old(_) => Era::Old,
            AgreedProtocol::New => Era::New,
        };
        // File access can be slow, and connections share a thread. An interrupted write leaves no partial
        // file.
        let written = mcparley_platform::thread::run_blocking(move || {
            cache.store_surface(&config, &capabilities, era, &surface);
            cache.remove_failure(&config);
            trust.record_tools(&config, &server, &surface.tools)
        });
        written.await.unwrap_or_default()
    }
}
