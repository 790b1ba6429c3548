//! One call from a model's wish to a result it can use (K1).
//!
//! The order is fixed: look up → check the arguments → hooks → permission → a connection → the call, repeated where
//! that is safe → shape the result → hooks → store what is too long → the record.
//!
//! | step | where |
//! |---|---|
//! | what is wanted, and by whom | `wish`, `person` |
//! | look up | `bind` |
//! | arguments against the schema | `check` |
//! | what hooks say, before and after | `hooked` |
//! | may it happen | `permit`, `admit`; which rules still hold: `binding`; mode `auto`: `classify` |
//! | what a person is asked | `question` |
//! | the request, its limit, its repetition | `attempt`, `deadline` |
//! | what the server wants before it answers | `rounds` |
//! | what the server works on by itself | `task` |
//! | what follows a failure | `recovery` |
//! | the host's own tools | `own` |
//! | what the answer means | `shape`, `outcome` |
//! | how much of it is handed over | `deliver` |
//! | several calls at once | `batch` |
//! | requests that are no calls: prompts, resources | `request`, `blocks` |

mod admit;
mod attempt;
mod batch;
mod bind;
mod binding;
mod blocks;
mod check;
mod classify;
mod deadline;
mod deliver;
mod error;
mod hooked;
mod outcome;
mod own;
mod pending;
mod permit;
mod person;
mod question;
mod recovery;
mod repeat;
mod request;
mod rounds;
mod shape;
mod task;
mod wish;

use crate::audit::AuditEntry;
use crate::catalog::{Entry, Provider};
use crate::host::Host;
use bind::Bound;
use hooked::HookState;

/// How often a tool may turn out to be another one before a call to it is given up.
const DEFINITIONS: usize = 3;

pub use admit::Admission;
pub(crate) use admit::{Asks, Gate};
pub(crate) use blocks::{blocks, resource_outcome};
pub use check::Misfit;
pub(crate) use check::{Checker, Refs};
pub(crate) use classify::ByCommand;
pub use classify::{ByHistory, Case, Classifier, Opinion};
pub use error::{CallError, Executed};
pub use outcome::{Block, Body, Outcome};
pub(crate) use own::answer as own_answer;
pub use pending::{PendingCall, pending_calls};
pub use person::Person;
pub use question::{AlwaysScope, Answer, Approver, NobodyToAsk, Question};
pub(crate) use request::Request;
pub use request::RequestError;
pub(crate) use shape::mend_surrogates;
pub use wish::{Call, Consent};

impl Host {
    /// Calls a tool.
    ///
    /// Dropping the future cancels the call, at the server too; the server stays connected.
    ///
    /// # Errors
    /// A [`CallError`]. That a tool itself failed is no error: see [`Outcome::is_error`].
    pub async fn call(&self, mut call: Call) -> Result<Outcome, CallError> {
        let mut audit_entry = self.audit_entry(|| call.wanted.told());
        let result = self.made(&mut call, &mut audit_entry).await;
        audit_entry.ended(&result);
        result
    }

    /// Makes the call, and notes on the way what its record tells.
    async fn made(&self, call: &mut Call, audit_entry: &mut AuditEntry) -> Result<Outcome, CallError> {
        let mut hook_state = HookState::default();
        let bound = self.admitted(call, &mut hook_state, audit_entry).await?;
        hook_state.keep(self.hooks(), call);
        let mut result = self.carried_out(&bound, call).await;
        if hook_state.has_more_to_say() {
            // Rare and large: it would make every call's future as large.
            result = Box::pin(self.hear_after(&bound, hook_state, result)).await;
        }
        // Last, so that nothing is stored that a hook took away.
        Ok(self.deliver(&bound, result?).await)
    }

    /// Does what was permitted.
    async fn carried_out(&self, bound: &Bound, call: &mut Call) -> Result<Outcome, CallError> {
        match &bound.entry.provider {
            Provider::Server(_) => {
                let answer = self.attempt(bound, call).await?;
                shape::shape(answer).map_err(|failure| bound.failed(failure))
            }
            // Rare and large: they would make every call's future as large.
            Provider::Host(tool) => Box::pin(self.own(*tool, call)).await,
            Provider::SignIn { server, tool } => Box::pin(self.sign_in_by_tool(server, *tool, call)).await,
        }
    }

    /// Looks the tool up, checks the arguments and asks for permission. Should reaching the server show that the tool
    /// is another one than the catalogue said, all of that again (L12).
    ///
    /// What hooks say about a call comes between the check and the permission.
    async fn admitted(
        &self,
        call: &mut Call,
        hook_state: &mut HookState,
        audit_entry: &mut AuditEntry,
    ) -> Result<Bound, CallError> {
        audit_entry.sized(&call.arguments);
        let mut bound = self.bind(call).await?;
        for _ in 0..DEFINITIONS {
            bound.note(audit_entry);
            bound.check(call)?;
            let advice = self.hear_before(&bound, call, hook_state).await?;
            if hook_state.were_heard {
                audit_entry.sized(&call.arguments);
            }
            let admission = self.permitted(&bound, call, advice.as_ref()).await?;
            audit_entry.decided(&admission.decision, call.decider(admission.by));
            if bound.is_settled && !admission.was_asked() && !hook_state.were_heard {
                return Ok(bound);
            }
            // Rare and large: it would make every call's future as large.
            match Box::pin(self.rebind(&bound, call)).await? {
                None => return Ok(bound),
                Some(other) => bound = other,
            }
        }
        Err(bound.restless())
    }

    /// Whether no call of the tool can happen, because rules and mode deny it whatever its arguments: a model need not be
    /// shown it (P3).
    #[must_use]
    pub fn denies_outright(&self, entry: &Entry) -> bool {
        self.current().is_denied(entry)
    }
}

#[cfg(test)]
mod tests;
