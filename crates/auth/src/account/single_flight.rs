//! Single flight: a token request in progress is joined instead of sent again, and its outcome is shared.
//!
//! A failure is shared as well. A hundred requests that wait for a hanging authorization server would
//! otherwise ask it one after the other, and the last would fail after a hundred times the timeout.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::secret::Secret;
use tokio::sync::watch;

use super::sign_in_cache::StoredSignIn;
use crate::error::{RenewError, SignInError};
use crate::task::TaskGroup;

/// The outcome of a token request.
pub(super) type RenewalOutcome = Result<Arc<StoredSignIn>, RenewError>;

/// The tokens a caller needs; equal keys share one request.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum RenewalKey {
    /// Tokens in the place of this one, which was refused or is about to expire.
    Refresh(Secret<String>),
    /// Tokens from a new grant, other than this one.
    NewGrant(Option<Secret<String>>),
}

/// Single flight over token requests: callers with an equal key share one request.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<Vec<RunningRenewal>>);

struct RunningRenewal {
    wish: RenewalKey,
    outcome: watch::Receiver<Option<RenewalOutcome>>,
}

impl SingleFlight {
    /// Runs the request, or joins the one in progress. The request is finished even when all callers give up.
    pub(super) async fn run_shared<W>(&self, tasks: &TaskGroup, wish: RenewalKey, work: W) -> RenewalOutcome
    where
        W: Future<Output = RenewalOutcome> + Send + 'static,
    {
        let mut outcome = self.join_or_spawn(tasks, wish, work);
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            // The program is ending, or the task panicked. Neither means that the user has to sign in.
            Ok(None) | Err(_) => Err(RenewError::renewal_failure(&SignInError::Stopped)),
        }
    }

    /// Waits until no request is in progress, including those that have not been polled yet.
    pub(super) async fn wait_until_idle(&self) {
        while let Some(mut running) = self.running_outcome() {
            // A request that was aborted is over too.
            let _broken = running.wait_for(Option::is_some).await;
        }
    }

    fn running_outcome(&self) -> Option<watch::Receiver<Option<RenewalOutcome>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|running| running.is_running()).map(|running| running.outcome.clone())
    }

    fn join_or_spawn<W>(
        &self,
        tasks: &TaskGroup,
        wish: RenewalKey,
        work: W,
    ) -> watch::Receiver<Option<RenewalOutcome>>
    where
        W: Future<Output = RenewalOutcome> + Send + 'static,
    {
        let (ended, outcome) = watch::channel(None);
        {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(RunningRenewal::is_running);
            if let Some(running) = all.iter().find(|running| running.wish == wish) {
                return running.outcome.clone();
            }
            all.push(RunningRenewal { wish, outcome: outcome.clone() });
        }
        tasks.spawn(async move {
            ended.send_replace(Some(work.await));
        });
        outcome
    }
}

impl RunningRenewal {
    fn is_running(&self) -> bool {
        // The sender is dropped when the task ended without an outcome.
        self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok()
    }
}
