//! Requests that are not tool calls (prompts, resources): read-only, so a retry after a connection failure
//! is safe.
//!
//! A request takes as many round trips as its server requires. Permissions are checked elsewhere.

mod error;

use std::borrow::Cow;
use std::sync::Arc;

use mcparley_model::config::TransportKind;
use mcparley_model::limits::{REQUEST_LIMIT, TOOL_TIME};
use mcparley_model::name::ServerName;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{AgreedProtocol, Failure, FailurePhase, RawJson, RequestParams, RoundOutcome};

use super::answer_rounds::{RoundRequest, is_shared_channel, register_in_lane, run_rounds};
use super::attempt::{AnsweredRequest, RequestAnswer, RetryableRequest};
use super::context::{CallContext, prepare_log_level, with_client_meta};
use super::deadline::{Deadline, RequestTimer};
use super::rounds::{RoundTripError, RoundTrips};
use super::task;
use super::upstream_span::{open_upstream_span, send_in_span, with_trace_meta};
use crate::host::Host;
use mcparley_pool::connection::{Connection, LiveConnection, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::{InFlightGuard, ServerRequests};

pub use error::RequestError;

/// The method that fetches the result of a task (2025-11-25), which may take as long as a call.
const TASK_RESULT: &str = "tasks/result";

/// A request to a server: method, parameters, and the capability it requires.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Cow<'static, str>,
    /// The capability that a server must declare to be sent this request; the gateway leaves that to the
    /// server.
    pub(crate) capability: Option<&'static str>,
    pub(crate) params: RequestParams,
    /// Whether a request whose answer was lost may be sent again.
    pub(crate) is_repeatable: bool,
}

impl Request {
    /// A request that only reads, so that it may be sent again.
    pub(crate) fn for_reading(method: &'static str, capability: &'static str, params: RequestParams) -> Self {
        Self { method: method.into(), capability: Some(capability), params, is_repeatable: true }
    }

    /// The method, if it is one of ours: the client of a gateway may write any text as the method of an extension.
    fn known_method(&self) -> &'static str {
        match &self.method {
            Cow::Borrowed(method) => method,
            Cow::Owned(_) => "other",
        }
    }
}

impl Host {
    /// Sends a request to a server, which is connected first if needed.
    pub(crate) async fn send_request(
        &self,
        server: &ServerName,
        request: Request,
    ) -> Result<RawJson, RequestError> {
        self.send_request_for(server, request, None, None).await
    }

    /// Sends a request to a server on behalf of the client of a gateway. The result may be one that requires
    /// input or names a task, if the client goes on with those itself.
    ///
    /// `method` must be one that only reads, or may be repeated: a lost request is sent again.
    ///
    /// # Errors
    /// A [`RequestError`]; an error of the server is in it unchanged.
    pub async fn relay_request(
        &self,
        server: &ServerName,
        method: &'static str,
        params: RequestParams,
        context: Option<CallContext>,
    ) -> Result<RawJson, RequestError> {
        let capability = required_capability(method);
        let request = Request { method: method.into(), capability, params, is_repeatable: true };
        self.send_request_for(server, request, context.map(Arc::new), None).await
    }

    /// Sends a request of an extension to a server on behalf of the client of a gateway. It is sent once: its
    /// effect is unknown.
    ///
    /// # Errors
    /// A [`RequestError`]; an error of the server is in it unchanged.
    pub async fn relay_unknown_request(
        &self,
        server: &ServerName,
        method: &str,
        params: RequestParams,
        context: Option<CallContext>,
    ) -> Result<RawJson, RequestError> {
        let method = method.to_owned().into();
        let request = Request { method, capability: None, params, is_repeatable: false };
        self.send_request_for(server, request, context.map(Arc::new), None).await
    }

    /// Fetches the result of a task of 2025-11-25 on behalf of the client of a gateway. Questions of the
    /// server that name the task belong to this request.
    ///
    /// # Errors
    /// A [`RequestError`]; an error of the server is in it unchanged.
    pub async fn relay_task_result(
        &self,
        server: &ServerName,
        task: &str,
        context: CallContext,
    ) -> Result<RawJson, RequestError> {
        let params = RequestParams::new().with_member("taskId", &task);
        let request = Request { method: TASK_RESULT.into(), capability: None, params, is_repeatable: true };
        self.send_request_for(server, request, Some(Arc::new(context)), Some(task)).await
    }

    async fn send_request_for(
        &self,
        server: &ServerName,
        mut request: Request,
        context: Option<Arc<CallContext>>,
        task: Option<&str>,
    ) -> Result<RawJson, RequestError> {
        if let Some(context) = &context {
            let meta = context.meta.iter();
            request.params =
                meta.fold(request.params, |params, (name, value)| params.with_meta(name, value.clone()));
        }
        let connection = self.connection(server).ok_or_else(|| self.no_server_error(server.as_str()))?;
        let usual = if request.method == TASK_RESULT { TOOL_TIME } else { REQUEST_LIMIT };
        let deadline = Deadline::with_limit(connection.config.timeout.unwrap_or(usual));
        let (rounds, kind) = (RoundTrips::default(), connection.config.kind());
        let mut request = ServerRequest { server, request, rounds, context, task, kind };
        let AnsweredRequest { answer, live, .. } =
            self.send_with_retries(&connection, deadline, &mut request).await?;
        live.record_answer();
        match answer {
            RequestAnswer::Complete(answer) | RequestAnswer::Unfinished(answer) => Ok(answer),
            RequestAnswer::Task(_) => Err(request.final_error(&connection, task::unexpected_task_failure())),
        }
    }

    /// The error for a server that does not exist or may not run.
    pub(crate) fn no_server_error(&self, name: &str) -> RequestError {
        let (similar, because) = (self.similar_servers(name), self.loaded_config().unavailable_reason(name));
        RequestError::UnknownServer { name: name.to_owned(), similar, because }
    }
}

/// The capability that a relayed request requires: some servers exit on methods that they do not know. Tasks
/// are declared in several ways, so their server itself refuses them.
fn required_capability(method: &'static str) -> Option<&'static str> {
    match method.split_once('/') {
        Some(("tasks", _)) | None => None,
        Some(("completion", _)) => Some("completions"),
        Some(("skills", _)) => Some("io.modelcontextprotocol/skills"),
        Some((capability, _)) => Some(capability),
    }
}

/// A request to one server, with the state of its round trips.
struct ServerRequest<'s> {
    server: &'s ServerName,
    request: Request,
    rounds: RoundTrips,
    /// The context of the client of a gateway.
    context: Option<Arc<CallContext>>,
    /// The task whose result is fetched.
    task: Option<&'s str>,
    /// The transport of the server.
    kind: TransportKind,
}

impl RetryableRequest for ServerRequest<'_> {
    type Error = RequestError;

    fn context(&self) -> Option<Arc<CallContext>> {
        self.context.clone()
    }

    fn sign_in_error(&self, _page: Arc<str>) -> RequestError {
        self.unavailable_error(Unavailable::NeedsAuth)
    }

    fn is_idempotent(&self) -> bool {
        self.request.is_repeatable
    }

    fn mirrors_headers(&self, live: &LiveConnection) -> bool {
        live.session.protocol() == AgreedProtocol::New
    }

    /// The headers repeat the method and the name or address alone, so a second attempt is all that can help.
    async fn refresh_headers(&mut self, _live: &LiveConnection, _deadline: Deadline) -> bool {
        self.request.is_repeatable
    }

    fn check_offered(&self, _host: &Host, live: &LiveConnection, _repeats: u32) -> Result<(), RequestError> {
        let Some(what) = self.request.capability else { return Ok(()) };
        if live.session.server_description().has_capability(what) {
            Ok(())
        } else {
            Err(RequestError::NotOffered { server: self.server.clone(), what })
        }
    }

    async fn send_until_answered(
        &mut self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        server_requests: &ServerRequests,
    ) -> Result<RequestAnswer, RoundTripError> {
        let client = self.context.as_ref().map(|context| &context.client);
        let (method, is_shared) = (&*self.request.method, is_shared_channel(live, Some(self.kind)));
        let in_flight = register_in_lane(server_requests, deadline, (client, method), is_shared).await;
        prepare_log_level(live, self.context.as_deref()).await;
        if let Some(task) = self.task {
            in_flight.note_task(task);
        }
        run_rounds(self, live, deadline, (server_requests, &in_flight)).await
    }

    fn unavailable_error(&self, why: Unavailable) -> RequestError {
        RequestError::Unavailable { server: self.server.clone(), why }
    }

    fn unanswered_error(&self, why: UnansweredRequest) -> RequestError {
        RequestError::Unanswered { server: self.server.clone(), method: self.request.method.clone(), why }
    }

    fn final_error(&self, connection: &Arc<Connection>, failure: Failure) -> RequestError {
        let (server, failure) = (connection.name.clone(), connection.log().redact_failure(failure));
        RequestError::Failed { server, method: self.request.method.clone(), failure }
    }
}

impl RoundRequest for ServerRequest<'_> {
    fn rounds_mut(&mut self) -> &mut RoundTrips {
        &mut self.rounds
    }

    async fn send_round(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> Result<RoundOutcome, Failure> {
        match open_upstream_span(Some(self.server), self.request.known_method()) {
            Some(span) => Box::pin(send_in_span(span, self.send_request(live, deadline, in_flight))).await,
            None => self.send_request(live, deadline, in_flight).await,
        }
    }

    fn finish_answer(&self, _live: &LiveConnection, answer: RawJson) -> Result<RequestAnswer, Failure> {
        Ok(RequestAnswer::Complete(answer))
    }

    fn finish_task(&self, _task: RawJson) -> Result<RequestAnswer, Failure> {
        Err(task::unexpected_task_failure())
    }
}

impl ServerRequest<'_> {
    /// Sends one request. Its timer is suspended while the user is asked.
    async fn send_request(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> Result<RoundOutcome, Failure> {
        let (mut params, request) = (
            self.rounds.next_params(&self.request.params, live.session.protocol()),
            live.session.prepare_request(),
        );
        params = with_client_meta(params, live, self.context.as_deref());
        params = with_trace_meta(params, self.context.as_deref());
        in_flight.note_request(request.id());
        let mut clock = RequestTimer::new(deadline, in_flight.open_questions());
        let outcome = tokio::select! {
            biased;
            answer = live.session.call_round(request, (&*self.request.method, &params), PeerCallOptions::default()) => answer,
            () = clock.wait_until_expired() => Err(Failure::TimedOut { phase: FailurePhase::Answering, after: deadline.limit }),
        };
        clock.credit_suspended_time(deadline);
        outcome
    }
}
