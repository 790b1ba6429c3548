//! Relays requests and log messages of a server to the client of a gateway whose call they belong to.

use std::sync::Arc;

use mcparley_wire::{Cause, Incoming, InputRequest, RawJson, RpcError};
use serde_json::json;

use super::in_flight::{InFlightCall, InFlightGuard};
use super::route::{MessageRoute, RouteClues};
use super::{ParsedElicitation, ServerRequestError, ServerRequests};
use crate::elicit::{ElicitationReply, UnansweredRequest};

/// The requests that a client answers itself. A server of the old era keeps its roots for all calls, so
/// those are the host's.
const RELAYED: [&str; 2] = ["elicitation/create", "sampling/createMessage"];

impl ServerRequests {
    /// Relays a request of the old era to the client of its call; `None` if the host has to answer it.
    pub(super) async fn relay_request(&self, incoming: &Incoming) -> Option<Result<RawJson, RpcError>> {
        let Incoming { method, params, cause, .. } = incoming;
        if !RELAYED.contains(&&**method) {
            return None;
        }
        let route = self.route_question(*cause, params.as_ref());
        route.first_call()?.line()?;
        let call = match self.choose_call(&route) {
            Ok(call) => call?,
            Err(excess) => return Some(Err(ServerRequestError::Excess(excess).into_rpc_error())),
        };
        let (_open, _asking) = (route.open_question(), call.begin_asking(&self.calls));
        if &**method == "elicitation/create"
            && let Some(answer) = self.ask_hooks_only(params.as_ref()).await
        {
            return Some(answer);
        }
        let request = InputRequest { key: String::new(), method: method.to_string(), params: params.clone() };
        let answers = call.line()?.ask(&self.server, vec![request]).await;
        self.log.add_event(match &answers {
            Ok(_) => "the client answered the server's request",
            Err(_) => "the client did not answer the server's request",
        });
        let missing = || RpcError::new(mcparley_wire::INTERNAL, "the client gave no answer");
        Some(answers.and_then(|answers| answers.into_iter().next().ok_or_else(missing)))
    }

    /// Relays `roots/list` of a server of the old era to the client of its call, if that client can be asked
    /// in a call only; `None` if the roots of the host are the answer.
    pub async fn relay_roots(&self, cause: Cause) -> Option<Result<RawJson, RpcError>> {
        let route = self.calls.route_message(&RouteClues::from_message(cause, None));
        let MessageRoute::Call(call) = &route else { return None };
        let line = call.line().filter(|line| line.asks_roots_in_calls())?;
        let _open = route.open_question();
        let request = InputRequest { key: String::new(), method: "roots/list".to_owned(), params: None };
        let answers = line.ask(&self.server, vec![request]).await.ok()?;
        answers.into_iter().next().map(Ok)
    }

    /// Relays the input requests of a server of the new era to the client of the call; `None` if the call has
    /// no line to a client.
    ///
    /// # Errors
    /// When the client does not answer.
    pub async fn relay_input(
        &self,
        call: &InFlightGuard<'_>,
        requests: Vec<InputRequest>,
    ) -> Option<Result<Vec<RawJson>, UnansweredRequest>> {
        let line = Arc::clone(call.call().line()?);
        let _open = call.call().open_question();
        let count = requests.len();
        let refused = |reason: String| UnansweredRequest::Refused { reason };
        Some(match line.ask(&self.server, requests).await {
            Ok(answers) if answers.len() == count => Ok(answers),
            Ok(_) => Err(refused("an answer is missing".to_owned())),
            Err(error) => Err(refused(error.message.clean_text().into_owned())),
        })
    }

    /// Whether a call ends with a result that requires input, for its client to answer: unless a hook may
    /// answer first.
    pub fn relays_results(&self, call: &InFlightGuard<'_>) -> bool {
        !self.hooks.has_elicitation_hooks() && call.call().line().is_some_and(|line| line.relays_input())
    }

    /// Whether a call ends with the error that names the pages to visit, for its client to show them.
    pub fn relays_pages(&self, call: &InFlightGuard<'_>) -> bool {
        !self.hooks.has_elicitation_hooks() && call.call().line().is_some_and(|line| line.visits_pages())
    }

    /// Relays a log message to the client of the one call that it belongs to; returns whether it did.
    pub fn relay_log(&self, cause: Cause, params: Option<&RawJson>) -> bool {
        let Some(params) = params else { return false };
        let route = self.calls.route_message(&RouteClues::from_message(cause, Some(params)));
        let MessageRoute::Call(call) = &route else { return false };
        let Some(line) = call.line() else { return false };
        line.send_log(&self.server, params);
        true
    }

    /// The call on whose behalf the client is asked, which pays for the question.
    fn choose_call(
        &self,
        route: &MessageRoute<Arc<InFlightCall>>,
    ) -> Result<Option<Arc<InFlightCall>>, UnansweredRequest> {
        match route {
            MessageRoute::Call(call) => call.count_question().map(|()| Some(Arc::clone(call))),
            MessageRoute::OneOf(calls) => self.calls.charge_least_asked(calls),
            MessageRoute::Host | MessageRoute::Ambiguous => Ok(None),
        }
    }

    /// The answer of a hook to an elicitation; `None` if there is no such hook, or none that answers.
    async fn ask_hooks_only(&self, params: Option<&RawJson>) -> Option<Result<RawJson, RpcError>> {
        if !self.hooks.has_elicitation_hooks() {
            return None;
        }
        let asked = match ParsedElicitation::parse(params) {
            Ok(asked) => asked,
            Err(error) => return Some(Err(ServerRequestError::from_elicitation(&error).into_rpc_error())),
        };
        let answer = match self.ask_hooks_or_user(&asked, None, true).await? {
            ElicitationReply::Accept(content) => json!({ "action": "accept", "content": content }),
            ElicitationReply::Decline => json!({ "action": "decline" }),
            ElicitationReply::Cancel => json!({ "action": "cancel" }),
        };
        let unwritten = |_| RpcError::new(mcparley_wire::INTERNAL, "the answer cannot be written");
        Some(RawJson::from_value(&answer).map_err(unwritten))
    }
}
