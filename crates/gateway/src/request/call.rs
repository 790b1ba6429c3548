//! Answers `tools/call`: starts or resumes the call, reports its progress, forwards its questions.
//!
//! The call itself is [`mcparley::Host::call`]. While it runs, its questions reach the user of the client:
//! in the old era by requests to the client, in the new one by ending this request with an input request;
//! the call is then parked until the client comes back (`session::parked`).

use std::sync::Arc;

use mcparley::call::{ProgressStream, ProgressUpdate};
use mcparley::model::permission::DecisionReason;
use mcparley::{Call, CallContext, CallError, CallOutcome, Host};
use mcparley_wire::{INVALID_PARAMS, RawJson, Replies, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client_abilities::Caller;
use crate::client_asker::ClientAsker;
use crate::request::call_request::CallRequest;
use crate::response::answer;
use crate::response::item::CALL_TOOL;
use crate::session::GatewaySession;
use crate::session::parked::CallWithQuestion;
use crate::session::running_call::RunningCall;

/// The built-in tool that finds other tools.
const TOOL_SEARCH: &str = "ToolSearch";

impl GatewaySession {
    /// Answers `tools/call`.
    pub(crate) async fn call_tool(
        &self,
        caller: Caller,
        (params, replies): (Option<&RawJson>, &Replies),
        token: Option<Value>,
    ) -> Result<RawJson, RpcError> {
        let wanted = CallRequest::parse(params)?;
        let is_meta = wanted.name == CALL_TOOL && self.host().catalog().get(CALL_TOOL).is_none();
        let wanted = match is_meta {
            true => match wanted.inner_call() {
                Some(inner) => inner,
                None => {
                    return answer::error_result(
                        "`name` is required, and `arguments` must be an object",
                        &caller,
                    );
                }
            },
            false => wanted,
        };
        let token = token.filter(|token| token.is_string() || token.is_number());
        if self.is_invisible(&wanted.name, &caller) {
            return self.finish_call(&wanted, Err(unknown_tool_error(&wanted.name)), &caller);
        }
        let running = match &wanted.state {
            Some(state) => {
                self.shared.parked.resume_call(wanted.digest(), state, wanted.responses.as_ref())?
            }
            None => {
                self.wait_for_roots().await;
                self.start_call(caller, &wanted, token.is_some(), replies)?
            }
        };
        self.drive_call(caller, &wanted, running, token.as_ref().map(|token| (token, replies))).await
    }

    fn start_call(
        &self,
        caller: Caller,
        wanted: &CallRequest,
        with_progress: bool,
        replies: &Replies,
    ) -> Result<RunningCall, RpcError> {
        let unreadable = |_| RpcError::new(INVALID_PARAMS, "`arguments` cannot be read");
        let call = Call::new(&wanted.name, Value::Null);
        let call = call.with_json(wanted.arguments.as_str()).map_err(unreadable)?;
        let (call, progress) = match with_progress {
            true => {
                let (call, progress) = call.with_progress();
                (call, Some(progress))
            }
            false => (call, None),
        };
        // Capacity one: a call asks one question and waits for its answer.
        let (ask, questions) = mpsc::channel(1);
        let asker = Arc::new(ClientAsker::new(caller, replies, ask));
        let principal = Arc::clone(&self.shared.principal);
        let mut context = CallContext::new(principal, Arc::<ClientAsker>::clone(&asker), asker);
        if let Some(roots) = self.known_roots() {
            context = context.with_roots(roots);
        }
        let (host, call): (Host, Call) = (self.host().clone(), call.with_context(context));
        Ok(RunningCall { call: Box::pin(async move { host.call(call).await }), questions, progress })
    }

    /// Drives the call until it ends, or asks a question that the client must come back with.
    async fn drive_call(
        &self,
        caller: Caller,
        wanted: &CallRequest,
        mut running: RunningCall,
        progress: Option<(&Value, &Replies)>,
    ) -> Result<RawJson, RpcError> {
        let question = loop {
            tokio::select! {
                biased;
                done = &mut running.call => {
                    while let Some(last) = next(running.progress.as_mut()).await {
                        report_progress(&last, progress);
                    }
                    return self.finish_call(wanted, done, &caller);
                }
                Some(question) = running.questions.recv() => break question,
                Some(newest) = next(running.progress.as_mut()) => report_progress(&newest, progress),
            }
        };
        let ticket = CallWithQuestion { question: question.params, reply: question.reply, running };
        self.shared.parked.park_call(wanted.digest(), ticket)
    }

    /// The answer to a call that has ended.
    fn finish_call(
        &self,
        wanted: &CallRequest,
        done: Result<CallOutcome, CallError>,
        caller: &Caller,
    ) -> Result<RawJson, RpcError> {
        if let (Ok(outcome), TOOL_SEARCH) = (&done, wanted.name.as_str()) {
            self.shared.listing.add_found(found_names(outcome));
        }
        let done = match done {
            // A deny rule means that the client must not learn of the tool; a mode only that no user can be
            // asked.
            Err(CallError::Denied { decision, .. })
                if matches!(decision.why, DecisionReason::Rule { .. }) && self.is_hidden(&wanted.name) =>
            {
                Err(unknown_tool_error(&wanted.name))
            }
            done => done,
        };
        match answer::answer_for_client(done, caller) {
            // `CallTool` itself exists, so the unknown inner tool is reported as a result and not as a
            // protocol error.
            Err(error) if wanted.is_inner => answer::error_result(&error.message.clean_text(), caller),
            answer => answer,
        }
    }
}

/// Reports progress to a client that gave a progress token. A client that does not read loses the report;
/// the next one replaces it.
fn report_progress(newest: &ProgressUpdate, to: Option<(&Value, &Replies)>) {
    let Some((token, replies)) = to else { return };
    if let Ok(params) = RawJson::from_value(&progress_params(token, newest)) {
        let _delivery = replies.notify("notifications/progress", Some(&params));
    }
}

fn progress_params(token: &Value, ProgressUpdate { progress, total, message }: &ProgressUpdate) -> Value {
    let mut params = json!({ "progressToken": token, "progress": progress });
    if let Some(total) = total {
        params["total"] = json!(total);
    }
    if let Some(message) = message {
        params["message"] = json!(mcparley::model::text::clean_text(message));
    }
    params
}

/// The error for a tool that is hidden from the client.
fn unknown_tool_error(name: &str) -> CallError {
    CallError::UnknownTool { name: name.to_owned(), similar: Vec::new(), because: None }
}

/// The names of the tools that a search has found.
fn found_names(outcome: &CallOutcome) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct SearchedTools {
        tools: Vec<SearchedTool>,
    }
    #[derive(Deserialize)]
    struct SearchedTool {
        name: String,
    }
    let found =
        outcome.structured.as_ref().and_then(|it| it.decode::<SearchedTools>().ok()).unwrap_or_default();
    found.tools.into_iter().map(|hit| hit.name).collect()
}

/// Waits for the next progress; `None` at once without a stream.
async fn next(progress: Option<&mut ProgressStream>) -> Option<ProgressUpdate> {
    progress?.next().await
}
