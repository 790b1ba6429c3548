//! Load limits: concurrent requests in all and per principal, a token-bucket rate limit, and failed tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use mcparley_model::limits::{DOOR_FAILED_TOKENS, DOOR_PRINCIPAL_REQUESTS, DOOR_REQUESTS};
use tokio::time::Instant;

use crate::guard::refusal::RequestRefusal;

/// The time over which failed tokens are counted.
const FAILURE_WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of addresses with counted failures.
const FAILURE_ADDRESSES: usize = 4096;
/// The maximum number of principals; they come from the token file, so only a large file has more.
const PRINCIPALS: usize = 65_536;

/// The limits of one gateway.
#[derive(Debug)]
pub(crate) struct LoadLimits {
    /// The requests per second of one principal.
    rate: Option<u32>,
    in_flight: AtomicUsize,
    /// The subscriptions, which last as long as their clients and are limited for themselves.
    subscriptions: AtomicUsize,
    principals: Mutex<HashMap<Arc<str>, Arc<PrincipalLoad>>>,
    failures: Mutex<HashMap<IpAddr, (Instant, u32)>>,
}

/// The load of one principal.
#[derive(Debug)]
pub(super) struct PrincipalLoad {
    in_flight: AtomicUsize,
    /// The requests since the last exchange with other gateways.
    spent: AtomicU64,
    bucket: Mutex<RequestBucket>,
}

/// Token-bucket rate limiter: holds one second's worth of requests.
#[derive(Debug)]
struct RequestBucket {
    tokens: f64,
    filled: Instant,
}

/// The permission for one request, which counts until it is dropped.
#[derive(Debug)]
pub(crate) struct LoadPermit {
    limits: Arc<LoadLimits>,
    principal: Arc<PrincipalLoad>,
}

/// The mark of a subscription that is being answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct SubscriptionMark(Arc<LoadLimits>);

impl LoadLimits {
    pub(crate) fn new(rate: Option<u32>) -> Arc<Self> {
        Arc::new(Self {
            rate,
            in_flight: AtomicUsize::new(0),
            subscriptions: AtomicUsize::new(0),
            principals: Mutex::default(),
            failures: Mutex::default(),
        })
    }

    /// The number of requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Whether requests or subscriptions are being answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight() > 0 || self.subscriptions.load(Ordering::Relaxed) > 0
    }

    /// Admits a request, or refuses it with a status that tells the client to come back.
    pub(crate) fn admit(self: &Arc<Self>, principal: &Arc<str>) -> Result<LoadPermit, RequestRefusal> {
        let load = self.principal_load(principal);
        if self.rate.is_some_and(|rate| !load.take_token(rate)) {
            return Err(too_many("rate", "too many requests a second"));
        }
        if load.in_flight.fetch_add(1, Ordering::Relaxed) >= DOOR_PRINCIPAL_REQUESTS {
            load.in_flight.fetch_sub(1, Ordering::Relaxed);
            return Err(too_many("principal_load", "too many requests at once"));
        }
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let permit = LoadPermit { limits: Arc::clone(self), principal: load };
        match self.in_flight() > DOOR_REQUESTS {
            true => Err(RequestRefusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "load",
                "the gateway has too many requests at once",
            )),
            false => Ok(permit),
        }
    }

    fn principal_load(&self, principal: &Arc<str>) -> Arc<PrincipalLoad> {
        let mut principals = lock(&self.principals);
        if let Some(load) = principals.get(principal) {
            return Arc::clone(load);
        }
        if principals.len() >= PRINCIPALS {
            principals.retain(|_, load| Arc::strong_count(load) > 1);
        }
        let bucket = RequestBucket { tokens: f64::from(self.rate.unwrap_or(0)), filled: Instant::now() };
        let load = PrincipalLoad {
            in_flight: AtomicUsize::new(0),
            spent: AtomicU64::new(0),
            bucket: Mutex::new(bucket),
        };
        let load = Arc::new(load);
        principals.insert(Arc::clone(principal), Arc::clone(&load));
        load
    }

    /// The requests per second of one principal.
    pub(super) fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// All principals with requests since the last exchange, and their number of requests.
    pub(super) fn take_spent(&self) -> Vec<(Arc<str>, Arc<PrincipalLoad>, u64)> {
        let principals = lock(&self.principals);
        let spent = principals
            .iter()
            .map(|(name, load)| (Arc::clone(name), Arc::clone(load), load.spent.swap(0, Ordering::Relaxed)));
        spent.filter(|(.., spent)| *spent > 0).collect()
    }

    /// Counts a failed token of an address, and refuses one with too many.
    pub(crate) fn count_failure(&self, address: IpAddr) -> Result<(), RequestRefusal> {
        let mut failures = lock(&self.failures);
        if failures.len() >= FAILURE_ADDRESSES && !failures.contains_key(&address) {
            failures.retain(|_, (since, _)| since.elapsed() < FAILURE_WINDOW);
            if failures.len() >= FAILURE_ADDRESSES {
                failures.clear();
            }
        }
        let (since, count) = failures.entry(address).or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() >= FAILURE_WINDOW {
            (*since, *count) = (Instant::now(), 0);
        }
        *count = count.saturating_add(1);
        match *count > DOOR_FAILED_TOKENS {
            true => Err(too_many("failed_tokens", "too many invalid tokens")),
            false => Ok(()),
        }
    }
}

impl PrincipalLoad {
    fn take_token(&self, rate: u32) -> bool {
        let mut bucket = lock(&self.bucket);
        let elapsed = bucket.filled.elapsed().as_secs_f64();
        bucket.filled = Instant::now();
        bucket.tokens = (bucket.tokens + elapsed * f64::from(rate)).min(f64::from(rate));
        let has_token = bucket.tokens >= 1.0;
        if has_token {
            bucket.tokens -= 1.0;
            self.spent.fetch_add(1, Ordering::Relaxed);
        }
        has_token
    }

    /// Counts requests again that were not exchanged, but never more than a second's worth.
    pub(super) fn return_spent(&self, requests: u64, rate: u32) {
        let add = |spent: u64| Some(spent.saturating_add(requests).min(u64::from(rate)));
        let _before = self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok();
    }

    /// Takes tokens for requests that other gateways have admitted. The bucket may owe a second's worth.
    pub(super) fn spend_elsewhere(&self, requests: u64, rate: u32) {
        let mut bucket = lock(&self.bucket);
        let requests = u32::try_from(requests).unwrap_or(u32::MAX);
        bucket.tokens = (bucket.tokens - f64::from(requests)).max(-f64::from(rate));
    }
}

impl LoadPermit {
    /// The permission for a subscription, which takes no place of a request.
    pub(crate) fn into_subscription(self) -> SubscriptionMark {
        self.limits.subscriptions.fetch_add(1, Ordering::Relaxed);
        SubscriptionMark(Arc::clone(&self.limits))
    }
}

impl Drop for SubscriptionMark {
    fn drop(&mut self) {
        self.0.subscriptions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for LoadPermit {
    fn drop(&mut self) {
        self.principal.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.limits.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn too_many(reason: &'static str, message: &str) -> RequestRefusal {
    RequestRefusal::new(StatusCode::TOO_MANY_REQUESTS, reason, message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one step, so a panic leaves no partial change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
