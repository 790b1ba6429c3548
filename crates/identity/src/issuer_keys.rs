//! The cache of an issuer's keys, refreshed by requests: when it expires, and when a token names a new key.
//!
//! All requests that need newer keys share one fetch (single flight), which runs in a task of its own: a client
//! that goes away cannot end it. The interval between two fetches bounds the cost of tokens with invented keys.
//! While the issuer is away its expired keys are used on, for a day.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::limits::{FIRST_KEYS_INTERVAL, KEYS_INTERVAL, KEYS_STALE_TIME, KEYS_WAIT};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::access_refusal::AccessRefusal;
use crate::issuer_error::IssuerError;
use crate::key_set::KeySet;
use crate::key_source::{FetchedKeys, KeySource};
use crate::verification_key::{SignatureAlgorithm, VerificationKey};

/// The keys of an issuer.
#[derive(Debug)]
pub(crate) struct IssuerKeys {
    source: KeySource,
    state: Mutex<KeyCacheState>,
}

#[derive(Debug, Default)]
struct KeyCacheState {
    cached: Option<CachedKeys>,
    /// The time of the newest fetch.
    fetched: Option<Instant>,
    /// Closes when the fetch in progress ends.
    running: Option<watch::Receiver<()>>,
    /// The error of the newest fetch.
    error: Option<Arc<IssuerError>>,
    /// The number of times that the keys changed.
    version: u64,
}

#[derive(Debug)]
struct CachedKeys {
    keys: Arc<KeySet>,
    digest: Box<[u8]>,
    fresh_until: Instant,
}

/// The keys at one moment.
struct CurrentKeys {
    keys: Arc<KeySet>,
    version: u64,
    is_fresh: bool,
    /// Whether the newest fetch failed.
    is_issuer_away: bool,
}

impl IssuerKeys {
    pub(crate) fn new(source: KeySource) -> Arc<Self> {
        Arc::new(Self { source, state: Mutex::default() })
    }

    /// The version of the keys while they are fresh, so that tokens verified with them are still good.
    pub(crate) fn fresh_version(&self) -> Option<u64> {
        self.current_keys().filter(|current| current.is_fresh).map(|current| current.version)
    }

    /// Fetches the keys now.
    pub(crate) async fn fetch_keys(self: &Arc<Self>) -> Result<(), Arc<IssuerError>> {
        self.wait_for_fetch(None).await;
        match &self.lock_state().error {
            Some(error) => Err(Arc::clone(error)),
            None => Ok(()),
        }
    }

    /// The key of a token, with the version of the keys. Newer keys are fetched if it is not among fresh ones.
    pub(crate) async fn find_key(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
    ) -> Result<(Arc<VerificationKey>, u64), AccessRefusal> {
        let mut patience = None;
        if let Some(current) = self.current_keys() {
            match current.find_key(id, algorithm) {
                Err(AccessRefusal::UnknownKey) => {}
                found if current.is_fresh => return found,
                // An expired key is good enough for now if the issuer is slow or away.
                Ok(_) => patience = Some(if current.is_issuer_away { Duration::ZERO } else { KEYS_WAIT }),
                Err(_) => {}
            }
        }
        let has_fetched = self.wait_for_fetch(patience).await;
        let current = self.current_keys().ok_or(AccessRefusal::IssuerAway)?;
        match current.find_key(id, algorithm) {
            // The issuer may have a newer key, and is asked for it soon.
            Err(AccessRefusal::UnknownKey) if !has_fetched => Err(AccessRefusal::KeyPending),
            found => found,
        }
    }

    /// Waits for the fetch in progress, or starts one unless the newest is too recent. Returns whether there was one.
    async fn wait_for_fetch(self: &Arc<Self>, patience: Option<Duration>) -> bool {
        let Some(mut running) = self.start_fetch() else { return false };
        // Nothing is ever sent: the channel closes at the end of the fetch.
        let ended = running.changed();
        let _closed = match patience {
            None => ended.await,
            Some(patience) => tokio::time::timeout(patience, ended).await.unwrap_or(Ok(())),
        };
        true
    }

    fn start_fetch(self: &Arc<Self>) -> Option<watch::Receiver<()>> {
        let mut state = self.lock_state();
        if let Some(running) = state.running.as_ref().filter(|running| running.has_changed().is_ok()) {
            return Some(running.clone());
        }
        let interval = if state.cached.is_some() { KEYS_INTERVAL } else { FIRST_KEYS_INTERVAL };
        if state.fetched.is_some_and(|fetched| fetched.elapsed() < interval) {
            return None;
        }
        state.fetched = Some(Instant::now());
        let (ended, running) = watch::channel(());
        state.running = Some(running.clone());
        drop(state);
        let keys = Arc::clone(self);
        // Ends by itself: every request has a timeout.
        tokio::spawn(async move {
            let fetched = keys.source.fetch_keys().await;
            keys.store_keys(fetched);
            drop(ended);
        });
        Some(running)
    }

    fn store_keys(&self, fetched: Result<FetchedKeys, IssuerError>) {
        let mut state = self.lock_state();
        match fetched {
            Ok(FetchedKeys { keys, digest, lifetime }) => {
                if state.cached.as_ref().is_none_or(|cached| cached.digest != digest) {
                    state.version += 1;
                }
                let fresh_until = Instant::now() + lifetime;
                state.cached = Some(CachedKeys { keys: Arc::new(keys), digest, fresh_until });
                state.error = None;
            }
            Err(error) => state.error = Some(Arc::new(error)),
        }
    }

    fn current_keys(&self) -> Option<CurrentKeys> {
        let state = self.lock_state();
        let cached = state.cached.as_ref()?;
        let now = Instant::now();
        (now < cached.fresh_until + KEYS_STALE_TIME).then(|| CurrentKeys {
            keys: Arc::clone(&cached.keys),
            version: state.version,
            is_fresh: now < cached.fresh_until,
            is_issuer_away: state.error.is_some(),
        })
    }

    fn lock_state(&self) -> MutexGuard<'_, KeyCacheState> {
        // Every change is one step, so a panic leaves no partial change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CurrentKeys {
    fn find_key(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
    ) -> Result<(Arc<VerificationKey>, u64), AccessRefusal> {
        self.keys.find_key(id, algorithm).map(|key| (key, self.version))
    }
}
