//! Several calls of one turn: what only reads runs side by side, everything else in order (K5).

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use super::error::CallError;
use super::outcome::Outcome;
use super::wish::{Call, Wanted};
use crate::host::Host;

type Running<'h> = Pin<Box<dyn Future<Output = Result<Outcome, CallError>> + Send + 'h>>;

impl Host {
    /// Makes the calls of one turn and gives their results in the same order.
    ///
    /// Neighbours that say they only read run at the same time; any other call waits for those before it, and
    /// those after it wait for it.
    pub async fn call_all(&self, calls: Vec<Call>) -> Vec<Result<Outcome, CallError>> {
        let mut results = Vec::with_capacity(calls.len());
        let mut group: Vec<Running<'_>> = Vec::new();
        for call in calls {
            if self.only_reads(&call) {
                group.push(Box::pin(self.call(call)));
                continue;
            }
            results.extend(together(std::mem::take(&mut group)).await);
            results.push(self.call(call).await);
        }
        results.extend(together(group).await);
        results
    }

    /// A hint of the server: it orders work and permits nothing.
    fn only_reads(&self, call: &Call) -> bool {
        let known = self.current();
        let entry = match &call.wanted {
            Wanted::Public(name) => known.get(name),
            Wanted::Tool { server, tool } => known.of(server, tool),
        };
        entry.is_some_and(|entry| entry.tool.hints.read_only)
    }
}

/// Runs all of them at the same time.
async fn together<F: Future + Unpin>(mut running: Vec<F>) -> Vec<F::Output> {
    let mut results: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, result) in running.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(ready) = Pin::new(future).poll(context)
            {
                *result = Some(ready);
            }
        }
        if results.iter().all(Option::is_some) {
            Poll::Ready(results.drain(..).flatten().collect())
        } else {
            Poll::Pending
        }
    })
    .await
}
