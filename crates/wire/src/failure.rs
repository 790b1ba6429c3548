//! The error of a request: every way in which communication with a server can fail.
//!
//! Classified here, at the source, so that no later code decides by searching a message.

mod obstacle;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::text::{Untrusted, round_duration};
use serde::Deserialize;

use mcparley_json::{RawJson, UnexpectedShape};

pub use obstacle::Obstacle;

/// The reason why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The server could not be started or reached at all.
    #[error("{} the server: {reason}", obstacle.failed_action())]
    Refused {
        /// The reason code, for programs.
        obstacle: Obstacle,
        /// The reason, for people.
        reason: Arc<str>,
        /// The next step for the user, if there is one.
        hint: Option<Arc<str>>,
    },
    /// Timeout: a deadline passed.
    #[error("timed out after {:?} while {phase}", round_duration(*after))]
    TimedOut {
        /// The phase that took too long.
        phase: FailurePhase,
        /// The limit.
        after: Duration,
    },
    /// The connection ended.
    #[error("the connection ended{}", describe_exit(*exit))]
    Closed {
        /// Exit status of the server process, if there is one and it has ended.
        exit: Option<ServerExit>,
        /// Whether the request may have reached the server, so that it may have been executed.
        sent: bool,
    },
    /// The response arrived and is malformed.
    #[error("invalid response: {0}")]
    Damaged(Damage),
    /// The server violates the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(Arc<str>),
    /// The server returned a JSON-RPC error.
    #[error("the server answered with error {}: {}", .0.code, .0.message.clean_text())]
    ErrorResponse(RpcError),
    /// A message exceeds the size limit.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The server requires sign-in (status 401).
    #[error("the server requires sign-in")]
    Unauthorized {
        /// The value of `WWW-Authenticate`.
        challenge: Option<Untrusted>,
    },
    /// The server denies access to this identity (status 403).
    #[error("the server denied access")]
    Forbidden {
        /// The value of `WWW-Authenticate`, if a wider scope would help.
        challenge: Option<Untrusted>,
    },
    /// The server does not know our session any more; the request was not executed.
    #[error("the session has expired")]
    SessionExpired,
    /// The server answered with an HTTP error status.
    #[error("the server answered with status {code}{}", describe_body(text))]
    Status {
        /// The status code.
        code: u16,
        /// The value of `Retry-After`.
        retry_after: Option<Duration>,
        /// The beginning of the response body.
        text: Untrusted,
    },
    /// Backpressure: the send queue is full, because the server does not read.
    #[error("the server is not reading its input: {limit} messages are queued")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
}

impl Failure {
    /// Short name of the failure, for records and spans. Never its text, which may come from a server.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::TimedOut { .. } => "timed-out",
            Self::Closed { .. } => "closed",
            Self::Damaged(_) => "damaged",
            Self::Protocol(_) => "protocol",
            Self::ErrorResponse(_) => "answered-with-error",
            Self::TooLarge { .. } => "too-large",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::SessionExpired => "session-expired",
            Self::Status { .. } => "http-status",
            Self::QueueFull { .. } => "queue-full",
        }
    }
}

/// The phase in which a timeout occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePhase {
    /// Starting or reaching the server, and the handshake.
    Connecting,
    /// Waiting for the response to a request.
    Answering,
}

impl std::fmt::Display for FailurePhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connecting => "connecting",
            Self::Answering => "waiting for the answer",
        })
    }
}

/// Exit status of a server process, or the loss of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerExit {
    /// The exit code of the process.
    pub code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// The loss of the connection, if the process did not end by itself.
    pub loss: Option<ConnectionLoss>,
}

/// The reason why a process that is still running can no longer be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionLoss {
    /// The server closed its standard input.
    #[error("the server has closed its input")]
    InputClosed,
    /// The guardian was killed, and the server with it.
    #[error("the guardian of the server was killed")]
    GuardianKilled,
}

fn describe_exit(exit: Option<ServerExit>) -> String {
    match exit {
        Some(ServerExit { code: Some(code), .. }) => format!(": the server exited with code {code}"),
        Some(ServerExit { signal: Some(signal), .. }) => format!(": the server was ended by signal {signal}"),
        Some(ServerExit { loss: Some(loss), .. }) => format!(": {loss}"),
        Some(ServerExit { code: None, signal: None, loss: None }) | None => String::new(),
    }
}

fn describe_body(text: &Untrusted) -> String {
    match text.display_line().trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

impl From<UnexpectedShape> for Failure {
    fn from(UnexpectedShape: UnexpectedShape) -> Self {
        Self::Damaged(Damage::Shape)
    }
}

/// The defect of a malformed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Not JSON, or not UTF-8.
    #[error("it is not JSON")]
    NotJson,
    /// A key that must be unique is repeated.
    #[error("`{0}` appears twice")]
    Twice(&'static str),
    /// `jsonrpc` is missing or not `"2.0"`.
    #[error("it is not JSON-RPC 2.0")]
    Version,
    /// An object without any member of JSON-RPC.
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
    /// A result that does not match its method, or is nested too deep.
    #[error("its result does not match the method")]
    Shape,
}

/// An error response of a server.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: Untrusted,
    /// The additional data of the error.
    pub data: Option<RawJson>,
}

/// Error code: the message is not JSON.
pub const PARSE_ERROR: i64 = -32700;

/// Error code: the message is JSON but not a request.
pub const INVALID_REQUEST: i64 = -32600;

/// Error code: the method does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// Error code: the parameters are invalid for the method.
pub const INVALID_PARAMS: i64 = -32602;

/// Error code: internal error of the answering side.
pub const INTERNAL: i64 = -32603;

/// Error code: the user has to visit a page before the request can be answered; it was not executed
/// (2025-11-25).
pub const URL_REQUIRED: i64 = -32042;

/// Error code: the headers of a request contradict its body; it was not executed (new era).
pub const HEADER_MISMATCH: i64 = -32020;

/// The revision of the protocol is not supported (new era).
pub const UNSUPPORTED_VERSION: i64 = -32022;

impl RpcError {
    /// Creates an error of our own, for answering a server's request.
    #[must_use]
    pub fn new(code: i64, message: &str) -> Self {
        Self { code, message: Untrusted::new(message), data: None }
    }

    /// Adds data to the error.
    #[must_use]
    pub fn with_data(self, data: RawJson) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Parses an error object that is not part of a response; `None` if it is not an error object.
    #[must_use]
    pub fn from_json(error: &RawJson) -> Option<Self> {
        Self::parse(error.as_str())
    }

    /// Parses an error object; codes may be written as `-1.0`.
    pub(crate) fn parse(raw: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct RpcErrorFields<'r> {
            code: serde_json::Number,
            message: String,
            #[serde(borrow)]
            data: Option<&'r serde_json::value::RawValue>,
        }
        let RpcErrorFields { code, message, data } = serde_json::from_str(raw).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "codes are small; a huge one saturates and stays wrong"
        )]
        let code = code.as_i64().or_else(|| code.as_f64().map(|code| code as i64))?;
        let data = data.map(|data| RawJson::from_text(data.get()));
        Some(Self { code, message: Untrusted::new(message), data })
    }
}
