//! Answers the requests of one server in both eras: roots, elicitation and sampling.
//!
//! A call has one question at a time, and no call waits for the answer to another call's question. While a
//! question is open, the timeout of its call is paused.

mod in_flight;
mod page_visits;
mod question_lane;
mod relay;
mod route;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::QUESTION_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::text::{Untrusted, truncate_text};
use mcparley_wire::{
    Cause, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::call_client::CallClient;
use crate::client_services::ClientServices;
use crate::elicit::{
    Elicitation, ElicitationHooks, ElicitationReply, ElicitationRequest, Elicitor, FinishedVisit,
    InvalidElicitation, ParsedElicitation, UnansweredRequest, VisitChannel,
};
use crate::hosted_server::HostedServer;
use crate::log::ServerLog;
use crate::notice_channel::{NoticeChannel, ServerNotice};
use crate::principal::PrincipalId;
use crate::roots::ServerRoots;
use crate::sample::{SamplingError, SamplingService};
pub use in_flight::InFlightGuard;
use in_flight::{InFlightCall, InFlightCalls};
use mcparley_catalog::ArgumentMismatch;
use page_visits::PageVisits;
use question_lane::LaneCaller;
pub use question_lane::LanePlace;
use route::{MessageRoute, RouteCandidate, RouteClues};

/// Dispatches the requests of one server to the handlers, on behalf of the call they belong to.
pub struct ServerRequests {
    server: ServerName,
    elicitor: Option<Arc<dyn Elicitor>>,
    calls: InFlightCalls,
    roots: ServerRoots,
    models: SamplingService,
    hooks: Arc<dyn ElicitationHooks>,
    log: Arc<ServerLog>,
    /// Semaphore for questions without a known call, which are asked one at a time.
    turn: Semaphore,
    visits: PageVisits,
    /// The channel for pages that the server reports as visited.
    visit_channel: VisitChannel,
    /// The channel for notifications that clients of a gateway may want.
    notices: NoticeChannel,
    /// Signals that the status of a task of the server may have changed.
    tasks: Notify,
    /// Records the requests for a daemon.
    observer: Option<Arc<HostedServer>>,
}

/// The reason a request has no proper answer.
#[derive(Debug)]
enum ServerRequestError {
    /// The method is not supported.
    Method,
    /// The request is malformed.
    Request(String),
    /// The user's answer does not match the form.
    Answer(Vec<ArgumentMismatch>),
    /// The sampling request has no answer.
    Model(SamplingError),
    /// The call has used up its number of questions.
    Excess(UnansweredRequest),
    /// The user did not answer in time, and other questions wait.
    Late,
}

/// A page that the user has to visit before a call can be answered.
#[derive(Debug)]
pub struct RequestedPage {
    /// The URL, by which the page is recognized when the server requests it again.
    pub url: String,
    asked: ParsedElicitation,
}

impl ServerRequests {
    /// A dispatcher for the requests of a server, with these services.
    pub fn new(
        server: ServerName,
        services: &ClientServices,
        roots: ServerRoots,
        log: Arc<ServerLog>,
    ) -> Self {
        let models = SamplingService::new(server.clone(), services.sampler.clone(), Arc::clone(&log));
        Self {
            server,
            elicitor: services.elicitor.clone(),
            calls: InFlightCalls::default(),
            roots,
            models,
            hooks: Arc::clone(&services.hooks),
            log,
            turn: Semaphore::new(1),
            visits: PageVisits::default(),
            visit_channel: services.visits.clone(),
            notices: services.notices.clone(),
            tasks: Notify::new(),
            observer: None,
        }
    }

    /// These requests, observed for a daemon.
    #[must_use]
    pub fn with_observer(self, observer: Option<Arc<HostedServer>>) -> Self {
        Self { observer, ..self }
    }

    /// Records a request of the server for a daemon.
    pub(crate) fn observe_request(&self, method: &str) {
        if let Some(observer) = &self.observer {
            observer.requests.record_request(method);
        }
    }

    /// The roots of the server.
    pub fn roots(&self) -> &ServerRoots {
        &self.roots
    }

    /// Answers a request of the old era, on behalf of the call that it belongs to.
    pub async fn answer_request(&self, incoming: Incoming) -> Result<RawJson, RpcError> {
        if let Some(answer) = self.relay_request(&incoming).await {
            return answer;
        }
        let answer = self.route_and_respond(&incoming).await.map_err(ServerRequestError::into_rpc_error)?;
        RawJson::from_value(&answer).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
    }

    /// Answers a request inside a result of the new era, on behalf of the call that got the result.
    pub async fn answer_input_request(
        &self,
        call: &InFlightGuard<'_>,
        method: &str,
        params: Option<&RawJson>,
    ) -> Result<Value, UnansweredRequest> {
        let call = Arc::clone(call.call());
        let answer = self.dispatch_request(&MessageRoute::Call(call), method, params).await;
        answer.map_err(|trouble| trouble.into_call_error(method))
    }

    /// Parses the page that a call needs.
    pub fn parse_page(&self, params: &RawJson) -> Result<RequestedPage, UnansweredRequest> {
        let unaskable =
            |error| ServerRequestError::from_elicitation(&error).into_call_error("elicitation/create");
        let ParsedElicitation { message, request } =
            ParsedElicitation::parse(Some(params)).map_err(unaskable)?;
        match request {
            ElicitationRequest::Page(page) => Ok(RequestedPage {
                url: page.url().to_owned(),
                asked: ParsedElicitation { message, request: ElicitationRequest::Page(page) },
            }),
            ElicitationRequest::Form(_) => {
                Err(UnansweredRequest::InvalidRequest { reason: "it is not a page".into() })
            }
        }
    }

    /// Asks the user to visit the page that a call needs; a hook may answer instead.
    pub async fn ask_for_visit(
        &self,
        call: &InFlightGuard<'_>,
        page: &RequestedPage,
    ) -> Result<(), UnansweredRequest> {
        let elicitor = call.call().elicitor(self.elicitor.as_ref());
        let _open = call.call().open_question();
        match self.ask_hooks_or_user(&page.asked, elicitor.as_deref(), true).await {
            Some(ElicitationReply::Accept(_)) => Ok(()),
            Some(ElicitationReply::Decline | ElicitationReply::Cancel) => Err(UnansweredRequest::Declined),
            None => Err(UnansweredRequest::NoElicitor { url: page.url.clone() }),
        }
    }

    /// Waits until the server, or the user if that counts, reports that a page was visited; at most this
    /// long. Returns whether the user reported it.
    pub async fn await_visit(
        &self,
        call: &InFlightGuard<'_>,
        page: &RequestedPage,
        (longest, person_counts): (Duration, bool),
    ) -> bool {
        let ElicitationRequest::Page(page) = &page.asked.request else { return false };
        let server_tells = async {
            match page.id() {
                Some(id) => self.visits.wait_until_finished(id).await,
                None => std::future::pending().await,
            }
        };
        let elicitor = call.call().elicitor(self.elicitor.as_ref());
        let person_tells = async {
            match elicitor.filter(|_| person_counts) {
                Some(elicitor) => elicitor.wait_for_visit(page).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = server_tells => false,
            () = person_tells => true,
            () = tokio::time::sleep(longest) => false,
        }
    }

    /// Handles the server's notification that a page was visited.
    pub fn handle_visit_notification(&self, params: Option<&RawJson>) {
        self.visits.handle_complete(params);
        if let Some(params) = params {
            self.visit_channel
                .send_visit(FinishedVisit { server: self.server.clone(), params: params.clone() });
        }
    }

    /// Passes a notification to listeners, such as a gateway with clients that understand it.
    pub fn forward_notice(&self, Notice { method, params, cause }: &Notice) {
        self.notices.send_notice(|| ServerNotice {
            server: self.server.clone(),
            principal: self.principal_for(*cause, params.as_ref()),
            method: method.clone(),
            params: params.clone(),
        });
    }

    /// Registers a call of a tool as in flight until the guard is dropped.
    pub fn register_call<'d>(
        &'d self,
        client: Option<&Arc<CallClient>>,
        tool: &str,
        place: Option<LanePlace<'d>>,
    ) -> InFlightGuard<'d> {
        self.calls.register_call(client, tool, place)
    }

    /// Whether a call of a tool has to wait for its place in the question lane, on a channel that does not
    /// say which call a question belongs to.
    pub fn needs_lane(&self, tool: &str) -> bool {
        self.calls.lane.questions_of(tool).may_ask()
    }

    /// Waits until no other call can be mistaken for a call of this tool when the server asks.
    pub async fn enter_lane(&self, client: Option<&Arc<CallClient>>, tool: &str) -> Option<LanePlace<'_>> {
        let line = client.and_then(|client| client.line.as_ref());
        let principal = client.map(|client| &client.principal.id);
        let is_exact = line.is_some_and(|line| line.relays_input());
        self.calls.lane.wait_for_place(tool, LaneCaller { principal, is_exact }).await
    }

    /// Finds the call of a question, and learns which tools ask.
    fn route_question(&self, cause: Cause, params: Option<&RawJson>) -> MessageRoute<Arc<InFlightCall>> {
        let route = self.calls.route_message(&RouteClues::from_question(cause, params));
        if matches!(cause, Cause::Connection) {
            self.calls.learn_question(&route);
        }
        route
    }

    /// The principal of the call that a message belongs to. `None` for the host's own calls, outside of
    /// calls, and while calls of several principals are in flight.
    pub fn principal_for(&self, cause: Cause, params: Option<&RawJson>) -> Option<PrincipalId> {
        let route = self.calls.route_message(&RouteClues::from_message(cause, params));
        route.first_call().and_then(|call| call.principal().cloned())
    }

    /// Notified when the status of a task of the server may have changed.
    pub fn task_notify(&self) -> &Notify {
        &self.tasks
    }

    /// Answers a request after finding the call it belongs to.
    async fn route_and_respond(
        &self,
        Incoming { method, params, cause, .. }: &Incoming,
    ) -> Result<Value, ServerRequestError> {
        let route = match &**method {
            "elicitation/create" | "sampling/createMessage" => self.route_question(*cause, params.as_ref()),
            _ => self.calls.route_message(&RouteClues::from_message(*cause, params.as_ref())),
        };
        if &**method == "elicitation/create"
            && let MessageRoute::Call(call) = &route
        {
            call.count_question().map_err(ServerRequestError::Excess)?;
        }
        self.dispatch_request(&route, method, params.as_ref()).await
    }

    /// Dispatches a request by its method.
    async fn dispatch_request(
        &self,
        route: &MessageRoute<Arc<InFlightCall>>,
        method: &str,
        params: Option<&RawJson>,
    ) -> Result<Value, ServerRequestError> {
        match method {
            "roots/list" => Ok(self.roots.to_result_for(route.first_call().and_then(|it| it.roots())).await),
            "sampling/createMessage" => {
                // The user may review the request and the result, and models are slow, so the timeout is
                // paused here too.
                let _open = route.open_question();
                self.answer_sampling(route, params).await.map_err(ServerRequestError::Model)
            }
            "elicitation/create" => {
                let asked = ParsedElicitation::parse(params)
                    .map_err(|error| ServerRequestError::from_elicitation(&error))?;
                self.answer_elicitation(&asked, route).await
            }
            _ => Err(ServerRequestError::Method),
        }
    }

    /// Answers a sampling request.
    async fn answer_sampling(
        &self,
        route: &MessageRoute<Arc<InFlightCall>>,
        params: Option<&RawJson>,
    ) -> Result<Value, SamplingError> {
        if matches!(route, MessageRoute::Ambiguous) {
            self.log.add_event("sampling request refused: calls of several principals are in flight");
            return Err(SamplingError::AmbiguousCall);
        }
        self.models.answer_request(route.first_call().and_then(|call| call.sampler()), params).await
    }

    /// Answers an elicitation, and validates the content of a form.
    async fn answer_elicitation(
        &self,
        asked: &ParsedElicitation,
        route: &MessageRoute<Arc<InFlightCall>>,
    ) -> Result<Value, ServerRequestError> {
        let _open = route.open_question();
        let Some(reply) = self.ask_by_route(asked, route).await? else {
            self.log.add_event("question declined: no user to ask");
            return Ok(json!({ "action": "decline" }));
        };
        let content = match (reply, &asked.request) {
            (ElicitationReply::Decline, _) => return Ok(json!({ "action": "decline" })),
            (ElicitationReply::Cancel, _) => return Ok(json!({ "action": "cancel" })),
            (ElicitationReply::Accept(_), ElicitationRequest::Page(_)) => {
                return Ok(json!({ "action": "accept" }));
            }
            (ElicitationReply::Accept(content), ElicitationRequest::Form(form)) => {
                form.check_content(&content).map_err(ServerRequestError::Answer)?;
                content
            }
        };
        Ok(json!({ "action": "accept", "content": content }))
    }

    /// Asks the user of the call or host that the route leads to.
    async fn ask_by_route(
        &self,
        asked: &ParsedElicitation,
        route: &MessageRoute<Arc<InFlightCall>>,
    ) -> Result<Option<ElicitationReply>, ServerRequestError> {
        match route {
            MessageRoute::Host => {
                let _turn = self.turn.acquire().await;
                Ok(self.ask_hooks_or_user(asked, self.elicitor.as_deref(), true).await)
            }
            MessageRoute::Call(call) => {
                let _turn = call.turn.acquire().await;
                let elicitor = call.elicitor(self.elicitor.as_ref());
                Ok(self.ask_hooks_or_user(asked, elicitor.as_deref(), true).await)
            }
            MessageRoute::OneOf(calls) => self.ask_for_one_call(asked, calls).await,
            MessageRoute::Ambiguous => {
                self.log.add_event("question not shown: calls of several principals are in flight");
                Ok(Some(self.ask_hooks_or_user(asked, None, false).await.unwrap_or(ElicitationReply::Cancel)))
            }
        }
    }

    /// Asks on behalf of one of several calls. Such questions are asked one at a time, and an unanswered one
    /// times out, so that the next one gets its turn.
    async fn ask_for_one_call(
        &self,
        asked: &ParsedElicitation,
        calls: &[Arc<InFlightCall>],
    ) -> Result<Option<ElicitationReply>, ServerRequestError> {
        let _turn = self.turn.acquire().await;
        // Calls may have ended while this question waited for its turn.
        let Some(call) = self.calls.charge_least_asked(calls).map_err(ServerRequestError::Excess)? else {
            return Ok(None);
        };
        let _asking = call.try_take_turn();
        let elicitor = call.elicitor(self.elicitor.as_ref());
        let asking = self.ask_hooks_or_user(asked, elicitor.as_deref(), false);
        tokio::time::timeout(QUESTION_TIME, asking).await.map_err(|_| ServerRequestError::Late)
    }

    /// Asks the hooks first, then the user; `None` if there is neither.
    async fn ask_hooks_or_user(
        &self,
        asked: &ParsedElicitation,
        elicitor: Option<&dyn Elicitor>,
        is_call_known: bool,
    ) -> Option<ElicitationReply> {
        let ParsedElicitation { message, request } = asked;
        let question = Elicitation { server: &self.server, message, request, is_call_known };
        if self.hooks.has_elicitation_hooks()
            && let Some(reply) = self.hooks.answer_question(question).await
        {
            self.log.add_event(match &reply {
                ElicitationReply::Accept(_) => "a hook accepted the server's question",
                ElicitationReply::Decline => "a hook declined the server's question",
                ElicitationReply::Cancel => "a hook canceled the server's question",
            });
            return Some(reply);
        }
        let reply = elicitor?.ask(question).await;
        self.log.add_event(match &reply {
            ElicitationReply::Accept(_) => "the user accepted the server's question",
            ElicitationReply::Decline => "the user declined the server's question",
            ElicitationReply::Cancel => "the user dismissed the server's question",
        });
        Some(reply)
    }
}

impl ServerRequestError {
    fn from_elicitation(error: &InvalidElicitation) -> Self {
        Self::Request(error.to_string())
    }

    /// The JSON-RPC error for a server of the old era.
    fn into_rpc_error(self) -> RpcError {
        match self {
            Self::Method => RpcError::new(METHOD_NOT_FOUND, "this client does not offer that method"),
            Self::Request(reason) => RpcError::new(INVALID_PARAMS, &reason),
            // The user's answer is not sent to the server.
            Self::Answer(_) => RpcError::new(INTERNAL, "the answer does not match the form"),
            Self::Model(why) => why.into_rpc_error(),
            Self::Excess(why) => RpcError::new(INVALID_REQUEST, &why.to_string()),
            Self::Late => RpcError::new(INTERNAL, &late_message()),
        }
    }

    /// The error of the call, for a server of the new era.
    fn into_call_error(self, method: &str) -> UnansweredRequest {
        match self {
            Self::Method | Self::Model(SamplingError::NoSampler) => {
                UnansweredRequest::NotOffered { method: Untrusted::new(truncate_text(method, 64)) }
            }
            Self::Model(why) => UnansweredRequest::SamplingFailed { reason: why.to_string() },
            Self::Request(reason) => UnansweredRequest::InvalidRequest { reason },
            Self::Excess(why) => why,
            Self::Late => UnansweredRequest::InvalidRequest { reason: late_message() },
            Self::Answer(misfits) => {
                let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
                UnansweredRequest::InvalidAnswer { reason: reasons.join("; ") }
            }
        }
    }
}

fn late_message() -> String {
    format!("the user did not answer within {} minutes", QUESTION_TIME.as_secs() / 60)
}

impl std::fmt::Debug for ServerRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerRequests").field("server", &self.server).finish_non_exhaustive()
    }
}
