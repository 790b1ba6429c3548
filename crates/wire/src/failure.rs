//! What can go wrong between us and a server: the only error that leaves this room.
//!
//! Classified here, where it is born, so that nobody behind decides by looking into a message.

mod obstacle;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::text::{Untrusted, rounded};
use serde::Deserialize;

use crate::json::RawJson;

pub use obstacle::Obstacle;

/// Why a request has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The server could not be started or reached at all.
    #[error("the server could not be started or reached: {reason}")]
    Refused {
        /// What stood in the way.
        obstacle: Obstacle,
        /// Why.
        reason: Arc<str>,
        /// What to do, when there is something to do.
        hint: Option<Arc<str>>,
    },
    /// A limit passed.
    #[error("timed out after {:?} while {phase}", rounded(*after))]
    TimedOut {
        /// What took so long.
        phase: Phase,
        /// The limit.
        after: Duration,
    },
    /// The connection ended.
    #[error("the connection ended{}", ended(*exit))]
    Closed {
        /// How the process behind it ended, if there was one and it did.
        exit: Option<Exit>,
        /// Whether the request may have reached the server, so that it may have been executed.
        sent: bool,
    },
    /// The answer came and cannot be read.
    #[error("the answer is damaged: {0}")]
    Damaged(Damage),
    /// The server does not speak the protocol as it must.
    #[error("the server broke the protocol: {0}")]
    Protocol(Arc<str>),
    /// The server answered with an error.
    #[error("the server answered with error {}: {}", .0.code, .0.message.clean())]
    Answered(RpcError),
    /// A message is larger than we take.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The server wants to know who we are.
    #[error("the server wants a sign-in")]
    Unauthorized {
        /// What it asks for.
        challenge: Option<Untrusted>,
    },
    /// The server knows who we are and refuses.
    #[error("the server does not allow this")]
    Forbidden {
        /// What it asks for, if more would help.
        challenge: Option<Untrusted>,
    },
    /// The server has forgotten our session; nothing was executed.
    #[error("the session has expired")]
    SessionExpired,
    /// The server answered with an HTTP status that says no.
    #[error("the server answered with status {code}{}", said(text))]
    Status {
        /// The status.
        code: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
        /// The beginning of what it said.
        text: Untrusted,
    },
    /// More is waiting to be sent than we keep.
    #[error("the server does not take its input: {limit} messages wait already")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Starting or reaching the server and shaking hands.
    Connecting,
    /// Waiting for the answer to a request.
    Answering,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connecting => "connecting",
            Self::Answering => "waiting for the answer",
        })
    }
}

/// How a process ended, or was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The code it exited with.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it can be talked to no longer, if it did not end by itself.
    pub loss: Option<Loss>,
}

/// Why a process that has not ended by itself can be talked to no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// What is written to it goes nowhere.
    #[error("the server has closed its input")]
    InputClosed,
    /// The process between us and it is gone, and it with that one.
    #[error("the guardian of the server was killed")]
    GuardianKilled,
}

fn ended(exit: Option<Exit>) -> String {
    match exit {
        Some(Exit { code: Some(code), .. }) => format!(": the server exited with code {code}"),
        Some(Exit { signal: Some(signal), .. }) => format!(": the server was ended by signal {signal}"),
        Some(Exit { loss: Some(loss), .. }) => format!(": {loss}"),
        Some(Exit { code: None, signal: None, loss: None }) | None => String::new(),
    }
}

fn said(text: &Untrusted) -> String {
    match text.display().trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Not JSON, or not UTF-8.
    #[error("it is not JSON")]
    NotJson,
    /// A key that must stand once stands twice.
    #[error("`{0}` stands twice in it")]
    Twice(&'static str),
    /// `jsonrpc` is missing or not `"2.0"`.
    #[error("it is not JSON-RPC 2.0")]
    Version,
    /// An object with nothing of JSON-RPC in it.
    #[error("it is JSON, but not JSON-RPC")]
    Foreign,
    /// Both a result and an error.
    #[error("it has a result and an error")]
    Both,
    /// Neither a method nor a result nor an error.
    #[error("it has neither a result nor an error")]
    Neither,
    /// An error that is not an error object.
    #[error("its error is not an object with a code and a message")]
    Error,
    /// A result of another form than its method's, or nested too deep.
    #[error("its result is not of the form the method has")]
    Shape,
}

/// An error a server answered with.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: Untrusted,
    /// What else it says.
    pub data: Option<RawJson>,
}

/// What came is not JSON.
pub const PARSE_ERROR: i64 = -32700;

/// What came is JSON and no request.
pub const INVALID_REQUEST: i64 = -32600;

/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// The parameters of a request are not what its method takes.
pub const INVALID_PARAMS: i64 = -32602;

/// Something went wrong on the side that answers.
pub const INTERNAL: i64 = -32603;

/// A person has to visit a page before the request can be answered; nothing was executed (2025-11-25).
pub const URL_REQUIRED: i64 = -32042;

/// The headers of a request do not say what its body says; nothing was executed (new era).
pub const HEADER_MISMATCH: i64 = -32020;

impl RpcError {
    /// An error of our own, for answering a server's request.
    #[must_use]
    pub fn new(code: i64, message: &str) -> Self {
        Self { code, message: Untrusted::new(message), data: None }
    }

    /// The same with what else there is to say.
    #[must_use]
    pub fn with_data(self, data: RawJson) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Reads an error object that stands somewhere else than in an answer; nothing if it is none.
    #[must_use]
    pub fn of(error: &RawJson) -> Option<Self> {
        Self::read(error.as_str())
    }

    /// Reads an error object; codes may be written as `-1.0`.
    pub(crate) fn read(raw: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire<'r> {
            code: serde_json::Number,
            message: String,
            #[serde(borrow)]
            data: Option<&'r serde_json::value::RawValue>,
        }
        let Wire { code, message, data } = serde_json::from_str(raw).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "codes are small; a huge one saturates and stays wrong"
        )]
        let code = code.as_i64().or_else(|| code.as_f64().map(|code| code as i64))?;
        let data = data.map(|data| RawJson::from_text(data.get()));
        Some(Self { code, message: Untrusted::new(message), data })
    }
}
