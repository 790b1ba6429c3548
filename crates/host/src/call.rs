//! One tool call from end to end: from the request of a model to a result it can use.
//!
//! The order is fixed: look up the tool → validate the arguments → pre hooks → permission → lease a
//! connection → send, retried where that is safe → shape the result → post hooks → store a result that is
//! too long → audit log.
//!
//! | step | where |
//! |---|---|
//! | the call as requested, and its context | `requested_call`, `context` |
//! | tool lookup | `bind` |
//! | the `tracing` spans of a call and of its requests | `call_span`, `upstream_span` |
//! | pre and post hooks | `call_hooks` |
//! | sign-in of a gateway's principal, by the client of the call | `client_sign_in` |
//! | the permission check | `authorize`, by `permission` |
//! | the request and its deadline | `tool_request`, `deadline` |
//! | the retry loop, shared with other requests | `attempt` |
//! | input that the server requires before it answers (multi round trip) | `rounds` |
//! | tasks: work that the server continues after the request | `task` |
//! | the retry decision after a failure | `recovery` |
//! | the host's built-in tools | `built_in` |
//! | the result size limit | `deliver` |
//! | several calls at once | `batch` |
//! | calls that the daemon makes after they are permitted here | `detach` |
//! | requests that are not tool calls: prompts, resources | `request` |

mod answer_rounds;
mod attempt;
mod authorize;
mod batch;
mod bind;
mod built_in;
mod call_hooks;
mod call_span;
mod client_sign_in;
mod context;
mod deadline;
mod deliver;
mod detach;
mod progress_stream;
mod recovery;
mod request;
mod requested_call;
mod rounds;
mod task;
mod tool_request;
mod upstream_span;

use crate::audit::AuditEntry;
use crate::host::{CallEnding, Host};
use bind::BoundTool;
use call_hooks::HookState;
use mcparley_catalog::{CatalogEntry, ToolProvider};
use mcparley_model::text::truncate_text;
use mcparley_results::{CallOutcome, ForwardableOutcome, shape_outcome};
use tracing::Instrument as _;

/// The maximum number of times a tool's definition may change before a call to it fails.
const DEFINITIONS: usize = 3;
/// The number of characters of a failure that the log of calls keeps.
const ENDING_CHARS: usize = 300;

pub use crate::call_error::{CallError, ExecutionStatus};
pub use crate::in_process::{InProcessServer, ToolOutput};
pub use crate::page_opener::{NoPageOpener, PageOpener};
pub use batch::{BatchObserver, BatchStep};
pub(crate) use built_in::outcome_from_json as own_answer;
pub(crate) use client_sign_in::{ClientSignInError, sign_in_through_client};
pub use context::CallContext;
pub use detach::{DetachError, DetachedCall, PermittedCall};
pub use mcparley_wire::peer::ProgressUpdate;
pub use progress_stream::ProgressStream;
pub(crate) use request::Request;
pub use request::RequestError;
pub use requested_call::Call;

impl Host {
    /// Calls a tool.
    ///
    /// Dropping the future cancels the call, at the server too; the server stays connected.
    ///
    /// # Errors
    /// A [`CallError`]. A tool that ran and reported a failure is no error: see [`CallOutcome::is_error`].
    pub fn call(
        &self,
        mut call: Call,
    ) -> impl Future<Output = Result<CallOutcome, CallError>> + Send + use<'_> {
        call.is_forwarded = false;
        // A block instead of an asynchronous function, whose future would hold its argument twice.
        async move { self.record_call(&mut call).await.map(ForwardableOutcome::into_outcome) }
    }

    /// Calls a tool for a program that forwards the result: one that no hook changes and that is not too
    /// long is not decoded. Otherwise like [`Host::call`].
    ///
    /// # Errors
    /// A [`CallError`].
    pub fn call_to_forward(
        &self,
        mut call: Call,
    ) -> impl Future<Output = Result<ForwardableOutcome, CallError>> + Send + use<'_> {
        call.is_forwarded = true;
        async move { self.record_call(&mut call).await }
    }

    /// Runs a call, and records it in the audit log and in its span.
    async fn record_call(&self, call: &mut Call) -> Result<ForwardableOutcome, CallError> {
        let mut audit_entry = self.audit_entry(call.client_identity(), || call.selector.display_name());
        let result = match call.open_span() {
            // Boxed: with its span the future would be larger for every call.
            Some(span) => Box::pin(self.execute_call(call, &mut audit_entry).instrument(span)).await,
            None => self.execute_call(call, &mut audit_entry).await,
        };
        call.record_outcome(&result);
        audit_entry.set_outcome(&result);
        result
    }

    /// Runs all steps of the call, and fills its audit entry and its span on the way.
    async fn execute_call(
        &self,
        call: &mut Call,
        audit_entry: &mut AuditEntry,
    ) -> Result<ForwardableOutcome, CallError> {
        let mut hook_state = HookState::default();
        let bound = self.authorize_call(call, &mut hook_state, audit_entry).await?;
        self.send_permitted_call(call, &bound, &mut hook_state).await
    }

    /// Runs the steps of a permitted call: sends it, runs post hooks and stores a result that is too long.
    async fn send_permitted_call(
        &self,
        call: &mut Call,
        bound: &BoundTool,
        hook_state: &mut HookState,
    ) -> Result<ForwardableOutcome, CallError> {
        hook_state.store_post_input(self.hook_runner(), call);
        let mut result = self.dispatch_call(bound, call).await;
        if matches!(result, Err(CallError::Unfinished { .. })) {
            // Post hooks run when the client has come back and the call ends.
            return result;
        }
        if hook_state.may_change_result() {
            // Boxed: this rare, large future would enlarge the future of every call.
            let shaped = result.map(ForwardableOutcome::into_outcome);
            let changed = Box::pin(self.run_post_hooks(bound, std::mem::take(hook_state), shaped)).await;
            result = changed.map(ForwardableOutcome::Shaped);
        }
        if call.is_whole {
            return result;
        }
        // Last, so that no text is stored that a hook removed.
        Ok(self.limit_outcome((call, bound), result?).await)
    }

    /// Sends a permitted call to its server, or runs the host's built-in tool.
    async fn dispatch_call(
        &self,
        bound: &BoundTool,
        call: &mut Call,
    ) -> Result<ForwardableOutcome, CallError> {
        let shaped = match &bound.entry.provider {
            ToolProvider::Server(server) => {
                let progress =
                    call.progress.as_ref().map(mcparley_wire::peer::ProgressSender::observe_newest);
                let running = self.call_statistics().begin_call(server, &bound.entry.tool.name, progress);
                let outcome = self.call_server(bound, call).await.and_then(|answer| {
                    let outcome = if call.is_forwarded {
                        ForwardableOutcome::from_answer(answer)
                    } else {
                        shape_outcome(answer).map(ForwardableOutcome::Shaped)
                    };
                    outcome.map_err(|shape| bound.call_failed_error(shape.into()))
                });
                if let Some(running) = running {
                    running.record_ending(call_ending(&outcome));
                }
                return outcome;
            }
            // Boxed: these rare, large futures would enlarge the future of every call.
            ToolProvider::Host(tool) => Box::pin(self.run_built_in_tool(*tool, call)).await,
            ToolProvider::SignIn { server, tool } => {
                Box::pin(self.sign_in_by_tool(server, *tool, call)).await
            }
        };
        shaped.map(ForwardableOutcome::Shaped)
    }

    /// Looks the tool up, validates the arguments and checks the permission. If connecting to the server
    /// shows that the tool's definition differs from the catalog's, all steps run again for the new
    /// definition.
    ///
    /// Pre hooks run between validation and permission.
    async fn authorize_call(
        &self,
        call: &mut Call,
        hook_state: &mut HookState,
        audit_entry: &mut AuditEntry,
    ) -> Result<BoundTool, CallError> {
        audit_entry.set_argument_size(&call.arguments);
        let mut bound = self.bind_tool(call).await?;
        for _ in 0..DEFINITIONS {
            bound.record_in_audit(audit_entry);
            call.record_tool(&bound.entry);
            bound.validate_arguments(call)?;
            let advice = self.run_pre_hooks(&bound, call, hook_state).await?;
            if hook_state.have_run {
                audit_entry.set_argument_size(&call.arguments);
            }
            let admission = self.check_permission(&bound, call, advice.as_ref()).await?;
            audit_entry.set_decision(&admission.decision, call.effective_decider(admission.by));
            if bound.is_current && !admission.was_asked() && !hook_state.have_run {
                return Ok(bound);
            }
            // Boxed: this rare, large future would enlarge the future of every call.
            match Box::pin(self.rebind_tool(&bound, call)).await? {
                None => return Ok(bound),
                Some(other) => bound = other,
            }
        }
        Err(bound.changed_tool_error())
    }

    /// Whether every call of the tool is denied by rules and mode, with any arguments: such a tool need not
    /// be shown to a model.
    #[must_use]
    pub fn denies_outright(&self, entry: &CatalogEntry) -> bool {
        self.catalog().is_denied(entry)
    }
}

/// The way in which a call ended, for the log of calls.
fn call_ending(outcome: &Result<ForwardableOutcome, CallError>) -> CallEnding {
    match outcome {
        Ok(outcome) if outcome.is_error() => CallEnding::ToolError,
        Ok(_) => CallEnding::Succeeded,
        Err(error) => CallEnding::Failed(truncate_text(&error.to_string(), ENDING_CHARS).into()),
    }
}

#[cfg(test)]
mod tests;
