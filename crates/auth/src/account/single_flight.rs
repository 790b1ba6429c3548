//! Single flight: a request for tokens that is already under way is joined instead of sent again, and its outcome shared.
//!
//! A failure is shared as well. A hundred requests that wait for an authorization server which hangs would otherwise ask
//! it one after the other, and the last would hear of it after a hundred times the limit (F81).

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::secret::Secret;
use tokio::sync::watch;

use super::memory::StoredSignIn;
use super::renewal::RenewError;
use crate::error::SignInError;
use crate::task::Tasks;

/// What came of it.
pub(super) type Outcome = Result<Arc<StoredSignIn>, RenewError>;

/// What somebody wants.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Tokens in the place of this one, which was refused or is about to end.
    Renewed(Secret<String>),
    /// Tokens that are asked for anew, other than this one.
    Anew(Option<Secret<String>>),
}

/// The requests that are under way, each shared by everybody who wants the same.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<Vec<Running>>);

struct Running {
    wish: Wish,
    outcome: watch::Receiver<Option<Outcome>>,
}

impl SingleFlight {
    /// Starts the work, or joins it; it is finished whatever becomes of those who wait for it.
    pub(super) async fn share<W>(&self, tasks: &Tasks, wish: Wish, work: W) -> Outcome
    where
        W: Future<Output = Outcome> + Send + 'static,
    {
        let mut outcome = self.join(tasks, wish, work);
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            // The program is ending, or there is a mistake of ours. Nobody has to sign in for that.
            Ok(None) | Err(_) => Err(RenewError::broken_off(&SignInError::Stopped)),
        }
    }

    /// Waits until nothing is under way, also what has not got to its first step yet.
    pub(super) async fn settle(&self) {
        while let Some(mut running) = self.running() {
            // One that was broken off is over too.
            let _broken = running.wait_for(Option::is_some).await;
        }
    }

    fn running(&self) -> Option<watch::Receiver<Option<Outcome>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|running| running.goes_on()).map(|running| running.outcome.clone())
    }

    fn join<W>(&self, tasks: &Tasks, wish: Wish, work: W) -> watch::Receiver<Option<Outcome>>
    where
        W: Future<Output = Outcome> + Send + 'static,
    {
        let (ended, outcome) = watch::channel(None);
        {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(Running::goes_on);
            if let Some(running) = all.iter().find(|running| running.wish == wish) {
                return running.outcome.clone();
            }
            all.push(Running { wish, outcome: outcome.clone() });
        }
        tasks.spawn(async move {
            ended.send_replace(Some(work.await));
        });
        outcome
    }
}

impl Running {
    fn goes_on(&self) -> bool {
        // Its other end is gone when it has ended in any other way.
        self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok()
    }
}
