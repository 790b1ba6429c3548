//! The MCP server behind both transports: one request in, one answer out, damaged if a script says so.
//!
//! Correct behaviour lives in [`greeting`], [`lists`] and [`tools`], lies in [`ahead`] and [`damage`]; what
//! concerns bytes, connections or the process itself is done by the transports.

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

pub(crate) use calls::{Calls, Running};
pub(crate) use damage::sized;
pub(crate) use greeting::agreed;
pub(crate) use refusal::Refusal;

use crate::life;
use crate::message::Message;
use crate::options::{NEW, Options, Scripts};
use crate::raw::Raw;
use logging::Logging;
use mcparley_testkit::Name;
use questions::Questions;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use subscriptions::Subscriptions;
use tasks::Tasks;

/// What a server knows, for all its connections.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) calls: Arc<Calls>,
    pub(crate) subscriptions: Subscriptions,
    questions: Questions,
    tasks: Tasks,
    logging: Logging,
    /// How many requests may still be met with faults.
    left: AtomicU64,
}

/// Where messages go that are no reply.
pub(crate) trait Out: Send + Sync {
    /// Sends messages, each ended by a newline.
    fn send(&self, lines: &[u8]) -> io::Result<()>;

    /// Whether the client has given this request up by closing its stream.
    fn gone(&self) -> bool;

    /// Ends the stream, where each request has one.
    fn end(&self) -> io::Result<()> {
        Ok(())
    }
}

/// One request, and what the transport knows about it.
pub(crate) struct Request<'a> {
    pub(crate) message: &'a Message,
    pub(crate) method: &'a str,
    pub(crate) id: &'a Value,
    pub(crate) due: Due<'a>,
    /// Whether there has been a handshake.
    pub(crate) greeted: bool,
    pub(crate) running: &'a Running,
    pub(crate) out: &'a Arc<dyn Out>,
}

/// The scripts, if this very request is to be met with faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due<'a>(Option<&'a Scripts>);

/// What follows a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Nothing, as long as the client waits.
    Silence,
    /// Nothing: the client has taken the request back.
    Cancelled,
    Reply(Reply),
}

/// A reply as it goes on the wire.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Messages that go out in the same write, each ended by a newline.
    pub(crate) ahead: Vec<u8>,
    pub(crate) body: Raw,
    pub(crate) copies: usize,
    /// The code, if it is an error.
    pub(crate) code: Option<i64>,
}

/// What working on a request came to.
enum Outcome {
    Result(Value),
    Refused(Refusal),
    Silence,
    Cancelled,
}

/// How a request is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Old,
    New,
}

impl Server {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            left: AtomicU64::new(options.times),
            options,
            calls: Arc::default(),
            subscriptions: Subscriptions::default(),
            questions: Questions::default(),
            tasks: Tasks::default(),
            logging: Logging::default(),
        }
    }

    /// Decides whether a request is met with faults; asked once for each.
    pub(crate) fn due(&self, method: &str) -> Due<'_> {
        let on = self.options.on.as_deref().unwrap_or("tools/call");
        if method != on && on != "any" {
            return Due(None);
        }
        let less = |left: u64| left.checked_sub(1);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        Due(taken.is_ok().then_some(&self.options.scripts))
    }

    /// Takes a notification, or the answer to a question of ours.
    pub(crate) fn notice(&self, message: &Message, scope: &str) {
        match (message.method(), message.param("requestId")) {
            (None, _) => self.questions.deliver(message),
            (Some("notifications/cancelled"), Some(id)) => {
                self.calls.cancel(scope, id);
                self.subscriptions.forget(scope, id);
            }
            (Some(_), _) => {}
        }
    }

    /// Works on a request.
    pub(crate) fn answer(&self, request: &Request<'_>) -> io::Result<Answer> {
        if request.due.has(Name::CallExit) {
            life::end(4);
        }
        if request.due.has(Name::CallHang) {
            return Ok(Answer::Silence);
        }
        if let Some(mode) = self.discovered_otherwise(request.method) {
            return Ok(greeting::discover_otherwise(mode, request.id));
        }
        let outcome = match self.era(request) {
            Ok(era) => self.outcome(request, era)?,
            Err(refusal) => Outcome::Refused(refusal),
        };
        Ok(match outcome {
            Outcome::Silence => Answer::Silence,
            Outcome::Cancelled => Answer::Cancelled,
            Outcome::Refused(refusal) => Answer::Reply(refusal.to_reply(request.id)),
            Outcome::Result(result) => Answer::Reply(self.reply(request, result)?),
        })
    }

    /// How `server/discover` is to be met, if a script says so.
    pub(crate) fn discovered_otherwise(&self, method: &str) -> Option<&str> {
        self.options.scripts.text(Name::Discover).filter(|_| method == "server/discover")
    }

    fn reply(&self, request: &Request<'_>, mut result: Value) -> io::Result<Reply> {
        if let Some(method) = request.due.text(Name::ServerRequest) {
            let text = self.questions.ask(request, method)?.to_string();
            result["content"] = tools::text(&text)["content"].take();
        }
        ahead::storms(self, request)?;
        if let Some(manner) = request.due.text(Name::ListenEnd) {
            self.subscriptions.end(manner)?;
        }
        Ok(Reply {
            ahead: ahead::flood(request.due),
            body: damage::body(request.due, request.id, &result),
            copies: if request.due.has(Name::Twice) { 2 } else { 1 },
            code: None,
        })
    }

    fn outcome(&self, request: &Request<'_>, era: Era) -> io::Result<Outcome> {
        let options = &self.options;
        if options.scripts.text(Name::ListError) == Some(request.method) {
            return Ok(Outcome::Refused(Refusal::internal()));
        }
        if let Some(other) = self.other_outcome(request, era) {
            return Ok(other);
        }
        if let Some(about_a_task) = self.task_outcome(request, era)? {
            return Ok(about_a_task);
        }
        if options.scripts.has(Name::Logging) && request.method == "tools/call" {
            self.logging.say(request, era)?;
        }
        let outcome = match (era, request.method) {
            (Era::Old, "initialize") => Outcome::Result(greeting::initialize(options, request.message)),
            (Era::Old, "ping") => Outcome::Result(json!({})),
            (Era::New, "server/discover") => Outcome::Result(greeting::discover(options)),
            (Era::New, "subscriptions/listen") => {
                self.subscriptions.open(request, options.scripts.has(Name::Watched))?;
                Outcome::Silence
            }
            (Era::Old, "logging/setLevel") if options.scripts.has(Name::Logging) => self.logging.set(request),
            (_, "completion/complete") if options.scripts.has(Name::Completions) => {
                let count = options.scripts.number(Name::Completions).unwrap_or(0);
                Outcome::Result(lists::completion(count, request.message))
            }
            (_, "tools/call") => tools::call(&self.calls, request)?,
            (_, method) => match lists::result(&options.scripts, request.due, request.message, method) {
                Some(result) => Outcome::Result(result),
                None => Outcome::Refused(Refusal::unknown_method(method)),
            },
        };
        Ok(match outcome {
            Outcome::Result(result) if era == Era::New => {
                Outcome::Result(greeting::complete(options, request.method, result))
            }
            other => other,
        })
    }

    /// What a request comes to before it is worked on, if a script says so.
    fn other_outcome(&self, request: &Request<'_>, era: Era) -> Option<Outcome> {
        if request.due.has(Name::RefuseVersion) {
            let asked = request.message.version().unwrap_or_default();
            return Some(Outcome::Refused(Refusal::version(asked, &self.options.versions)));
        }
        if let Some(url) = request.due.text(Name::UrlRequired) {
            return Some(Outcome::Refused(Refusal::page(questions::pages(url))));
        }
        let kind = request.due.text(Name::Wants).filter(|_| era == Era::New)?;
        Some(Outcome::Result(questions::wanted(kind, request.id)))
    }

    /// How to understand a request, by what it carries and what this server speaks.
    fn era(&self, request: &Request<'_>) -> Result<Era, Refusal> {
        let speaks_old = self.options.old().next().is_some();
        match request.message.version() {
            Some(NEW) if self.options.speaks_new() && request.message.has_capabilities() => Ok(Era::New),
            Some(NEW) if self.options.speaks_new() => {
                Err(Refusal::params("no clientCapabilities in `_meta`"))
            }
            Some(version) if self.options.speaks_new() => {
                Err(Refusal::version(version, &self.options.versions))
            }
            Some(_) | None if speaks_old => match request.needs_greeting() {
                true => Err(Refusal::invalid("there has been no initialize")),
                false => Ok(Era::Old),
            },
            Some(_) | None if request.method == "initialize" => {
                let offered = request.message.text("protocolVersion").unwrap_or_default();
                Err(Refusal::version(offered, &self.options.versions))
            }
            Some(_) | None => Err(Refusal::params("no protocolVersion in `_meta`")),
        }
    }
}

impl Request<'_> {
    /// Unknown methods are refused as such, whatever has happened before.
    fn needs_greeting(&self) -> bool {
        !self.greeted && (self.method == "tools/call" || lists::METHODS.contains(&self.method))
    }
}

impl<'a> Due<'a> {
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

impl Reply {
    /// One undamaged message.
    pub(crate) fn plain(value: &Value, code: Option<i64>) -> Self {
        Self { ahead: Vec::new(), body: Raw::from(value), copies: 1, code }
    }
}
