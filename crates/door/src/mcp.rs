//! The endpoint `/mcp`: POSTs of both eras, and the GET stream and DELETE of sessions.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use mcparley_cluster::{InstanceId, MemberStatus};
use mcparley_model::limits::{CLUSTER_ANSWER_BYTES, DOOR_EVENT_REQUEST_BYTES};
use mcparley_wire::peer::Handler as _;
use mcparley_wire::served_message::{ClientBody, ClientMessage, encode_error_message, parse_client_body};
use mcparley_wire::{Cause, INTERNAL, Id, METHOD_NOT_FOUND, Notice, ProtocolVersion, RawJson, RpcError};

use crate::body::DoorBody;
use crate::endpoint::{Endpoint, EndpointClient};
use crate::event_stream::{DoorStream, EventId, StreamKind};
use crate::exchange::{ClientRequest, ClientSession, answer_batch, answer_request};
use crate::guard::load::LoadPermit;
use crate::guard::refusal::RequestRefusal;
use crate::header_check::{EraMeta, check_params, check_routing, check_version, unsupported_version};
use crate::http_session::HttpSession;
use crate::question::OpenQuestions;
use crate::remote_stream::{push_lost_response, resume_elsewhere};
use crate::reply::{empty_response, event_response};
use crate::request_body::accepts;
use crate::session_table::SessionMiss;
use crate::shared::DoorShared;
use mcparley_gateway::cluster_link::ClusterLink;
use mcparley_gateway::cluster_link::messages::{
    ClusterMessage, ClusterNews, ForwardedAnswer, RequestOutcome, to_raw_value,
};
use mcparley_gateway::{STATE_MISUSE, TraceHeaders};

/// The header with the id of a session.
pub(crate) const SESSION_ID: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
/// Methods of the old era that the new one removed.
const REMOVED: [&str; 4] = ["initialize", "ping", "logging/setLevel", "resources/subscribe"];

/// Answers a POST.
pub(crate) async fn answer_post(
    shared: &Arc<DoorShared>,
    (client, permit): (&EndpointClient, LoadPermit),
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<DoorBody>, RequestRefusal> {
    match parse_client_body(body) {
        ClientBody::Single(ClientMessage::Invalid { id, error }) => {
            Err(RequestRefusal::with_error(StatusCode::BAD_REQUEST, "message", error)
                .for_request(id.as_ref()))
        }
        ClientBody::Single(message) => answer_message(shared, (client, permit), parts, message).await,
        ClientBody::Batch(messages) => {
            let session = find_session(client, parts).await?;
            let has_request = messages.iter().any(|it| matches!(it, ClientMessage::Request { .. }));
            if has_request && shared.is_draining() {
                return Err(RequestRefusal::draining());
            }
            if session.revision.as_str() != "2025-03-26" || messages.is_empty() {
                let reason = "a batch is not allowed in this revision, and never empty";
                return Err(RequestRefusal::new(StatusCode::BAD_REQUEST, "message", reason));
            }
            answer_messages(shared, (&session, client), messages, permit).await
        }
    }
}

async fn answer_message(
    shared: &Arc<DoorShared>,
    (client, permit): (&EndpointClient, LoadPermit),
    parts: &Parts,
    message: ClientMessage,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let (id, method, params) = match message {
        ClientMessage::Request { id, method, params } => (Some(id), method, params),
        ClientMessage::Notification { method, params } => (None, method, params),
        ClientMessage::Response { id, outcome } => {
            let session = find_session(client, parts).await?;
            if let Some(id) = id {
                receive_answer(&session, &id, outcome).await?;
            }
            return Ok(empty_response(StatusCode::ACCEPTED));
        }
        ClientMessage::Invalid { id, error } => {
            let refusal = RequestRefusal::with_error(StatusCode::BAD_REQUEST, "message", error);
            return Err(refusal.for_request(id.as_ref()));
        }
    };
    let (sessions, identity) = (&client.endpoint.sessions, &client.identity);
    let trace = TraceHeaders::read(&parts.headers);
    let meta = EraMeta::parse(params.as_ref());
    let with_id = |refusal: RequestRefusal| refusal.for_request(id.as_ref());
    if id.is_some() && shared.is_draining() {
        return Err(with_id(RequestRefusal::draining()));
    }
    if is_new_era(parts, &method, &meta) {
        check_version(&parts.headers, &meta, id.is_some()).map_err(with_id)?;
        check_routing(&parts.headers, &method, params.as_ref()).map_err(with_id)?;
        let Some(id) = id else { return Ok(empty_response(StatusCode::ACCEPTED)) };
        if REMOVED.contains(&&*method) {
            let error = RpcError::new(METHOD_NOT_FOUND, "the method does not exist in this revision");
            let refusal = RequestRefusal::with_error(StatusCode::NOT_FOUND, "method", error);
            return Err(refusal.for_request(Some(&id)));
        }
        let session = sessions.principal_session(identity, &method, params.as_ref());
        if &*method == "tools/call" {
            check_params(&parts.headers, &session, params.as_ref())
                .map_err(|refusal| refusal.for_request(Some(&id)))?;
        }
        let request = ClientRequest { id, method, params, identity: Arc::clone(identity), trace };
        return Ok(answer_request(shared, ClientSession::New(session), request, permit).await);
    }
    match id {
        Some(id) if &*method == "initialize" => {
            let request = ClientRequest { id, method, params, identity: Arc::clone(identity), trace };
            open_session(shared, &client.endpoint, request, permit).await
        }
        Some(id) => {
            let session = find_session(client, parts).await;
            let session = session.map_err(|refusal| refusal.for_request(Some(&id)))?;
            let request = ClientRequest { id, method, params, identity: Arc::clone(identity), trace };
            Ok(answer_request(shared, ClientSession::Old(session), request, permit).await)
        }
        None => {
            receive_notice(&*find_session(client, parts).await?, method, params.as_ref());
            Ok(empty_response(StatusCode::ACCEPTED))
        }
    }
}

/// Whether a message is of the new era: by its version, or by a method that only the new era has.
fn is_new_era(parts: &Parts, method: &str, meta: &EraMeta) -> bool {
    let header = parts.headers.get(VERSION).and_then(|version| version.to_str().ok()).map(str::trim);
    let is_new_version = header == Some(ProtocolVersion::NEW.as_str());
    let has_session = parts.headers.contains_key(SESSION_ID);
    meta.version.is_some() || is_new_version || (!has_session && method == "server/discover")
}

async fn open_session(
    shared: &Arc<DoorShared>,
    endpoint: &Endpoint,
    request: ClientRequest,
    permit: LoadPermit,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let opened = endpoint.sessions.open_session(&request.identity, request.params.as_ref());
    let Some(session) = opened else {
        let error = RpcError::new(INTERNAL, "the system gives no random numbers");
        return Err(RequestRefusal::with_error(StatusCode::INTERNAL_SERVER_ERROR, "random", error));
    };
    let client = ClientSession::Old(Arc::clone(&session));
    let mut response = answer_request(shared, client, request, permit).await;
    if !session.session.has_handshake() {
        // The handshake failed, so there is no session.
        endpoint.sessions.forget_session(&session);
        return Ok(response);
    }
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(SESSION_ID, id);
    }
    Ok(response)
}

/// Answers the messages of a batch.
async fn answer_messages(
    shared: &Arc<DoorShared>,
    (session, client): (&Arc<HttpSession>, &EndpointClient),
    messages: Vec<ClientMessage>,
    permit: LoadPermit,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let (mut requests, mut refused) = (Vec::new(), Vec::new());
    // The permit of the POST is that of the first request.
    let mut permit = Some(permit);
    for message in messages {
        match message {
            ClientMessage::Request { id, method, params } => {
                let admit =
                    || client.check_rate().and_then(|()| shared.guard.admit(&client.identity.account));
                let identity = Arc::clone(&client.identity);
                match permit.take().map_or_else(admit, Ok) {
                    Ok(permit) => {
                        // Headers belong to the whole batch; each of its requests has a `_meta` of its own.
                        let trace = TraceHeaders::default();
                        requests.push((ClientRequest { id, method, params, identity, trace }, permit));
                    }
                    Err(refusal) => {
                        shared.metrics.count_refusal(refusal.reason);
                        refused.push(encode_error_message(Some(&id), &refusal.error));
                    }
                }
            }
            ClientMessage::Notification { method, params } => {
                receive_notice(session, method, params.as_ref());
            }
            ClientMessage::Response { id: Some(id), outcome } => {
                receive_answer(session, &id, outcome).await?
            }
            ClientMessage::Invalid { id, error } => refused.push(encode_error_message(id.as_ref(), &error)),
            ClientMessage::Response { id: None, .. } => {}
        }
    }
    Ok(match requests.is_empty() && refused.is_empty() {
        true => empty_response(StatusCode::ACCEPTED),
        false => answer_batch(shared, session, requests, refused),
    })
}

/// Passes the answer of a client to the question that waits for it, here or at another gateway.
async fn receive_answer(
    session: &HttpSession,
    id: &Id,
    outcome: Result<RawJson, RpcError>,
) -> Result<(), RequestRefusal> {
    let asked_by = OpenQuestions::gateway_of(id).map(|(gateway, number)| (InstanceId(gateway), number));
    match (session.session.serving_gateway().cluster(), asked_by) {
        (Some(link), Some((gateway, question))) if gateway != link.instance() => {
            forward_answer(session, link, (gateway, question), outcome).await
        }
        _ => {
            session.questions.answer_question(id, outcome);
            Ok(())
        }
    }
}

/// Sends an answer to the gateway that asks. The id comes from the client, so only a gateway that runs gets a message.
async fn forward_answer(
    session: &HttpSession,
    link: &ClusterLink,
    (gateway, question): (InstanceId, u64),
    outcome: Result<RawJson, RpcError>,
) -> Result<(), RequestRefusal> {
    match link.member.find_status(gateway).await {
        MemberStatus::Alive => {}
        // Like the answer to a question that nothing waits for.
        MemberStatus::Gone => return Ok(()),
        MemberStatus::Unknown => return Err(RequestRefusal::unreachable()),
    }
    if outcome.as_ref().is_ok_and(|result| result.as_bytes().len() > CLUSTER_ANSWER_BYTES) {
        let reason = format!("an answer to another gateway is at most {CLUSTER_ANSWER_BYTES} bytes long");
        return Err(RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "answer_size", &reason));
    }
    let answer = ForwardedAnswer {
        principal: session.principal.to_string(),
        view: session.session.view_name().map(str::to_owned),
        session: session.id.to_string(),
        question,
        outcome: RequestOutcome::from_result(&outcome),
    };
    let sent = link.send_message(gateway, &ClusterMessage::Answer(answer)).await;
    sent.map_err(|_| RequestRefusal::unreachable())
}

/// Passes a notification to the session, also at other gateways if it may concern them.
pub(crate) fn receive_notice(session: &HttpSession, method: Box<str>, params: Option<&RawJson>) {
    let is_done = apply_notice(session, method.clone(), params.cloned());
    let served = &session.session;
    let (false, Some(link), Some(http)) =
        (is_done, served.serving_gateway().cluster(), served.http_identity())
    else {
        return;
    };
    // Of the parameters only the id of the canceled request concerns others.
    let request = params.and_then(|params| params.member("requestId"));
    let params = match request {
        Some(id) if id.as_bytes().len() > DOOR_EVENT_REQUEST_BYTES => return,
        Some(id) => to_raw_value(&RawJson::from_text(&format!(r#"{{"requestId":{}}}"#, id.as_str()))),
        None => None,
    };
    let (session, method) = (http.key.to_string(), method.into());
    link.announce_news(&ClusterNews::Notice { from: link.instance(), session, method, params });
}

/// Applies a notification to the session; a cancellation ends the request that it names. Returns whether no other
/// gateway needs to know of it.
pub(crate) fn apply_notice(session: &HttpSession, method: Box<str>, params: Option<RawJson>) -> bool {
    let is_done = match (&*method, &params) {
        ("notifications/cancelled", Some(params)) => {
            params.member("requestId").is_none_or(|id| session.cancel_request(&id))
        }
        // The gateway with the client's stream asks for the roots.
        ("notifications/initialized" | "notifications/roots/list_changed", _) => !session.session.has_roots(),
        _ => true,
    };
    session.session.handle_notice(Notice { method, params, cause: Cause::Connection });
    is_done
}

/// The session that a request names.
async fn find_session(client: &EndpointClient, parts: &Parts) -> Result<Arc<HttpSession>, RequestRefusal> {
    let mut ids = parts.headers.get_all(SESSION_ID).iter();
    let (Some(id), None) = (ids.next(), ids.next()) else {
        let reason = "`Mcp-Session-Id` is required: begin with `initialize`";
        return Err(RequestRefusal::new(StatusCode::BAD_REQUEST, "session", reason));
    };
    if let Some(version) = parts.headers.get(VERSION) {
        let version = version.to_str().unwrap_or_default().trim();
        if ProtocolVersion::parse_old(version).is_none() {
            return Err(unsupported_version(version));
        }
    }
    let id = id.to_str().unwrap_or_default();
    let sessions = &client.endpoint.sessions;
    let refuse_miss = |miss| {
        let message = "the session is unknown or has ended: begin with `initialize`";
        match miss {
            SessionMiss::Unknown => RequestRefusal::new(StatusCode::NOT_FOUND, "session", message),
            SessionMiss::OtherPrincipal => {
                RequestRefusal::new(StatusCode::NOT_FOUND, "session_of_another", message)
                    .with_misuse(Some(&client.identity))
            }
            SessionMiss::NotOpened => RequestRefusal::new(StatusCode::NOT_FOUND, STATE_MISUSE, message)
                .with_misuse(Some(&client.identity)),
        }
    };
    let session = sessions.find_session(id, &client.identity).map_err(refuse_miss)?;
    match sessions.is_loaded(&session).await {
        true => Ok(session),
        false => Err(refuse_miss(SessionMiss::Unknown)),
    }
}

/// Answers the GET of a stream, or the DELETE of a session.
pub(crate) async fn answer_get_or_delete(
    client: &EndpointClient,
    parts: &Parts,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let is_new = parts.headers.get(VERSION).is_some_and(|version| version == ProtocolVersion::NEW.as_str());
    if is_new && !parts.headers.contains_key(SESSION_ID) {
        return Err(RequestRefusal::method("POST"));
    }
    let session = find_session(client, parts).await?;
    if parts.method == Method::DELETE {
        client.endpoint.sessions.delete_session(&session);
        return Ok(empty_response(StatusCode::OK));
    }
    if !parts.headers.contains_key(hyper::header::ACCEPT) || !accepts(parts, "text/event-stream") {
        let reason = "`Accept` must include `text/event-stream`";
        return Err(RequestRefusal::new(StatusCode::NOT_ACCEPTABLE, "accept", reason));
    }
    let last = parts.headers.get(LAST_EVENT).and_then(|last| last.to_str().ok());
    match last.and_then(EventId::parse) {
        Some(last) => resume_stream(&session, &last).await,
        None => {
            session.session.ask_for_missing_roots();
            let opening = Bytes::from_static(b"retry: 1000\n\n");
            Ok(event_response(DoorBody::from_stream(Arc::clone(&session.channel), opening)))
        }
    }
}

/// Resumes the stream of an event. If its events are gone, the request is answered with an error: whether it
/// was executed is unknown.
async fn resume_stream(
    session: &Arc<HttpSession>,
    last: &EventId,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let stream = session.find_stream(last.stream);
    let body = stream.and_then(|stream| DoorBody::resume_stream(stream, last.event).ok());
    match (body, &last.request) {
        (Some(body), _) => Ok(event_response(body)),
        (None, None) => Ok(event_response(DoorBody::from_stream(Arc::clone(&session.channel), Bytes::new()))),
        (None, Some(request)) => {
            if let Some(stream) = resume_elsewhere(session, last, request).await? {
                session.add_stream(&stream);
                return Ok(event_response(DoorBody::from_stream(stream, Bytes::new())));
            }
            let stream = Arc::new(DoorStream::new(StreamKind::Bound, None));
            push_lost_response(&stream, request);
            Ok(event_response(DoorBody::from_stream(stream, Bytes::new())))
        }
    }
}
