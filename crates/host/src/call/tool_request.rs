//! The `tools/call` request: its parameters, its timer, and the task it may become.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::TransportKind;
use mcparley_model::limits::TOOL_TIME;
use mcparley_model::tool::{self, TaskSupport, Tool};
use mcparley_wire::peer::{PeerCallOptions, ProgressUpdate};
use mcparley_wire::{AgreedProtocol, Failure, FailurePhase, RawJson, RequestParams, RoundOutcome};
use tokio::sync::watch;

use super::attempt::{AnsweredRequest, RequestAnswer, RetryableRequest};
use super::bind::BoundTool;
use super::context::{CallContext, prepare_log_level, with_client_meta};
use super::deadline::{Deadline, RequestTimer};
use super::requested_call::Call;
use super::rounds::{self, RoundTripError, RoundTrips};
use super::task::{self, Task, TaskError, TaskFollower};
use super::upstream_span::{open_upstream_span, send_in_span, with_trace_meta};
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_pool::connection::{Connection, LiveConnection, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::{InFlightGuard, ServerRequests};
use mcparley_pool::surface::{ListSet, Surface};

/// The method of the request.
const METHOD: &str = "tools/call";

impl Host {
    /// Calls the tool at its server and returns the answer as it came.
    pub(super) async fn call_server(&self, bound: &BoundTool, call: &mut Call) -> Result<RawJson, CallError> {
        let Some(connection) = &bound.connection else {
            return Err(bound.unavailable_error(Unavailable::Stopped));
        };
        let deadline = Deadline::for_call(call, connection);
        let mut request = ToolRequest::new(bound, call)?;
        let AnsweredRequest { answer, connection, live, deadline } =
            self.send_with_retries(connection, deadline, &mut request).await?;
        match answer {
            RequestAnswer::Complete(answer) => {
                live.record_answer();
                Ok(answer)
            }
            // Boxed: this rare, large future would enlarge the future of every call.
            RequestAnswer::Task(task) => {
                Box::pin(request.follow_task(&connection, (live, task), deadline)).await
            }
            RequestAnswer::Unfinished(result) => {
                live.record_answer();
                Err(CallError::Unfinished { tool: bound.entry.name.clone(), result })
            }
        }
    }

    /// Whether the tool's definition is still the one that was permitted.
    fn is_unchanged(&self, bound: &BoundTool) -> bool {
        let (catalog, permitted) = (self.catalog(), &bound.entry);
        let now = permitted.server().and_then(|server| catalog.find_tool(server, &permitted.tool.name));
        now.is_some_and(|now| Arc::ptr_eq(now, permitted) || now.tool.digest() == permitted.tool.digest())
    }
}

impl RetryableRequest for ToolRequest<'_> {
    type Error = CallError;

    fn context(&self) -> Option<Arc<CallContext>> {
        self.context.clone()
    }

    fn sign_in_error(&self, page: Arc<str>) -> CallError {
        self.bound.sign_in_error(page)
    }

    fn is_idempotent(&self) -> bool {
        let hints = self.bound.entry.tool.hints;
        hints.read_only || hints.idempotent
    }

    fn mirrors_headers(&self, live: &LiveConnection) -> bool {
        live.session.protocol() == AgreedProtocol::New
    }

    fn check_offered(&self, host: &Host, _live: &LiveConnection, repeats: u32) -> Result<(), CallError> {
        if repeats > 0 && !host.is_unchanged(self.bound) {
            Err(self.bound.changed_tool_error())
        } else {
            Ok(())
        }
    }

    async fn send_until_answered(
        &mut self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        server_requests: &ServerRequests,
    ) -> Result<RequestAnswer, RoundTripError> {
        let in_flight = self.register_call(live, deadline, server_requests).await;
        self.rounds.check_state(live.session.protocol()).map_err(RoundTripError::Failed)?;
        prepare_log_level(live, self.context.as_deref()).await;
        loop {
            // The input rounds below are boxed: these rare, large futures would enlarge the future of every
            // call.
            let sent = tokio::select! {
                biased;
                sent = self.send_round(live, deadline, &in_flight) => sent,
                // Dropping the request cancels it at the server.
                excess = in_flight.too_many_questions() => return Err(RoundTripError::Unanswered(excess)),
            };
            match &sent {
                Ok(_) | Err(Failure::ErrorResponse(_)) => in_flight.note_answer(),
                Err(Failure::TimedOut { .. }) => {}
                Err(_) => in_flight.note_closed(),
            }
            let went_on = match sent {
                Ok(RoundOutcome::Complete(answer)) => {
                    in_flight.note_finish();
                    return self.parse_answer(live, answer).map_err(RoundTripError::Failed);
                }
                Ok(RoundOutcome::Task(task)) if self.client_follows_tasks() => {
                    return Ok(RequestAnswer::Unfinished(task));
                }
                Ok(RoundOutcome::InputRequired(wanted)) if server_requests.relays_results(&in_flight) => {
                    return Ok(RequestAnswer::Unfinished(wanted.result));
                }
                Ok(RoundOutcome::Task(task)) => {
                    return Task::parse(&task).map(RequestAnswer::Task).map_err(RoundTripError::Failed);
                }
                Ok(RoundOutcome::InputRequired(wanted)) => {
                    deadline
                        .run_off_the_clock(Box::pin(self.rounds.fulfill_requests(
                            server_requests,
                            &in_flight,
                            wanted,
                        )))
                        .await
                }
                Err(Failure::ErrorResponse(error)) if server_requests.relays_pages(&in_flight) => {
                    return Err(RoundTripError::Failed(Failure::ErrorResponse(error)));
                }
                Err(Failure::ErrorResponse(error)) => match rounds::required_pages(&error) {
                    Some(pages) => {
                        deadline
                            .run_off_the_clock(Box::pin(self.rounds.visit_pages(
                                server_requests,
                                &in_flight,
                                pages,
                            )))
                            .await
                    }
                    None => return Err(RoundTripError::Failed(Failure::ErrorResponse(error))),
                },
                Err(failure) => return Err(RoundTripError::Failed(failure)),
            };
            went_on.map_err(RoundTripError::Unanswered)?;
        }
    }

    async fn refresh_headers(&mut self, live: &LiveConnection, deadline: Deadline) -> bool {
        let known = Surface::default();
        let listing = Box::pin(known.refetch_lists(&live.session, ListSet::TOOLS));
        let Some(surface) = deadline.run_until_deadline(listing).await else { return false };
        let tool = surface.tools.iter().find(|tool| tool.name == self.bound.entry.tool.name);
        if let Some(tool) = tool {
            self.headers = header_arguments(tool, &self.arguments);
        }
        tool.is_some()
    }

    fn unavailable_error(&self, why: Unavailable) -> CallError {
        self.bound.unavailable_error(why)
    }

    fn unanswered_error(&self, why: UnansweredRequest) -> CallError {
        self.bound.unanswered_error(why)
    }

    fn final_error(&self, connection: &Arc<Connection>, failure: Failure) -> CallError {
        self.bound.final_error(connection, failure)
    }
}

/// A `tools/call` request, as it is sent to its server.
struct ToolRequest<'b> {
    bound: &'b BoundTool,
    params: RequestParams,
    arguments: RawJson,
    progress: Option<watch::Sender<Option<ProgressUpdate>>>,
    /// Arguments that are repeated in headers.
    headers: Box<[(String, String)]>,
    rounds: RoundTrips,
    /// The context of the call.
    context: Option<Arc<CallContext>>,
    /// Whether the tool requires to be called as a task, in the era that has this requirement.
    as_task: bool,
    /// The task that the client of a gateway asks for, and follows itself.
    client_task: Option<Box<RawJson>>,
}

impl<'b> ToolRequest<'b> {
    fn new(bound: &'b BoundTool, call: &mut Call) -> Result<Self, CallError> {
        let (progress, context) = (call.progress.take(), call.context.take());
        let arguments = match call.raw_arguments.take() {
            Some(written) => written,
            None => RawJson::from_value(&call.arguments)
                .map_err(|error| bound.call_failed_error(Failure::Protocol(Arc::from(error.to_string()))))?,
        };
        let headers = header_arguments(&bound.entry.tool, &arguments);
        let members = call.members.take().map(|members| members.0).unwrap_or_default();
        let mut client_task = None;
        let mut params = RequestParams::new()
            .with_member("name", &bound.entry.tool.name)
            .with_raw("arguments", &arguments);
        let mut rounds = RoundTrips::default();
        for (name, value) in members {
            match name {
                "inputResponses" => rounds.set_responses(value),
                "requestState" => rounds.set_state(value),
                "task" => client_task = Some(Box::new(value)),
                _ => params = params.with_raw(name, &value),
            }
        }
        if let Some(context) = &context {
            params = context
                .meta
                .iter()
                .fold(params, |params, (name, value)| params.with_meta(name, value.clone()));
        }
        let as_task = bound.entry.tool.task == TaskSupport::Required;
        Ok(Self {
            bound,
            params,
            arguments,
            progress,
            headers,
            rounds,
            context,
            as_task: as_task && client_task.is_none(),
            client_task,
        })
    }

    /// Sends one request, in a span if a subscriber wants it.
    async fn send_round(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> Result<RoundOutcome, Failure> {
        match open_upstream_span(self.bound.entry.server(), METHOD) {
            // Boxed: with its span the future would be larger for every call.
            Some(span) => Box::pin(send_in_span(span, self.send_request(live, deadline, in_flight))).await,
            None => self.send_request(live, deadline, in_flight).await,
        }
    }

    async fn send_request(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> Result<RoundOutcome, Failure> {
        let (method, mut params) = (METHOD, self.rounds.next_params(&self.params, live.session.protocol()));
        params = with_client_meta(params, live, self.context.as_deref());
        params = with_trace_meta(params, self.context.as_deref());
        if let Some(task) = self.client_task.as_ref().filter(|_| offers_tasks(live)) {
            params = Cow::Owned(params.into_owned().with_raw("task", task));
        }
        if self.is_task(live) {
            params = Cow::Owned(task::with_task_params(params.into_owned(), deadline.limit));
        }
        let (headers, request) = (self.headers.to_vec(), live.session.prepare_request());
        in_flight.note_request(request.id());
        // A limit that no server reaches needs no timer, and no progress has to be requested.
        if deadline.limit >= TOOL_TIME && self.progress.is_none() {
            let options =
                PeerCallOptions { limit: Some(deadline.limit), headers, ..PeerCallOptions::default() };
            return live.session.call_round(request, (method, &params), options).await;
        }
        let (newest, seen) = watch::channel(None);
        let options = PeerCallOptions { progress: Some(newest), headers, ..PeerCallOptions::default() };
        let late = |limit| Failure::TimedOut { phase: FailurePhase::Answering, after: limit };
        // Boxed: this large future would enlarge the future of every call.
        let answer = Box::pin(live.session.call_round(request, (method, &params), options));
        let watched = Box::pin(self.run_with_timer(deadline, in_flight, seen, answer));
        watched.await.unwrap_or_else(|limit| Err(late(limit)))
    }

    /// Follows the task that the call has become.
    async fn follow_task(
        &mut self,
        connection: &Connection,
        (live, task): (Arc<LiveConnection>, Task),
        mut deadline: Deadline,
    ) -> Result<RawJson, CallError> {
        live.record_answer();
        // The task may be long, and outlives a connection.
        drop(live);
        let (context, tool) = (self.context.clone(), self.bound.entry.tool.name.as_str());
        let client = context.as_ref().map(|context| &context.client);
        let in_flight = connection.server_requests().register_call(client, tool, None);
        in_flight.note_task(task.id());
        let mut rounds = std::mem::take(&mut self.rounds);
        let (newest, seen) = watch::channel(None);
        let mut following = TaskFollower::new(connection, (&in_flight, &mut rounds), task);
        let result = following.wait_for_result(&newest);
        let late =
            |limit| TaskError::Failed(Failure::TimedOut { phase: FailurePhase::Answering, after: limit });
        let result = self.run_with_timer(&mut deadline, &in_flight, seen, result).await;
        result
            .unwrap_or_else(|limit| Err(late(limit)))
            .map_err(|lost| task::task_call_error(self.bound, lost))
    }

    /// Whether the call is made as a task: the tool requires it, and the server declares support.
    fn is_task(&self, live: &LiveConnection) -> bool {
        self.as_task && offers_tasks(live)
    }

    /// Registers the call as in flight. On a shared channel it waits first until its questions can be told from
    /// those of other calls.
    async fn register_call<'r>(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        server_requests: &'r ServerRequests,
    ) -> InFlightGuard<'r> {
        let tool = self.bound.entry.tool.name.as_str();
        let client = self.context.as_ref().map(|context| &context.client);
        let is_shared = self.is_on_shared_channel(live);
        // Boxed: this rare, large future would enlarge the future of every call.
        let place = if is_shared && server_requests.needs_lane(tool) {
            deadline.run_off_the_clock(Box::pin(server_requests.enter_lane(client, tool))).await
        } else {
            None
        };
        server_requests.register_call(client, tool, place).on_shared_channel(is_shared)
    }

    /// Whether a question of the server does not say which call it belongs to.
    fn is_on_shared_channel(&self, live: &LiveConnection) -> bool {
        let kind = self.bound.connection.as_ref().map(|connection| connection.config.kind());
        matches!(live.session.protocol(), AgreedProtocol::Old(_))
            && !matches!(kind, None | Some(TransportKind::Http | TransportKind::ClaudeAiProxy))
    }

    /// Whether the client of a gateway follows tasks of the server itself.
    fn client_follows_tasks(&self) -> bool {
        self.context.as_ref().and_then(|context| context.line()).is_some_and(|line| line.follows_tasks())
    }

    fn parse_answer(&self, live: &LiveConnection, answer: RawJson) -> Result<RequestAnswer, Failure> {
        // A server may ignore the wish for a task, and answer with the result.
        let goes_on = self.client_task.is_some() || (self.is_task(live) && self.client_follows_tasks());
        if goes_on && offers_tasks(live) && answer.member("task").is_some() {
            return Ok(RequestAnswer::Unfinished(answer));
        }
        let task = if self.is_task(live) { Task::from_call_answer(&answer) } else { None };
        task.map_or(Ok(RequestAnswer::Complete(answer)), |task| task.map(RequestAnswer::Task))
    }

    /// Runs a future under the timer of the call: progress is forwarded, and resets the timer. `Err` is the
    /// limit that passed.
    async fn run_with_timer<T>(
        &self,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
        mut seen: watch::Receiver<Option<ProgressUpdate>>,
        work: impl Future<Output = T>,
    ) -> Result<T, Duration> {
        let mut work = std::pin::pin!(work);
        let mut clock = RequestTimer::new(deadline, in_flight.open_questions());
        let mut listening = true;
        let outcome = loop {
            tokio::select! {
                biased;
                done = &mut work => break Ok(done),
                changed = seen.changed(), if listening => {
                    listening = changed.is_ok();
                    if listening {
                        self.forward_progress(&seen.borrow_and_update());
                    }
                    // A server that reports progress is at work.
                    clock.reset_on_progress();
                }
                () = clock.wait_until_expired() => break Err(deadline.limit),
            }
        };
        // The last progress may have come together with the answer; one that was forwarded is not sent again.
        let last = seen.borrow_and_update();
        if last.has_changed() {
            self.forward_progress(&last);
        }
        drop(last);
        clock.credit_suspended_time(deadline);
        outcome
    }

    fn forward_progress(&self, newest: &Option<ProgressUpdate>) {
        if let (Some(progress), Some(_)) = (&self.progress, newest) {
            progress.send_replace(newest.clone());
        }
    }
}

/// Whether the server is one of the old era whose tools can be called as tasks.
fn offers_tasks(live: &LiveConnection) -> bool {
    matches!(live.session.protocol(), AgreedProtocol::Old(_))
        && task::offers_tool_tasks(live.session.server_description())
}

/// The arguments that a tool wants in headers. Most tools mark none, and then the arguments need no second
/// parse.
fn header_arguments(tool: &Tool, arguments: &RawJson) -> Box<[(String, String)]> {
    let marked = &tool.header_params;
    let read = if marked.is_empty() { None } else { arguments.as_raw_value() };
    read.map(|arguments| tool::param_headers(marked, arguments)).unwrap_or_default().into()
}
