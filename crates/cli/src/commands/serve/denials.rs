//! Tells the person on standard error which calls were denied, and the command that allows each (P1).
//!
//! The model is not told that command: one that can run commands would allow itself what it was denied.

use std::collections::HashSet;
use std::convert::Infallible;

use mcparley::{Host, PendingCall};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::out::Out;

/// How many tools are told of: a client that never reads standard error must not hold anything up. All of them stand in the
/// log and in `mcparley pending`.
const TOOLS: usize = 100;

/// The calls that are denied while a gateway serves.
pub(super) struct Denials {
    calls: Receiver<PendingCall>,
    /// The tools that were told of; each is told of once.
    told: HashSet<String>,
}

impl Denials {
    /// Listens to the host from now on.
    pub(super) fn of(host: &Host) -> Self {
        Self { calls: host.denied_calls(), told: HashSet::new() }
    }

    /// Tells of every call as it is denied.
    pub(super) async fn tell(&mut self, out: &mut Out) -> Infallible {
        loop {
            match self.calls.recv().await {
                Ok(call) => self.tell_call(&call, out),
                // Those that were missed stand in `mcparley pending`.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// Tells of the calls that were denied just before the end.
    pub(super) fn tell_rest(&mut self, out: &mut Out) {
        while let Ok(call) = self.calls.try_recv() {
            self.tell_call(&call, out);
        }
    }

    fn tell_call(&mut self, call: &PendingCall, out: &mut Out) {
        if self.told.len() < TOOLS && self.told.insert(call.tool.clone()) {
            out.warn(&format!("a call of `{}` was denied: {}", call.tool, call.reason));
            out.hint(&format!("`{}` allows it", call.command()));
        }
    }
}
