//! Batches: the calls of one turn, read-only ones concurrently, all others in order.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::requested_call::Call;
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_results::CallOutcome;

/// A call of the batch that has been started.
type RunningBatchCall<'h> = Pin<Box<dyn Future<Output = Result<CallOutcome, CallError>> + Send + 'h>>;

/// A step of one call of a batch, for an observer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum BatchStep<'r> {
    /// The call has been started.
    Started,
    /// The call has finished.
    Finished {
        /// The result of the call.
        result: &'r Result<CallOutcome, CallError>,
        /// The time since its start.
        duration: Duration,
    },
}

/// The observer of a batch, which is given the index of the call and its step.
pub type BatchObserver<'o> = dyn Fn(usize, BatchStep<'_>) + Send + Sync + 'o;

impl Host {
    /// Makes the calls of one turn and returns their results in the same order.
    ///
    /// Adjacent calls of read-only tools run concurrently; any other call waits for those before it, and
    /// those after it wait for it.
    pub async fn call_all(&self, calls: Vec<Call>) -> Vec<Result<CallOutcome, CallError>> {
        self.call_all_observed(calls, &|_, _| {}).await
    }

    /// Makes the calls of one turn like [`Host::call_all`], and reports the start and the end of each.
    pub async fn call_all_observed(
        &self,
        calls: Vec<Call>,
        observe: &BatchObserver<'_>,
    ) -> Vec<Result<CallOutcome, CallError>> {
        let mut results = Vec::with_capacity(calls.len());
        let mut group: Vec<RunningBatchCall<'_>> = Vec::new();
        for (index, call) in calls.into_iter().enumerate() {
            let is_read_only = self.is_read_only(&call);
            let running: RunningBatchCall<'_> = Box::pin(self.call_observed(index, call, observe));
            if is_read_only {
                group.push(running);
                continue;
            }
            results.extend(join_all(std::mem::take(&mut group)).await);
            results.push(running.await);
        }
        results.extend(join_all(group).await);
        results
    }

    async fn call_observed(
        &self,
        index: usize,
        call: Call,
        observe: &BatchObserver<'_>,
    ) -> Result<CallOutcome, CallError> {
        let start = Instant::now();
        observe(index, BatchStep::Started);
        let result = self.call(call).await;
        observe(index, BatchStep::Finished { result: &result, duration: start.elapsed() });
        result
    }

    /// Whether the tool is marked read-only. The mark is a hint of the server: it orders work and permits
    /// nothing.
    fn is_read_only(&self, call: &Call) -> bool {
        let known = self.catalog();
        let entry = call.selector.find_entry(&known);
        entry.is_some_and(|entry| entry.tool.hints.read_only)
    }
}
