//! Caches of facts about servers, kept between connections and between processes.

use std::sync::Arc;

use mcparley_config::Paths;
use mcparley_config::trust::TrustStore;
use mcparley_model::expand::Env;

use crate::catalog_cache::CatalogCache;
use crate::era_cache::EraCache;
use crate::needs_auth::NeedsAuthCache;

/// The caches of a host: tool lists, protocol eras, accepted tools, sign-in needs. Cheap to clone; clones
/// share them.
#[derive(Clone, Debug)]
pub struct Caches {
    /// The cached surfaces of servers, and their recent connection failures.
    pub(crate) catalog: Arc<CatalogCache>,
    /// The cached protocol era of each server.
    pub(crate) eras: Arc<EraCache>,
    /// The tool definitions that the user has accepted.
    pub trust: Arc<TrustStore>,
    /// The servers that need a sign-in, for a host that does not try them again at once.
    pub(crate) needs_auth: Option<Arc<NeedsAuthCache>>,
}

impl Caches {
    /// Caches below these paths; `env` is the environment in which servers are looked up.
    #[must_use]
    pub fn new(env: &Env, paths: &Arc<Paths>) -> Self {
        Self {
            catalog: Arc::new(CatalogCache::new(Arc::clone(paths), env.clone())),
            eras: Arc::default(),
            trust: Arc::new(TrustStore::new(Arc::clone(paths))),
            needs_auth: None,
        }
    }
}
