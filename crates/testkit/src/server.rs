//! The MCP server behind both transports: answers one request, with a fault if a script says so.
//!
//! Correct behavior is in [`greeting`], [`lists`] and [`tools`], faults are in [`ahead`] and [`damage`];
//! faults of bytes, connections or the process are up to the transports.

mod ahead;
mod calls;
mod damage;
mod greeting;
mod lists;
mod logging;
mod questions;
mod refusal;
mod subscriptions;
mod tasks;
mod tools;

pub(crate) use calls::{RunningCalls, ScriptedCall};
pub(crate) use damage::sized_body;
pub(crate) use greeting::negotiate_version;
pub(crate) use refusal::RpcRefusal;

use crate::life;
use crate::message::ClientMessage;
use crate::options::{NEW, Options, RequestedScripts};
use crate::raw::RawBytes;
use logging::ServerLogging;
use mcparley_testkit::Name;
use questions::PendingQuestions;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use subscriptions::OpenSubscriptions;
use tasks::ServerTasks;

/// The state of a server, shared by its connections.
#[derive(Debug)]
pub(crate) struct ScriptedServer {
    pub(crate) options: Options,
    pub(crate) calls: Arc<RunningCalls>,
    pub(crate) subscriptions: OpenSubscriptions,
    questions: PendingQuestions,
    tasks: ServerTasks,
    logging: ServerLogging,
    /// The number of requests that may still get faults.
    left: AtomicU64,
}

/// The destination of messages that are not replies.
pub(crate) trait MessageSink: Send + Sync {
    /// Sends messages, each ended by a newline.
    fn send_lines(&self, lines: &[u8]) -> io::Result<()>;

    /// Whether the client has abandoned this request by closing its stream.
    fn is_closed(&self) -> bool;

    /// Ends the stream, where each request has its own.
    fn end_stream(&self) -> io::Result<()> {
        Ok(())
    }
}

/// One request with its transport context.
pub(crate) struct Request<'a> {
    pub(crate) message: &'a ClientMessage,
    pub(crate) method: &'a str,
    pub(crate) id: &'a Value,
    pub(crate) due: DueFaults<'a>,
    /// Whether there has been a handshake.
    pub(crate) has_handshake: bool,
    pub(crate) running: &'a ScriptedCall,
    pub(crate) out: &'a Arc<dyn MessageSink>,
}

/// The scripts, if this request gets faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueFaults<'a>(Option<&'a RequestedScripts>);

/// The response to a request.
#[derive(Debug)]
pub(crate) enum ServerAnswer {
    /// No response, as long as the client waits.
    Silence,
    /// No response: the client has canceled the request.
    Cancelled,
    Reply(ServerReply),
}

/// A reply as it is sent.
#[derive(Debug)]
pub(crate) struct ServerReply {
    /// Messages that go out in the same write, each ended by a newline.
    pub(crate) ahead: Vec<u8>,
    pub(crate) body: RawBytes,
    pub(crate) copies: usize,
    /// The error code, if the reply is an error.
    pub(crate) code: Option<i64>,
}

/// The outcome of executing a request.
enum ServerOutcome {
    Result(Value),
    Refused(RpcRefusal),
    Silence,
    Cancelled,
}

/// The protocol era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestEra {
    Old,
    New,
}

impl ScriptedServer {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            left: AtomicU64::new(options.times),
            options,
            calls: Arc::default(),
            subscriptions: OpenSubscriptions::default(),
            questions: PendingQuestions::default(),
            tasks: ServerTasks::default(),
            logging: ServerLogging::default(),
        }
    }

    /// Decides whether a request gets faults; called once per request.
    pub(crate) fn claim_faults(&self, method: &str) -> DueFaults<'_> {
        let on = self.options.on.as_deref().unwrap_or("tools/call");
        if method != on && on != "any" {
            return DueFaults(None);
        }
        let less = |left: u64| left.checked_sub(1);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        DueFaults(taken.is_ok().then_some(&self.options.scripts))
    }

    /// Handles a notification, or the reply to a server request.
    pub(crate) fn handle_notification(&self, message: &ClientMessage, scope: &str) {
        match (message.method(), message.param("requestId")) {
            (None, _) => self.questions.deliver_reply(message),
            (Some("notifications/cancelled"), Some(id)) => {
                self.calls.cancel_call(scope, id);
                self.subscriptions.remove_stream(scope, id);
            }
            (Some(_), _) => {}
        }
    }

    /// Executes a request.
    pub(crate) fn answer_request(&self, request: &Request<'_>) -> io::Result<ServerAnswer> {
        if request.due.has(Name::CallExit) {
            life::exit_process(4);
        }
        if request.due.has(Name::CallHang) {
            return Ok(ServerAnswer::Silence);
        }
        if let Some(mode) = self.scripted_discovery(request.method) {
            return Ok(greeting::scripted_discovery(mode, request.id));
        }
        let outcome = match self.request_era(request) {
            Ok(era) => self.execute_request(request, era)?,
            Err(refusal) => ServerOutcome::Refused(refusal),
        };
        Ok(match outcome {
            ServerOutcome::Silence => ServerAnswer::Silence,
            ServerOutcome::Cancelled => ServerAnswer::Cancelled,
            ServerOutcome::Refused(refusal) => ServerAnswer::Reply(refusal.to_reply(request.id)),
            ServerOutcome::Result(result) => ServerAnswer::Reply(self.build_reply(request, result)?),
        })
    }

    /// The scripted response to `server/discover`, if there is one.
    pub(crate) fn scripted_discovery(&self, method: &str) -> Option<&str> {
        self.options.scripts.text(Name::Discover).filter(|_| method == "server/discover")
    }

    fn build_reply(&self, request: &Request<'_>, mut result: Value) -> io::Result<ServerReply> {
        if let Some(method) = request.due.text(Name::ServerRequest) {
            let text = self.questions.ask_client(request, method)?.to_string();
            result["content"] = tools::text_result(&text)["content"].take();
        }
        if let Some(kind) = request.due.text(Name::Asks) {
            let answer = match request.message.version() {
                Some(NEW) => request.message.param("inputResponses").cloned().unwrap_or_default(),
                Some(_) | None => self.questions.ask_for_input(request, kind)?,
            };
            result["content"] = tools::text_result(&answer.to_string())["content"].take();
        }
        ahead::send_storms(self, request)?;
        if let Some(manner) = request.due.text(Name::ListenEnd) {
            self.subscriptions.end_streams(manner)?;
        }
        Ok(ServerReply {
            ahead: ahead::flood_messages(request.due),
            body: damage::reply_body(request.due, request.id, &result),
            copies: if request.due.has(Name::Twice) { 2 } else { 1 },
            code: None,
        })
    }

    fn execute_request(&self, request: &Request<'_>, era: RequestEra) -> io::Result<ServerOutcome> {
        let options = &self.options;
        if options.scripts.text(Name::ListError) == Some(request.method) {
            return Ok(ServerOutcome::Refused(RpcRefusal::internal_error()));
        }
        if let Some(other) = self.scripted_outcome(request, era) {
            return Ok(other);
        }
        if let Some(about_a_task) = self.task_outcome(request, era)? {
            return Ok(about_a_task);
        }
        if options.scripts.has(Name::Logging) && request.method == "tools/call" {
            self.logging.send_messages(request, era)?;
        }
        let outcome = match (era, request.method) {
            (RequestEra::Old, "initialize") => {
                ServerOutcome::Result(greeting::initialize_result(options, request.message))
            }
            (RequestEra::Old, "ping") => ServerOutcome::Result(json!({})),
            (RequestEra::New, "server/discover") => ServerOutcome::Result(greeting::discover_result(options)),
            (RequestEra::New, "subscriptions/listen") => {
                lists::change_description(&options.scripts)?;
                self.subscriptions.open_stream(request, options.scripts.has(Name::Watched))?;
                ServerOutcome::Silence
            }
            (RequestEra::Old, "logging/setLevel") if options.scripts.has(Name::Logging) => {
                self.logging.set_level(request)
            }
            (_, "completion/complete") if options.scripts.has(Name::Completions) => {
                let count = options.scripts.number(Name::Completions).unwrap_or(0);
                ServerOutcome::Result(lists::completion_result(count, request.message))
            }
            (_, "tools/call") => tools::call_tool(&self.calls, request)?,
            (_, method) => match lists::list_result(&options.scripts, request.due, request.message, method) {
                Some(result) => ServerOutcome::Result(result),
                None => ServerOutcome::Refused(RpcRefusal::unknown_method(method)),
            },
        };
        Ok(match outcome {
            ServerOutcome::Result(result) if era == RequestEra::New => {
                ServerOutcome::Result(greeting::complete_result(options, request.method, result))
            }
            other => other,
        })
    }

    /// A scripted outcome that replaces the execution of a request.
    fn scripted_outcome(&self, request: &Request<'_>, era: RequestEra) -> Option<ServerOutcome> {
        if request.due.has(Name::RefuseVersion) {
            let asked = request.message.version().unwrap_or_default();
            return Some(ServerOutcome::Refused(RpcRefusal::unsupported_version(
                asked,
                &self.options.versions,
            )));
        }
        if let Some(url) = request.due.text(Name::UrlRequired) {
            return Some(ServerOutcome::Refused(RpcRefusal::url_required(questions::url_required_data(url))));
        }
        if era == RequestEra::Old {
            return None;
        }
        let asks = request.due.text(Name::Asks);
        let kind = match request.message.param("inputResponses") {
            Some(_) => request.due.text(Name::Wants),
            None => asks.or(request.due.text(Name::Wants)),
        }?;
        Some(ServerOutcome::Result(questions::input_required_result(kind, request.id)))
    }

    /// The era of a request, by its content and the revisions of this server.
    fn request_era(&self, request: &Request<'_>) -> Result<RequestEra, RpcRefusal> {
        let speaks_old = self.options.old_era_versions().next().is_some();
        match request.message.version() {
            Some(NEW) if self.options.supports_new_era() && request.message.has_capabilities() => {
                Ok(RequestEra::New)
            }
            Some(NEW) if self.options.supports_new_era() => {
                Err(RpcRefusal::invalid_params("no clientCapabilities in `_meta`"))
            }
            Some(version) if self.options.supports_new_era() => {
                Err(RpcRefusal::unsupported_version(version, &self.options.versions))
            }
            Some(_) | None if speaks_old => match request.needs_handshake() {
                true => Err(RpcRefusal::invalid_request("there has been no initialize")),
                false => Ok(RequestEra::Old),
            },
            Some(_) | None if request.method == "initialize" => {
                let offered = request.message.text("protocolVersion").unwrap_or_default();
                Err(RpcRefusal::unsupported_version(offered, &self.options.versions))
            }
            Some(_) | None => Err(RpcRefusal::invalid_params("no protocolVersion in `_meta`")),
        }
    }
}

impl Request<'_> {
    /// Whether the method needs a handshake; unknown methods are rejected as unknown, with or without one.
    fn needs_handshake(&self) -> bool {
        !self.has_handshake && (self.method == "tools/call" || lists::METHODS.contains(&self.method))
    }
}

impl<'a> DueFaults<'a> {
    pub(crate) fn has(self, name: Name) -> bool {
        self.0.is_some_and(|scripts| scripts.has(name))
    }

    pub(crate) fn number(self, name: Name) -> Option<u64> {
        self.0?.number(name)
    }

    pub(crate) fn text(self, name: Name) -> Option<&'a str> {
        self.0?.text(name)
    }
}

impl ServerReply {
    /// One undamaged message.
    pub(crate) fn from_message(value: &Value, code: Option<i64>) -> Self {
        Self { ahead: Vec::new(), body: RawBytes::from(value), copies: 1, code }
    }
}
