//! One durable call: attaches to a server as a client would, inside the daemon, and calls the tool.
//!
//! The client has left, so questions of the server are canceled and sampling is refused. Its roots are answered as the
//! client gave them.

use std::sync::Arc;
use std::time::Duration;

use mcparley::model::config::Era;
use mcparley::model::text::display_line;
use mcparley::pool::attach::protocol::AttachRequest;
use mcparley_model::limits::{DOWNLOAD_TIME, ROUNDS};
use mcparley_wire::handshake::{self, EstablishedConnection, Introduction, ServerConnector};
use mcparley_wire::peer::{BoxedFuture, Handler, PeerCallOptions, ProgressReceiver, progress_channel};
use mcparley_wire::transport::attached::{AttachedProcess, AttachedTransport};
use mcparley_wire::transport::stdio::Stderr;
use mcparley_wire::{
    AgreedProtocol, Failure, FailurePhase, Incoming, InputRequest, METHOD_NOT_FOUND, Notice, RawJson,
    RequestParams, RequiredInput, RoundOutcome, RpcError,
};
use serde_json::{Map, Value, json};
use tokio::io::{DuplexStream, duplex};

use crate::channel::{ChannelClient, serve_channel};
use crate::copy_table::{CopyTable, GrantedCopy};
use crate::server_copy::CopyPhase;
use crate::share_facts::ShareFacts;
use crate::task_record::{TaskEnd, TaskRequest};

/// The bytes between both ends of the channel. A sender waits while it is full.
const CHANNEL_BYTES: usize = 64 * 1024;

/// The number of copies of the server that are tried before the call is sent.
const ATTEMPTS: usize = 3;

/// The code of the protocol for a request that the user has rejected.
const REJECTED: i64 = -1;

/// Calls the tool, and returns how the call ended. Dropping the future cancels it at the server.
pub(crate) async fn call_tool(
    table: &Arc<CopyTable>,
    facts: &Arc<ShareFacts>,
    request: &TaskRequest,
) -> TaskEnd {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match try_call(table, facts, request).await {
            Ok(result) => return TaskEnd::Completed(result.as_str().to_owned()),
            Err(TaskFailure::Sent(reason)) => return TaskEnd::Failed(reason),
            Err(TaskFailure::NotSent(reason)) => last = reason,
        }
    }
    TaskEnd::Failed(last)
}

/// The reason why a call has no result.
enum TaskFailure {
    /// The call was not sent: it may be tried with another copy of the server.
    NotSent(String),
    /// The call was sent, or will fail with every copy.
    Sent(String),
}

impl TaskFailure {
    /// The failure of this round of the call.
    fn from_failure(failure: &Failure, round: u32) -> Self {
        match failure {
            Failure::Closed { sent: false, .. } if round == 0 => Self::NotSent(failure.to_string()),
            Failure::ErrorResponse(_) => Self::Sent(failure.to_string()),
            _ => Self::Sent(format!("{failure}; it may have taken effect")),
        }
    }
}

async fn try_call(
    table: &Arc<CopyTable>,
    facts: &Arc<ShareFacts>,
    request: &TaskRequest,
) -> Result<RawJson, TaskFailure> {
    let attach = AttachRequest { pid: std::process::id(), ..request.attach.clone() };
    let GrantedCopy { copy, mut usage, client, .. } = table.copy_for(attach, facts).await;
    // No log of a project is written here, so another client of the project has to.
    usage.leave_logging();
    if tokio::time::timeout(DOWNLOAD_TIME, copy.wait_until_ready()).await.is_err() {
        return Err(TaskFailure::Sent(format!("the server did not start within {DOWNLOAD_TIME:?}")));
    }
    let Some(protocol) = copy.protocol() else {
        return Err(match &*copy.follow_phase().borrow() {
            CopyPhase::Failed(reason) => TaskFailure::Sent(format!("the server cannot be started: {reason}")),
            CopyPhase::Starting | CopyPhase::Ready(_) | CopyPhase::Ended(_) => {
                TaskFailure::NotSent("the server has ended".to_owned())
            }
        });
    };
    let (near, far) = duplex(CHANNEL_BYTES);
    let (input, output) = tokio::io::split(far);
    let client = ChannelClient {
        id: client,
        facts: Arc::clone(facts),
        table: Arc::clone(table),
        stderr: None,
        logs: usage.logs.clone(),
        lists: None,
    };
    let mut serving = Box::pin(serve_channel(&copy, client, input, output));
    let may_stay = || table.may_keep(&copy, facts);
    let mut calling = Box::pin(call_over_channel(near, protocol, request, may_stay));
    let mut is_served = true;
    loop {
        tokio::select! {
            biased;
            done = &mut calling => return done,
            // The end of the channel reaches the caller through its stream.
            () = &mut serving, if is_served => is_served = false,
        }
    }
}

/// Speaks MCP on the channel: handshake, then the call, if the copy of the server is still one for this client.
async fn call_over_channel(
    stream: DuplexStream,
    protocol: AgreedProtocol,
    request: &TaskRequest,
    may_stay: impl Fn() -> bool,
) -> Result<RawJson, TaskFailure> {
    let era = match protocol {
        AgreedProtocol::Old(_) => Era::Old,
        AgreedProtocol::New => Era::New,
    };
    let introduction = Introduction {
        info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: task_capabilities(&request.attach.capabilities, protocol),
    };
    let client = AbsentClient { roots: RawJson::from_value(&json!({ "roots": request.attach.roots })).ok() };
    let mut connector = ChannelConnector { stream: Some(stream), client: client.clone() };
    let limit = Duration::from_millis(request.limit_ms);
    let connected = handshake::connect(&mut connector, era, &introduction, limit.min(DOWNLOAD_TIME)).await;
    let EstablishedConnection { link: _link, session } =
        connected.map_err(|failure| TaskFailure::NotSent(failure.to_string()))?;
    if !may_stay() {
        return Err(TaskFailure::NotSent("the server turned out to need a copy for each client".to_owned()));
    }
    let arguments = RawJson::parse(&request.arguments)
        .map_err(|error| TaskFailure::Sent(format!("the arguments are not JSON: {error}")))?;
    let params = RequestParams::new().with_member("name", &request.tool).with_raw("arguments", &arguments);
    let params =
        request.meta.iter().fold(params, |params, (name, value)| params.with_meta(name, value.clone()));
    let mut next = params.clone();
    for round in 0..ROUNDS {
        let (reports, progress) = progress_channel();
        let options = PeerCallOptions { progress: Some(reports), ..PeerCallOptions::default() };
        let sent = session.prepare_request();
        let answer = Box::pin(session.call_round(sent, ("tools/call", &next), options));
        match run_while_progressing(answer, progress, limit).await {
            Ok(RoundOutcome::Complete(result)) => return Ok(result),
            Ok(RoundOutcome::InputRequired(wanted)) => {
                next = client.fulfill_input(params.clone(), &wanted)?
            }
            Ok(RoundOutcome::Task(_)) => {
                return Err(TaskFailure::Sent(
                    "the server made it a task of its own, without being asked".to_owned(),
                ));
            }
            Err(failure) => return Err(TaskFailure::from_failure(&failure, round)),
        }
    }
    Err(TaskFailure::Sent(format!("the server required input more than {ROUNDS} times")))
}

/// Waits for the answer; the time limit starts again with each progress of the server.
async fn run_while_progressing(
    mut answer: impl Future<Output = Result<RoundOutcome, Failure>> + Unpin,
    mut progress: ProgressReceiver,
    limit: Duration,
) -> Result<RoundOutcome, Failure> {
    let mut is_open = true;
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            update = progress.next_update(), if is_open => is_open = update.is_some(),
            () = tokio::time::sleep(limit) => {
                return Err(Failure::TimedOut { phase: FailurePhase::Answering, after: limit });
            }
        }
    }
}

/// The capabilities of a client that has left: roots, and in the old era questions, which are canceled. In the new era
/// a server is told with each call, and need not ask. Tasks of the server are followed by its host.
fn task_capabilities(client: &Value, protocol: AgreedProtocol) -> Value {
    let kept: &[&str] = match protocol {
        AgreedProtocol::Old(_) => &["roots", "elicitation", "sampling"],
        AgreedProtocol::New => &["roots"],
    };
    let members = kept.iter().filter_map(|name| Some(((*name).to_owned(), client.get(name)?.clone())));
    Value::Object(members.collect())
}

/// Opens the channel, once.
struct ChannelConnector {
    stream: Option<DuplexStream>,
    client: AbsentClient,
}

impl ServerConnector for ChannelConnector {
    type Link = AttachedTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<AttachedTransport, Failure>> {
        let stream = self.stream.take().ok_or(Failure::Closed { exit: None, sent: false });
        let handler = Arc::new(self.client.clone());
        let process = AttachedProcess { copy: 0, id: None };
        let opened = stream.map(|stream| {
            AttachedTransport::start(tokio::io::split(stream), process, Stderr::default(), handler)
        });
        Box::pin(std::future::ready(opened))
    }
}

/// Answers the requests of a server in place of a client that has left.
#[derive(Clone)]
struct AbsentClient {
    /// The result of `roots/list`.
    roots: Option<RawJson>,
}

impl AbsentClient {
    fn answer_request(&self, method: &str) -> Result<RawJson, RpcError> {
        let unknown = || RpcError::new(METHOD_NOT_FOUND, "method not found");
        match method {
            "ping" => Ok(RawJson::from_text("{}")),
            "roots/list" => self.roots.clone().ok_or_else(unknown),
            "elicitation/create" => Ok(RawJson::from_text(r#"{"action":"cancel"}"#)),
            "sampling/createMessage" => {
                Err(RpcError::new(REJECTED, "the call is detached: there is no user to ask"))
            }
            _ => Err(unknown()),
        }
    }

    /// The parameters of the next round, with the input that the server requires.
    fn fulfill_input(
        &self,
        mut params: RequestParams,
        wanted: &RequiredInput,
    ) -> Result<RequestParams, TaskFailure> {
        let mut responses = Map::new();
        for InputRequest { key, method, .. } in &wanted.requests {
            let answer = self.answer_request(method).ok().and_then(|answer| answer.decode::<Value>().ok());
            let answer = answer.ok_or_else(|| {
                TaskFailure::Sent(format!(
                    "the server requires `{}`, and its client has left",
                    display_line(method)
                ))
            })?;
            responses.insert(key.clone(), answer);
        }
        if !responses.is_empty() {
            params = params.with_member("inputResponses", &responses);
        }
        Ok(match &wanted.state {
            Some(state) => params.with_raw("requestState", state),
            None => params,
        })
    }
}

impl Handler for AbsentClient {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(std::future::ready(self.answer_request(&incoming.method)))
    }

    fn handle_notice(&self, _notice: Notice) {}
}
