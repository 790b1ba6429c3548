//! HTTP+SSE of 2024-11-05: one event stream for each client at `/sse`, and POSTs to `/messages`.

use std::sync::Arc;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use mcparley::pool::principal::ClientIdentity;
use mcparley_model::hex::Hex;
use mcparley_wire::served_message::{ClientBody, ClientMessage, encode_error_message, parse_client_body};
use mcparley_wire::{INTERNAL, ProtocolVersion, RpcError};

use crate::body::DoorBody;
use crate::event_stream::StreamKind;
use crate::exchange::{ClientRequest, ClientSession, RunningAnswer};
use crate::guard::load::LoadPermit;
use crate::guard::refusal::RequestRefusal;
use crate::http_session::HttpSession;
use crate::mcp::receive_notice;
use crate::reply::{empty_response, event_response};
use crate::request_body::accepts;
use crate::shared::DoorShared;
use mcparley_gateway::TraceHeaders;

/// Opens a session with its event stream; the first event names the address for POSTs.
pub(crate) fn open_stream(
    shared: &Arc<DoorShared>,
    (identity, permit): (&Arc<ClientIdentity>, LoadPermit),
    parts: &Parts,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let legacy = shared.legacy.as_ref().ok_or_else(|| RequestRefusal::path("path"))?;
    if !accepts(parts, "text/event-stream") {
        let reason = "`Accept` must include `text/event-stream`";
        return Err(RequestRefusal::new(StatusCode::NOT_ACCEPTABLE, "accept", reason));
    }
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        let error = RpcError::new(INTERNAL, "the system gives no random numbers");
        return Err(RequestRefusal::with_error(StatusCode::INTERNAL_SERVER_ERROR, "random", error));
    }
    let id: Arc<str> = Arc::from(Hex(&random).to_string());
    let [oldest, ..] = ProtocolVersion::OLD;
    let gateway_session = legacy.gateway.open_session_for(identity);
    let session = HttpSession::start(
        Arc::clone(&id),
        Arc::clone(&identity.account),
        oldest,
        (gateway_session, StreamKind::Bound),
    );
    legacy.add_session(Arc::clone(&session));
    let opening = Bytes::from(format!("event: endpoint\ndata: /messages?sessionId={id}\n\n"));
    let response = event_response(DoorBody::from_stream(Arc::clone(&session.channel), opening));
    let (tasks, shared) = (Arc::clone(&shared.tasks), Arc::clone(shared));
    tasks.spawn_task(async move {
        let is_gone = tokio::select! {
            () = session.channel.wait_until_gone() => true,
            () = shared.wait_for_drain() => false,
        };
        // A gateway that stops waits for the calls of the session, not for its stream.
        drop(permit);
        if !is_gone {
            session.channel.wait_until_gone().await;
        }
        if let Some(legacy) = &shared.legacy {
            legacy.remove_session(&session.id);
        }
        session.close();
    });
    Ok(response)
}

/// Accepts a message; its response is sent on the event stream.
pub(crate) fn answer_post(
    shared: &Arc<DoorShared>,
    (identity, permit): (&Arc<ClientIdentity>, LoadPermit),
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let query = parts.uri.query().unwrap_or_default();
    let id = query.split('&').find_map(|pair| pair.strip_prefix("sessionId="));
    let session = shared.legacy.as_ref().and_then(|legacy| legacy.find_session(id?, &identity.account));
    let Some(session) = session else {
        let reason = "the session is unknown or has ended";
        return Err(RequestRefusal::new(StatusCode::NOT_FOUND, "session", reason));
    };
    let messages = match parse_client_body(body) {
        ClientBody::Single(ClientMessage::Invalid { id, error }) => {
            let refusal = RequestRefusal::with_error(StatusCode::BAD_REQUEST, "message", error);
            return Err(refusal.for_request(id.as_ref()));
        }
        ClientBody::Single(message) => vec![message],
        ClientBody::Batch(messages) if has_batches(&session) && !messages.is_empty() => messages,
        ClientBody::Batch(_) => {
            let reason = "a batch is not allowed in this revision, and never empty";
            return Err(RequestRefusal::new(StatusCode::BAD_REQUEST, "message", reason));
        }
    };
    let has_request = messages.iter().any(|it| matches!(it, ClientMessage::Request { .. }));
    if has_request && shared.is_draining() {
        return Err(RequestRefusal::draining());
    }
    // The permit of the POST is that of the first request.
    let mut permit = Some(permit);
    for message in messages {
        receive_message(shared, (&session, identity), message, &mut permit);
    }
    Ok(empty_response(StatusCode::ACCEPTED))
}

/// Whether the client has agreed to the only revision with batches.
fn has_batches(session: &HttpSession) -> bool {
    session.session.agreed_version().is_some_and(|version| version.as_str() == "2025-03-26")
}

fn receive_message(
    shared: &Arc<DoorShared>,
    (session, identity): (&Arc<HttpSession>, &Arc<ClientIdentity>),
    message: ClientMessage,
    permit: &mut Option<LoadPermit>,
) {
    match message {
        ClientMessage::Request { id, method, params } => {
            let channel = Arc::clone(&session.channel);
            let permit = match permit.take().map_or_else(|| shared.guard.admit(&identity.account), Ok) {
                Ok(permit) => permit,
                Err(refusal) => {
                    shared.metrics.count_refusal(refusal.reason);
                    let _delivery = channel.push_request(encode_error_message(Some(&id), &refusal.error));
                    return;
                }
            };
            let client = ClientSession::Old(Arc::clone(session));
            let (identity, trace) = (Arc::clone(identity), TraceHeaders::default());
            let request = ClientRequest { id, method, params, identity, trace };
            let running = RunningAnswer::start(shared, &client, request, Some(Arc::clone(&channel)));
            shared.tasks.spawn_task(async move {
                tokio::select! {
                    () = running.run_to_stream(&channel) => {}
                    () = channel.wait_until_gone() => {}
                }
                drop(permit);
            });
        }
        ClientMessage::Notification { method, params } => receive_notice(session, method, params.as_ref()),
        ClientMessage::Response { id, outcome } => {
            if let Some(id) = id {
                session.questions.answer_question(&id, outcome);
            }
        }
        ClientMessage::Invalid { id, error } => {
            let message = encode_error_message(id.as_ref(), &error);
            let _delivery = session.channel.push_request(message);
        }
    }
}
