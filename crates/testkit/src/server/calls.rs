//! The running requests, so that they can be canceled, and the counts of executions and cancellations.

use crate::lock::lock;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The interval at which a waiting call checks whether its client is still connected.
const LOOK: Duration = Duration::from_millis(10);

/// The running requests and the counts of finished ones.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls {
    running: Mutex<HashMap<String, Arc<CancelFlag>>>,
    executions: Mutex<BTreeMap<String, u64>>,
    cancelled: Mutex<Vec<String>>,
}

/// A running request, removed when dropped.
#[derive(Debug)]
pub(crate) struct ScriptedCall {
    calls: Arc<RunningCalls>,
    key: String,
    id: String,
    flag: Arc<CancelFlag>,
}

#[derive(Debug, Default)]
struct CancelFlag {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl RunningCalls {
    /// Registers a request before the next message is read, so that no cancellation is missed.
    pub(crate) fn register_call(self: &Arc<Self>, scope: &str, id: &Value) -> ScriptedCall {
        let flag = Arc::<CancelFlag>::default();
        let key = call_key(scope, id);
        lock(&self.running).insert(key.clone(), Arc::clone(&flag));
        ScriptedCall { calls: Arc::clone(self), key, id: id.to_string(), flag }
    }

    /// Cancels a request; one that has ended is ignored.
    pub(crate) fn cancel_call(&self, scope: &str, id: &Value) {
        if let Some(flag) = lock(&self.running).get(&call_key(scope, id)) {
            *lock(&flag.cancelled) = true;
            flag.changed.notify_all();
        }
    }

    /// Counts one execution of a tool.
    pub(crate) fn count_execution(&self, id: &Value) {
        *lock(&self.executions).entry(id.to_string()).or_default() += 1;
    }

    /// The number of executions by id.
    pub(crate) fn execution_counts(&self) -> Value {
        json!(*lock(&self.executions))
    }

    /// The ids of calls that stopped because they were canceled.
    pub(crate) fn canceled_ids(&self) -> Value {
        json!(*lock(&self.cancelled))
    }
}

impl ScriptedCall {
    /// Waits; returns whether the request was canceled meanwhile.
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

impl Drop for ScriptedCall {
    fn drop(&mut self) {
        lock(&self.calls.running).remove(&self.key);
    }
}

fn call_key(scope: &str, id: &Value) -> String {
    format!("{scope}/{id}")
}
