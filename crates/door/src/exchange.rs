//! Answers one request of a client over HTTP.
//!
//! An answer starts as one JSON message. It becomes an event stream at the first notification or question,
//! or after a while. Dropping the future of the JSON phase cancels the request; the stream of a client of the
//! old era goes on for a while after its connection was lost.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Response, StatusCode};
use mcparley::pool::principal::ClientIdentity;
use mcparley_model::limits::DOOR_STREAM_AFTER;
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::served_message::ResponseParts;
use mcparley_wire::{
    Cause, Incoming, JsonPieces, METHOD_NOT_FOUND, RawJson, Replies, RpcError, UNSUPPORTED_VERSION,
};
use serde_json::{Value, json};

use crate::body::DoorBody;
use crate::event_stream::{DoorStream, StreamKind, StreamStart};
use crate::guard::load::LoadPermit;
use crate::http_session::{HttpSession, RunningRequest};
use crate::metrics::CallTimer;
use crate::question::StreamSink;
use crate::reply::{empty_response, event_response, message_response, retry_response};
use crate::shared::DoorShared;
use mcparley_gateway::TraceHeaders;
use mcparley_gateway::cluster_link::is_unreachable_error;
use mcparley_gateway::{GatewaySession, OutcomeSlot};

/// Error code: the request needs a capability that the client did not declare.
const MISSING_CAPABILITY: i64 = -32021;

/// The outcome of a call without a client that waits for it, as in the audit log.
const CANCELLED: &str = "cancelled";

/// A request with its id and its client.
#[derive(Debug)]
pub(crate) struct ClientRequest {
    pub(crate) id: RawJson,
    pub(crate) method: Box<str>,
    pub(crate) params: Option<RawJson>,
    /// The identity that was verified for the request.
    pub(crate) identity: Arc<ClientIdentity>,
    /// The trace context in headers.
    pub(crate) trace: TraceHeaders,
}

/// The client that a request is answered for.
#[derive(Debug)]
pub(crate) enum ClientSession {
    /// A client of the old era.
    Old(Arc<HttpSession>),
    /// A principal of the new era.
    New(GatewaySession),
}

/// A request that is being answered.
pub(crate) struct RunningAnswer {
    answer: BoxedFuture<'static, Result<JsonPieces, RpcError>>,
    id: RawJson,
    pub(crate) stream: Arc<DoorStream>,
    is_listen: bool,
    call: Option<CallTimer>,
    outcome: OutcomeSlot,
    shared: Arc<DoorShared>,
    _running: Option<RunningRequest>,
}

enum FirstPhase {
    Answered(Result<JsonPieces, RpcError>),
    Stream,
    Canceled,
}

impl ClientSession {
    fn gateway_session(&self) -> &GatewaySession {
        match self {
            Self::Old(http) => &http.session,
            Self::New(session) => session,
        }
    }
}

impl ClientSession {
    /// The stream of a request. In a cluster its events name this gateway.
    fn new_stream(&self, kind: StreamKind, id: &RawJson) -> DoorStream {
        let stream = DoorStream::new(kind, Some(id));
        let session = self.gateway_session();
        match (session.serving_gateway().cluster(), session.http_identity()) {
            (Some(link), Some(http)) => stream.in_cluster(link, &http.key),
            _ => stream,
        }
    }
}

impl RunningAnswer {
    /// Starts to answer a request, with its replies on `stream`, or on a stream of its own.
    pub(crate) fn start(
        shared: &Arc<DoorShared>,
        client: &ClientSession,
        request: ClientRequest,
        stream: Option<Arc<DoorStream>>,
    ) -> Self {
        let ClientRequest { id, method, params, identity, trace } = request;
        let (kind, questions) = match client {
            ClientSession::Old(http) => (http.stream_kind(), Some(Arc::clone(&http.questions))),
            ClientSession::New(_) => (StreamKind::Bound, None),
        };
        let own = Arc::new(client.new_stream(kind, &id));
        let running = match client {
            ClientSession::Old(http) => Some(http.register_request(&id, &own)),
            ClientSession::New(_) => None,
        };
        let stream = stream.unwrap_or_else(|| Arc::clone(&own));
        let sink = StreamSink { stream: Arc::clone(&stream), questions, needs_reader: false };
        let outcome = OutcomeSlot::default();
        let session = client.gateway_session().for_request(&identity).with_outcome_slot(&outcome);
        let call = CallTimer::start(&session, &method, params.as_ref());
        let is_listen = &*method == "subscriptions/listen";
        let replies = Replies::new(Arc::new(sink));
        let incoming = Incoming { id: id.clone(), method, params, cause: Cause::Connection, replies };
        let answer = session.answer_in_span(incoming, &trace);
        let shared = Arc::clone(shared);
        Self { answer, id, stream: own, is_listen, call, outcome, shared, _running: running }
    }

    /// Waits for the answer until the response has to become a stream.
    async fn run_first_phase(&mut self) -> FirstPhase {
        tokio::select! {
            // First, because a finished answer cannot be canceled.
            biased;
            outcome = &mut self.answer => FirstPhase::Answered(outcome),
            start = self.stream.wait_for_start() => match start {
                StreamStart::Event => FirstPhase::Stream,
                StreamStart::Closed => FirstPhase::Canceled,
            },
            () = tokio::time::sleep(DOOR_STREAM_AFTER) => FirstPhase::Stream,
        }
    }

    /// Drives the answer to its end, and pushes the response to `to`. Ends early if the client is gone.
    pub(crate) async fn run_to_stream(mut self, to: &DoorStream) {
        let outcome = tokio::select! {
            biased;
            outcome = &mut self.answer => Some(outcome),
            () = self.stream.wait_until_gone() => None,
            () = self.shared.wait_for_drain(), if self.is_listen => Some(Ok(listen_result(&self.id).into())),
        };
        match outcome {
            Some(outcome) => {
                to.push_response(self.finish(outcome));
            }
            None => self.record_end(CANCELLED),
        }
    }

    /// Counts a call, once.
    fn record_end(&mut self, outcome: &'static str) {
        if let Some(call) = self.call.take() {
            call.record_end(&self.shared.metrics, outcome);
        }
    }

    fn finish(&mut self, outcome: Result<JsonPieces, RpcError>) -> ResponseParts {
        let word = self.outcome.outcome_word();
        self.record_end(word.unwrap_or(if outcome.is_ok() { "ok" } else { "failed" }));
        match outcome {
            Ok(result) => ResponseParts::from_pieces(&self.id, result),
            Err(error) => ResponseParts::from_error(&self.id, &error),
        }
    }
}

impl Drop for RunningAnswer {
    fn drop(&mut self) {
        self.record_end(CANCELLED);
    }
}

/// Answers a request, as JSON or as an event stream.
pub(crate) async fn answer_request(
    shared: &Arc<DoorShared>,
    client: ClientSession,
    request: ClientRequest,
    permit: LoadPermit,
) -> Response<DoorBody> {
    let mut running = RunningAnswer::start(shared, &client, request, None);
    let stream = Arc::clone(&running.stream);
    match running.run_first_phase().await {
        FirstPhase::Canceled => return empty_response(StatusCode::ACCEPTED),
        FirstPhase::Answered(outcome) => {
            let is_new = matches!(client, ClientSession::New(_));
            let status = match &outcome {
                Err(error) if is_unreachable_error(error) => StatusCode::SERVICE_UNAVAILABLE,
                outcome if is_new => new_era_status(outcome),
                _ => StatusCode::OK,
            };
            let parts = running.finish(outcome);
            if !stream.has_messages() {
                return retry_response(message_response(status, DoorBody::from_parts(parts)));
            }
            stream.push_response(parts);
            stream.end();
        }
        FirstPhase::Stream => {
            let stream = Arc::clone(&stream);
            // A subscription lasts as long as its client.
            let (permit, mark) = match running.is_listen {
                true => (None, Some(permit.into_subscription())),
                false => (Some(permit), None),
            };
            shared.tasks.spawn_task(async move {
                running.run_to_stream(&stream).await;
                stream.end();
                drop((permit, mark));
            });
        }
    }
    if let ClientSession::Old(http) = &client {
        http.add_stream(&stream);
    }
    event_response(DoorBody::from_stream(stream, Bytes::new()))
}

/// Answers the requests of a batch on one event stream, which begins with the responses to refused members.
pub(crate) fn answer_batch(
    shared: &Arc<DoorShared>,
    http: &Arc<HttpSession>,
    requests: Vec<(ClientRequest, LoadPermit)>,
    refused: Vec<Bytes>,
) -> Response<DoorBody> {
    let stream = Arc::new(DoorStream::new(StreamKind::Bound, None));
    let client = ClientSession::Old(Arc::clone(http));
    let mut answers = tokio::task::JoinSet::new();
    for response in refused {
        let _open = stream.push_request(response);
    }
    for (request, permit) in requests {
        let running = RunningAnswer::start(shared, &client, request, Some(Arc::clone(&stream)));
        let stream = Arc::clone(&stream);
        answers.spawn(async move {
            running.run_to_stream(&stream).await;
            drop(permit);
        });
    }
    let shared_stream = Arc::clone(&stream);
    shared.tasks.spawn_task(async move {
        tokio::select! {
            () = async { while answers.join_next().await.is_some() {} } => {}
            () = shared_stream.wait_until_gone() => {}
        }
        shared_stream.end();
    });
    event_response(DoorBody::from_stream(stream, Bytes::new()))
}

/// The HTTP status of an answer of the new era.
fn new_era_status(outcome: &Result<JsonPieces, RpcError>) -> StatusCode {
    match outcome.as_ref().map_err(|error| error.code) {
        Err(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Err(MISSING_CAPABILITY | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        Ok(_) | Err(_) => StatusCode::OK,
    }
}

/// The result of a subscription that the gateway ends.
fn listen_result(id: &RawJson) -> RawJson {
    let id: Value = id.decode().unwrap_or_default();
    let result = json!({
        "resultType": "complete",
        "_meta": { "io.modelcontextprotocol/subscriptionId": id },
    });
    RawJson::from_value(&result).unwrap_or_else(|_| RawJson::from_text("{}"))
}
