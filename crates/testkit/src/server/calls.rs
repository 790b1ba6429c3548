//! The requests being worked on, so that they can be cancelled, and the count of those that were.

use crate::lock::lock;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting call looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(10);

/// What is running, and what has run.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    running: Mutex<HashMap<String, Arc<Flag>>>,
    executions: Mutex<BTreeMap<String, u64>>,
    cancelled: Mutex<Vec<String>>,
}

/// A request from the moment it was read; forgotten when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    calls: Arc<Calls>,
    key: String,
    id: String,
    flag: Arc<Flag>,
}

#[derive(Debug, Default)]
struct Flag {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl Calls {
    /// Makes a request known before the next message is read, so that no cancellation is missed.
    pub(crate) fn begin(self: &Arc<Self>, scope: &str, id: &Value) -> Running {
        let flag = Arc::<Flag>::default();
        let key = key(scope, id);
        lock(&self.running).insert(key.clone(), Arc::clone(&flag));
        Running { calls: Arc::clone(self), key, id: id.to_string(), flag }
    }

    /// Takes a request back; one that has ended is not concerned.
    pub(crate) fn cancel(&self, scope: &str, id: &Value) {
        if let Some(flag) = lock(&self.running).get(&key(scope, id)) {
            *lock(&flag.cancelled) = true;
            flag.changed.notify_all();
        }
    }

    /// Counts one execution of a tool.
    pub(crate) fn count(&self, id: &Value) {
        *lock(&self.executions).entry(id.to_string()).or_default() += 1;
    }

    /// Executions by id.
    pub(crate) fn executions(&self) -> Value {
        json!(*lock(&self.executions))
    }

    /// The ids of calls that stopped because they were taken back.
    pub(crate) fn cancelled(&self) -> Value {
        json!(*lock(&self.cancelled))
    }
}

impl Running {
    /// Waits; says whether the request was taken back meanwhile.
    pub(crate) fn is_cancelled_within(&self, time: Duration, gone: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + time;
        let mut cancelled = lock(&self.flag.cancelled);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if *cancelled || gone() {
                lock(&self.calls.cancelled).push(self.id.clone());
                return true;
            }
            if left.is_zero() {
                return false;
            }
            let waited = self.flag.changed.wait_timeout(cancelled, left.min(LOOK));
            cancelled = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.calls.running).remove(&self.key);
    }
}

fn key(scope: &str, id: &Value) -> String {
    format!("{scope}/{id}")
}
