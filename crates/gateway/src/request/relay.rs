//! Relays requests other than calls to the server they belong to.

use mcparley::call::RequestError;
use mcparley::model::name::ServerName;
use mcparley_wire::{Failure, INTERNAL, RawJson, Replies, RequestParams, RpcError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client_abilities::{Caller, RequestMeta};
use crate::request::call::DrivenCall;
use crate::request::call_request::sort_keys;
use crate::response::era::{ServerEra, relayed_error};
use crate::session::GatewaySession;
use crate::session::parked::invalid_state_error;
use crate::session::parked_state::{ReturnedCall, is_parked_state};
use crate::session::running_call::{CallEnd, QuestionKeys, RunningCall};

/// The request of a client that is relayed: its client, its `_meta`, and its replies.
#[derive(Clone, Copy)]
pub(crate) struct RelayedRequest<'r> {
    pub(crate) caller: Caller,
    pub(crate) meta: &'r RequestMeta,
    pub(crate) replies: &'r Replies,
}

impl GatewaySession {
    /// Sends a request to a server and returns its result, unchanged. A server of the old era cannot ask a
    /// client of the new era during it.
    ///
    /// # Errors
    /// The error of the server, or ours if it could not be asked.
    pub(crate) async fn relay_request(
        &self,
        request: RelayedRequest<'_>,
        server: &ServerName,
        (method, uri): (&'static str, Option<&str>),
        params: RequestParams,
    ) -> Result<RawJson, RpcError> {
        let about = (method, None);
        let (context, _line, questions) =
            self.request_context(about, (request.caller, request.meta), request.replies);
        // Such a request cannot come back with answers.
        drop(questions);
        let answer = self.host().relay_request(server, method, params, Some(context)).await;
        answer.map_err(|error| {
            let era = ServerEra::of_server(&self.shared.gateway.view(), server);
            request_error(error, (method, uri), &request.caller, era)
        })
    }

    /// Sends a request during which the server may ask the client, and returns its result. For a client of
    /// the new era, a question of a server of the old era parks the request, and the result has the question.
    ///
    /// # Errors
    /// The error of the server, or ours if it could not be asked, or if the client came back with an invalid
    /// state.
    pub(crate) async fn relay_with_questions(
        &self,
        request: RelayedRequest<'_>,
        server: &ServerName,
        (method, uri): (&'static str, Option<&str>),
        (sent, params): (RequestParams, Option<&RawJson>),
    ) -> Result<RawJson, RpcError> {
        let RelayedRequest { caller, meta, replies } = request;
        let input = |name: &str| params.and_then(|params| params.member(name)).filter(|_| caller.is_new());
        let (responses, state) = (input("inputResponses"), input("requestState"));
        let digest = request_digest(method, params);
        let returned = match state.as_ref().filter(|state| is_parked_state(state)) {
            Some(state) => Some(self.take_up_call(digest, state, responses.as_ref()).await?),
            None => None,
        };
        // Prompts and resources are only read, so a lost request is made again, without its answers.
        let is_lost = matches!(returned, Some(ReturnedCall::Lost { .. }));
        let (responses, state) = if is_lost { (None, None) } else { (responses, state) };
        let running = match (&state, returned) {
            (_, Some(ReturnedCall::Running(running))) => {
                running.line.move_to(replies);
                *running
            }
            (Some(_), _) if self.is_old_server(server) => return Err(invalid_state_error()),
            (Some(_) | None, Some(ReturnedCall::Lost { .. }) | None) => {
                // Without a state they can only be for a server of the new era.
                let is_ignored = self.is_old_server(server);
                let state = state.clone().map(|state| self.open_server_state(digest, state)).transpose()?;
                let members = [("inputResponses", responses), ("requestState", state)];
                let members = members.into_iter().filter(|_| !is_ignored);
                let sent = members.fold(sent, |sent, (name, value)| match value {
                    Some(value) => sent.with_raw(name, &value),
                    None => sent,
                });
                let (context, line, questions) =
                    self.request_context((method, params), (caller, meta), replies);
                let (host, asked) = (self.host().clone(), server.clone());
                let (server, uri) = (server.clone(), uri.map(str::to_owned));
                let gateway = self.shared.gateway.clone();
                let call = Box::pin(async move {
                    let answer = host.relay_request(&server, method, sent, Some(context)).await;
                    let answer = answer.map_err(|error| {
                        let era = ServerEra::of_server(&gateway.view(), &server);
                        request_error(error, (method, uri.as_deref()), &caller, era)
                    });
                    CallEnd::Request(answer)
                });
                let (keys, open, server) = (QuestionKeys::default(), Vec::new(), Some(asked));
                RunningCall { call, questions, progress: None, line, server, open, keys, is_task: false }
            }
        };
        match self.drive_until_question(digest, running, None).await? {
            DrivenCall::Ended(CallEnd::Request(answer)) => {
                answer.map(|answer| self.finish_input_request(server, digest, answer))
            }
            // A digest names its method, so the state of a call does not get here.
            DrivenCall::Ended(CallEnd::Call(_)) => Err(invalid_state_error()),
            DrivenCall::Parked(asked) => Ok(asked),
        }
    }
}

/// The digest by which a repeated request is recognized: its method and parameters, but for the input.
fn request_digest(method: &str, params: Option<&RawJson>) -> [u8; 32] {
    let mut params: Value = params.and_then(|params| params.decode().ok()).unwrap_or_default();
    if let Some(members) = params.as_object_mut() {
        members.retain(|name, _| !matches!(name.as_str(), "_meta" | "inputResponses" | "requestState"));
    }
    let mut hash = Sha256::new();
    hash.update(method.as_bytes());
    hash.update([0]);
    hash.update(sort_keys(params).to_string().as_bytes());
    hash.finalize().into()
}

/// The error of a request for a client.
pub(crate) fn request_error(
    error: RequestError,
    request: (&str, Option<&str>),
    caller: &Caller,
    server_era: Option<ServerEra>,
) -> RpcError {
    let (text, hint) = (error.to_string(), error.hint());
    let (server, reason) = match error {
        RequestError::Failed { failure: Failure::ErrorResponse(error), .. } => {
            return relayed_error(error, request, caller, server_era);
        }
        RequestError::Failed { server, .. } => (server.to_string(), "failed"),
        RequestError::Unavailable { server, .. } => (server.to_string(), "unavailable"),
        RequestError::NotOffered { server, .. } => (server.to_string(), "not_offered"),
        RequestError::Unanswered { server, .. } => (server.to_string(), "unanswered"),
        RequestError::UnknownServer { name, .. } => (name, "unknown_server"),
        _ => (String::new(), "failed"),
    };
    let text = hint.map_or(text.clone(), |hint| format!("{text}\n{hint}"));
    let error = RpcError::new(INTERNAL, &text);
    match RawJson::from_value(&json!({ "server": server, "reason": reason })) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}
