//! Answers `tools/call`: starts or resumes the call, reports its progress, forwards its questions.
//!
//! The call itself is [`mcparley::Host::call`]. While it runs, its questions reach the user of the client:
//! in the old era by requests to the client, in the new one by ending this request with an input request;
//! the call is then parked until the client comes back (`session::parked`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::call::{ProgressStream, ProgressUpdate};
use mcparley::model::name::ServerName;
use mcparley::model::permission::DecisionReason;
use mcparley::model::text::clean_json;
use mcparley::pool::connection::ServerStatus;
use mcparley::results::ForwardableOutcome;
use mcparley::{BoxedFuture, Call, CallContext, CallError, CallOutcome, Host};
use mcparley_wire::{AgreedProtocol, Failure, INVALID_PARAMS, JsonPieces, RawJson, Replies, RpcError};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::call_line::CallLine;
use crate::client_abilities::{Caller, RequestMeta};
use crate::client_asker::ClientAsker;
use crate::json_edit::{JsonEdit, JsonMembers};
use crate::pending::QuestionSource;
use crate::pending::listed_route::ListedRoute;
use crate::question_route::{ClientQuestion, QUESTIONS_AT_ONCE, QuestionRoute};
use crate::request::call_request::CallRequest;
use crate::request::durable_tasks::DurableStart;
use crate::response::answer;
use crate::response::era::ResultForm;
use crate::session::GatewaySession;
use crate::session::parked::invalid_state_error;
use crate::session::parked_state::{ReturnedCall, is_parked_state};
use crate::session::running_call::{CallEnd, QuestionKeys, RunningCall};
use crate::session::shared_values::FOUND;
use crate::view::naming::CALL_TOOL;

/// The time in which further questions of a call join the first one.
const QUESTION_PAUSE: Duration = Duration::from_millis(20);

/// The result of a call that waited for its client when its gateway ended.
const OUTCOME_UNKNOWN: &str = "outcome unknown: the gateway that ran this call has ended, and the tool may have \
     changed something; look before you call it again";

/// The built-in tool that finds other tools.
const TOOL_SEARCH: &str = "ToolSearch";

/// A tool call that is about to be made.
struct CallStart<'c> {
    caller: Caller,
    meta: &'c RequestMeta,
    wanted: &'c CallRequest,
    /// The state of a server that gets it back.
    state: Option<RawJson>,
    has_progress: bool,
    /// Makes the call in the daemon, as a task that outlives its client.
    durable: Option<DurableStart>,
    replies: &'c Replies,
}

impl<'c> CallStart<'c> {
    fn new(caller: Caller, meta: &'c RequestMeta, wanted: &'c CallRequest, replies: &'c Replies) -> Self {
        Self { caller, meta, wanted, state: None, has_progress: false, durable: None, replies }
    }
}

impl GatewaySession {
    /// Answers `tools/call`.
    pub(crate) async fn call_tool(
        &self,
        caller: Caller,
        (params, replies): (Option<&RawJson>, &Replies),
        meta: &RequestMeta,
    ) -> Result<JsonPieces, RpcError> {
        let wanted = CallRequest::parse(params)?;
        let view = self.view_with(|view| view.find_tool(&wanted.name).is_some()).await;
        let is_meta =
            wanted.name == CALL_TOOL && !view.mode.is_transparent() && view.find_tool(CALL_TOOL).is_none();
        let wanted = match is_meta {
            true => match wanted.inner_call() {
                Some(inner) => inner,
                None => {
                    return answer::error_result(
                        "`name` is required, and `arguments` must be an object",
                        &caller,
                    )
                    .map(JsonPieces::from);
                }
            },
            false => wanted,
        };
        let client_name = wanted.name.clone();
        let wanted = view.to_catalog_call(wanted);
        let token = meta.progress_token.as_ref().filter(|token| token.is_string() || token.is_number());
        if self.is_invisible(&view, &wanted.name, &caller) {
            return self.finish_call(&wanted, Err(unknown_tool_error(&wanted.name)), &caller, &client_name);
        }
        let running = match &wanted.state {
            Some(state) if is_parked_state(state) => {
                let responses = wanted.responses.as_ref();
                match self.take_up_call(wanted.digest(), state, responses).await? {
                    ReturnedCall::Running(running) => {
                        running.line.move_to(replies);
                        *running
                    }
                    ReturnedCall::Lost { is_unsent } if is_unsent || self.is_repeatable(&wanted.name) => {
                        let again = CallRequest { responses: None, state: None, ..wanted.clone() };
                        self.wait_for_roots().await;
                        let start = CallStart::new(caller, meta, &again, replies);
                        self.start_call(CallStart { has_progress: token.is_some(), ..start })?
                    }
                    ReturnedCall::Lost { .. } => {
                        return answer::error_result(OUTCOME_UNKNOWN, &caller).map(JsonPieces::from);
                    }
                }
            }
            Some(_) if self.is_of_old_server(&wanted.name) => return Err(invalid_state_error()),
            // The state of a server, which gets it back.
            Some(_) | None => {
                let state = wanted.state.clone().filter(|_| caller.is_new());
                let state = state.map(|state| self.open_server_state(wanted.digest(), state)).transpose()?;
                self.wait_for_roots().await;
                let durable = self.durable_start(&view, &wanted, &caller).filter(|_| state.is_none());
                let start = CallStart::new(caller, meta, &wanted, replies);
                self.start_call(CallStart { state, has_progress: token.is_some(), durable, ..start })?
            }
        };
        let progress = token.map(|token| (token, replies));
        self.drive_call(caller, (&wanted, &client_name), running, progress).await
    }

    /// Whether a call may be made twice: the tool changes nothing, or nothing more the second time.
    fn is_repeatable(&self, name: &str) -> bool {
        let catalog = self.host().catalog();
        catalog.get(name).is_some_and(|entry| entry.tool.hints.read_only || entry.tool.hints.idempotent)
    }

    /// Whether a tool belongs to a server of the old era, which has no states.
    fn is_of_old_server(&self, name: &str) -> bool {
        let catalog = self.host().catalog();
        let server = catalog.get(name).and_then(|entry| entry.server());
        server.is_some_and(|server| self.is_old_server(server))
    }

    /// Whether a server is connected and of the old era.
    pub(crate) fn is_old_server(&self, server: &ServerName) -> bool {
        let servers = self.host().servers();
        let found = servers.iter().find(|known| known.name == *server);
        found.is_some_and(|known| {
            matches!(known.state.status, ServerStatus::Connected { protocol: AgreedProtocol::Old(_), .. })
        })
    }

    fn start_call(&self, start: CallStart<'_>) -> Result<RunningCall, RpcError> {
        let CallStart { caller, meta, wanted, state, has_progress, durable, replies } = start;
        let unreadable = |_| RpcError::new(INVALID_PARAMS, "`arguments` cannot be read");
        let call = Call::new(&wanted.name, Value::Null);
        let call = call.with_raw_json(wanted.arguments.clone()).map_err(unreadable)?;
        // The host limits results as soon as one of its views is for models.
        let call = if self.shared.gateway.mode.for_model { call } else { call.without_result_limit() };
        let (call, progress) = if has_progress {
            let (call, progress) = call.with_progress();
            (call, Some(progress))
        } else {
            (call, None)
        };
        let (route, questions) = QuestionRoute::new(caller, replies);
        let pending = &self.shared.gateway.pending;
        let source = self.question_source((&wanted.name, &wanted.arguments), meta);
        let route = ListedRoute::new(route, pending, Arc::new(source));
        let line = Arc::new(CallLine::new(self, (caller, meta), route.clone(), replies));
        let context = self.context_with(ClientAsker::new(caller, route), &line, meta);
        let members = [
            ("inputResponses", wanted.responses.clone().filter(|_| caller.is_new())),
            ("requestState", state),
            ("task", wanted.task.clone().filter(|_| caller.has_old_tasks())),
        ];
        let members = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let call = members.fold(call, |call, (name, value)| call.with_member(name, value));
        let (host, call): (Host, Call) = (self.host().clone(), call.with_context(context));
        let call: BoxedFuture<'static, CallEnd> = match durable {
            Some(durable) => Box::pin(durable.start_task(call)),
            None => Box::pin(async move { CallEnd::Call(Box::new(host.call_to_forward(call).await)) }),
        };
        let keys = QuestionKeys::default();
        let server = self.host().catalog().get(&wanted.name).and_then(|entry| entry.server().cloned());
        Ok(RunningCall { call, questions, progress, line, server, open: Vec::new(), keys, is_task: false })
    }

    /// The call of a tool or of a method, as its questions are listed for other terminals.
    fn question_source(&self, (name, arguments): (&str, &RawJson), meta: &RequestMeta) -> QuestionSource {
        QuestionSource {
            tool: name.to_owned(),
            principal: Arc::clone(self.principal()),
            client: meta.client_name().or_else(|| self.shared.client.get().cloned()),
            arguments: arguments.clone(),
            answered: Mutex::default(),
        }
    }

    /// The context of a request of this method that is not a tool call, with its line and its questions. Without a
    /// receiver for the questions, a server that asks gets an error at once.
    pub(crate) fn request_context(
        &self,
        (method, params): (&str, Option<&RawJson>),
        (caller, meta): (Caller, &RequestMeta),
        replies: &Replies,
    ) -> (CallContext, Arc<CallLine>, Option<mpsc::Receiver<ClientQuestion>>) {
        let (route, questions) = QuestionRoute::new(caller, replies);
        let arguments = params.cloned().unwrap_or_else(|| RawJson::from_text("{}"));
        let source = Arc::new(self.question_source((method, &arguments), meta));
        let route = ListedRoute::new(route, &self.shared.gateway.pending, source);
        let line = Arc::new(CallLine::new(self, (caller, meta), route.clone(), replies));
        (self.context_with(ClientAsker::new(caller, route), &line, meta), line, questions)
    }

    fn context_with(&self, asker: ClientAsker, line: &Arc<CallLine>, meta: &RequestMeta) -> CallContext {
        if let Some(level) = meta.log_level().filter(|_| meta.has_version()) {
            self.raise_log_level(level);
        }
        let (asker, principal) = (Arc::new(asker), Arc::clone(self.principal()));
        let opener = Arc::<ClientAsker>::clone(&asker);
        let context = CallContext::new(principal, Arc::<ClientAsker>::clone(&asker), asker)
            .with_line(Arc::<CallLine>::clone(line))
            .with_meta(meta.forwarded_members());
        let context = if self.is_transparent() { context.with_untouched_meta() } else { context };
        let context = match self.shared.gateway.has_principal_view {
            true => context.with_page_opener(opener),
            false => context,
        };
        match self.known_roots() {
            Some(roots) => context.with_roots(roots),
            None => context,
        }
    }

    /// Drives the call until it ends, or asks a question that the client must come back with.
    async fn drive_call(
        &self,
        caller: Caller,
        (wanted, client_name): (&CallRequest, &str),
        running: RunningCall,
        progress: Option<(&Value, &Replies)>,
    ) -> Result<JsonPieces, RpcError> {
        match self.drive_until_question(wanted.digest(), running, progress).await? {
            DrivenCall::Ended(CallEnd::Call(done)) => self.finish_call(wanted, *done, &caller, client_name),
            DrivenCall::Ended(CallEnd::Request(answer)) => answer.map(JsonPieces::from),
            DrivenCall::Parked(asked) => {
                self.note_question();
                Ok(JsonPieces::from(asked))
            }
        }
    }

    /// Drives a call or another request until it ends, or asks a question that the client must come back
    /// with; then it is parked.
    pub(crate) async fn drive_until_question(
        &self,
        digest: [u8; 32],
        mut running: RunningCall,
        progress: Option<(&Value, &Replies)>,
    ) -> Result<DrivenCall, RpcError> {
        running.drop_withdrawn();
        let mut is_first_poll = true;
        loop {
            tokio::select! {
                biased;
                done = &mut running.call => {
                    while let Some(last) = next(running.progress.as_mut()).await {
                        self.report_progress(&last, progress);
                    }
                    return Ok(DrivenCall::Ended(done));
                }
                Some(question) = next_question(running.questions.as_mut()) => {
                    running.open_question(question);
                    collect_questions(&mut running).await;
                }
                // Questions that a repeated request left open are asked again, unless the call has ended.
                () = std::future::ready(()), if is_first_poll && !running.open.is_empty() => {}
                Some(newest) = next(running.progress.as_mut()) => self.report_progress(&newest, progress),
            }
            is_first_poll = false;
            running.drop_withdrawn();
            if !running.open.is_empty() {
                return self.park_call(digest, running).map(DrivenCall::Parked);
            }
        }
    }

    /// Reports progress to a client that gave a progress token. A client that does not read loses the report;
    /// the next one replaces it.
    fn report_progress(&self, newest: &ProgressUpdate, to: Option<(&Value, &Replies)>) {
        let Some((token, replies)) = to else { return };
        let params = progress_params(token, newest, self.shared.gateway.mode.removes_hidden());
        if let Some(params) = params {
            let _delivery = replies.notify("notifications/progress", Some(&params));
        }
    }

    /// The answer to a call that has ended.
    fn finish_call(
        &self,
        wanted: &CallRequest,
        done: Result<ForwardableOutcome, CallError>,
        caller: &Caller,
        client_name: &str,
    ) -> Result<JsonPieces, RpcError> {
        self.note_outcome(&done);
        // Servers may have connected during the call.
        let view = self.shared.gateway.view();
        let is_search = wanted.name == TOOL_SEARCH;
        if let (Ok(ForwardableOutcome::Shaped(outcome)), true) = (&done, is_search) {
            let found = found_names(outcome);
            self.share_items(FOUND, &found);
            self.shared.listing.add_found(found);
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
        let done = match done {
            Ok(outcome) if is_search => {
                Ok(ForwardableOutcome::Shaped(view.rename_search(outcome.into_outcome())))
            }
            done => done.map_err(|error| view.rename_error(error, client_name)),
        };
        let server = view.catalog.get(&wanted.name).and_then(|entry| entry.server());
        let form = ResultForm::new(caller, &view, server);
        let done = match (done, server) {
            (Err(CallError::Unfinished { result, .. }), Some(server)) => {
                let task = self.finish_task_result(server, &result, &form);
                let answer =
                    task.unwrap_or_else(|| self.finish_input_request(server, wanted.digest(), result));
                return Ok(JsonPieces::from(answer));
            }
            (done, _) => done,
        };
        if let (Err(CallError::Failed { failure: Failure::ErrorResponse(error), .. }), Some(server)) =
            (&done, server)
        {
            self.remember_pages(server, error);
        }
        match answer::answer_for_client(done, &form) {
            // `CallTool` itself exists, so the unknown inner tool is reported as a result and not as a
            // protocol error.
            Err(error) if wanted.is_inner => {
                answer::error_result(&error.message.clean_text(), caller).map(JsonPieces::from)
            }
            answer => answer,
        }
    }
}

/// A call or another request after it was driven.
pub(crate) enum DrivenCall {
    Ended(CallEnd),
    /// Parked; the result has the questions.
    Parked(RawJson),
}

/// Collects further questions of the call that come at the same time, so that the client gets them in one
/// round.
pub(crate) async fn collect_questions(running: &mut RunningCall) {
    let deadline = Instant::now() + QUESTION_PAUSE;
    while running.open.len() < QUESTIONS_AT_ONCE {
        match tokio::time::timeout_at(deadline, next_question(running.questions.as_mut())).await {
            Ok(Some(question)) => running.open_question(question),
            Ok(None) | Err(_) => return,
        }
    }
}

/// The parameters of a progress notification: as the server wrote them, with the client's token.
fn progress_params(token: &Value, update: &ProgressUpdate, removes_hidden: bool) -> Option<RawJson> {
    let raw = update.raw.as_ref()?;
    let text = if removes_hidden { clean_json(raw.as_str()) } else { raw.as_str().into() };
    let members = JsonMembers::parse(&text)?;
    let mut edit = JsonEdit::new(&text);
    edit.replace(members.get("progressToken")?, token.to_string());
    Some(RawJson::from_text(&edit.finish()))
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

/// Waits for the next question; `None` at once if the client is not asked that way.
pub(crate) async fn next_question(
    questions: Option<&mut mpsc::Receiver<ClientQuestion>>,
) -> Option<ClientQuestion> {
    questions?.recv().await
}

/// Waits for the next progress; `None` at once without a stream.
async fn next(progress: Option<&mut ProgressStream>) -> Option<ProgressUpdate> {
    progress?.next().await
}

#[cfg(test)]
mod tests {
    //! Progress for clients.
    use super::*;
    use serde_json::json;

    // G7
    #[test]
    fn progress_keeps_everything_but_its_token() {
        let raw = r#"{"progress":1.0,"progressToken":7,"total":2e0,"message":"a\u200bb","_meta":{"k":1}}"#;
        let update =
            ProgressUpdate { progress: 1.0, total: None, message: None, raw: Some(RawJson::from_text(raw)) };
        let params = progress_params(&json!("mine"), &update, false).unwrap();
        assert_eq!(params.as_str(), raw.replace(":7", r#":"mine""#));
        let clean = progress_params(&json!("mine"), &update, true).unwrap();
        assert!(clean.as_str().contains(r#""message":"ab""#), "{}", clean.as_str());
    }
}
