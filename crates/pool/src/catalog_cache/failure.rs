//! The file format of a cached connection failure, and the exponential backoff that follows from it.
//!
//! The server's text has been redacted before it comes here, so no secret of its entry is written.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{FAILURE_FIRST, FAILURE_LONGEST, FAILURE_SHARE, FAILURE_STDERR_CHARS};
use mcparley_model::text::{Untrusted, truncate_text};
use mcparley_model::time::whole_milliseconds;
use mcparley_wire::{Failure, FailurePhase, Obstacle, RpcError, ServerExit};
use serde::{Deserialize, Serialize};

use crate::connect_error::ConnectError;

/// The format version; files with another version are ignored.
const FORMAT: u32 = 1;

/// The contents of one file: the last connection failure of one server.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailureRecord {
    format: u32,
    /// The stamp of the server's files, see [`super::stamp`].
    pub(super) stamp: String,
    /// The number of consecutive failures.
    pub(super) count: u32,
    milliseconds: u64,
    cause: CachedFailureCause,
    stderr: String,
}

/// A [`Failure`] in the cache. Only causes that concern the server are cached, not those of one request or
/// this machine.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CachedFailureCause {
    Refused { obstacle: String, reason: String, hint: Option<String> },
    TimedOut { milliseconds: u64 },
    Closed { code: Option<i32>, signal: Option<i32> },
    Protocol { text: String },
    Answered { code: i64, message: String },
    Forbidden,
    Status { code: u16, text: String },
}

impl FailureRecord {
    /// The record of a failure; `None` if it is not worth caching.
    pub(super) fn new(error: &ConnectError, took: Duration, count: u32, stamp: String) -> Option<Self> {
        let stderr = error.stderr.raw();
        let from = stderr.char_indices().rev().nth(FAILURE_STDERR_CHARS).map_or(0, |(at, _)| at);
        Some(Self {
            format: FORMAT,
            stamp,
            count,
            milliseconds: whole_milliseconds(took),
            cause: CachedFailureCause::from_failure(&error.failure)?,
            stderr: stderr.get(from..).unwrap_or_default().to_owned(),
        })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let record: Self = serde_json::from_str(text).ok()?;
        (record.format == FORMAT).then_some(record)
    }

    pub(super) fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Whether a failure of this age is still within its backoff.
    pub(super) fn is_within_backoff(&self, age: Duration) -> bool {
        age < backoff_time(self.count, Duration::from_millis(self.milliseconds))
    }

    /// The recorded error, marked as having happened `ago`.
    pub(super) fn to_error(&self, ago: Duration) -> Option<ConnectError> {
        let stderr = Untrusted::new(self.stderr.clone());
        Some(ConnectError { ago: Some(ago), ..ConnectError::new(self.cause.to_failure()?, stderr) })
    }
}

/// Exponential backoff: the time for which a server that failed `count` times in a row is not tried by
/// commands that do not need it. It is proportional to the duration of an attempt, so that attempts take a
/// small share of the time.
fn backoff_time(count: u32, took: Duration) -> Duration {
    let first = FAILURE_FIRST.max(took.saturating_mul(FAILURE_SHARE));
    first.saturating_mul(1 << count.saturating_sub(1).min(16)).min(FAILURE_LONGEST)
}

impl CachedFailureCause {
    fn from_failure(failure: &Failure) -> Option<Self> {
        match failure {
            // The next process may have more descriptors and memory.
            Failure::Refused { obstacle: Obstacle::Descriptors | Obstacle::Resources, .. } => None,
            Failure::Refused { obstacle, reason, hint } => Some(Self::Refused {
                obstacle: obstacle.as_str().to_owned(),
                reason: truncate_text(reason, FAILURE_STDERR_CHARS).into(),
                hint: hint.as_deref().map(str::to_owned),
            }),
            Failure::TimedOut { phase: _, after } => {
                Some(Self::TimedOut { milliseconds: whole_milliseconds(*after) })
            }
            Failure::Closed { exit, sent: _ } => {
                let (code, signal) = exit.map_or((None, None), |exit| (exit.code, exit.signal));
                Some(Self::Closed { code, signal })
            }
            Failure::Protocol(text) => {
                Some(Self::Protocol { text: truncate_text(text, FAILURE_STDERR_CHARS).into() })
            }
            Failure::ErrorResponse(error) => Some(Self::Answered {
                code: error.code,
                message: truncate_text(error.message.raw(), FAILURE_STDERR_CHARS).into(),
            }),
            Failure::Forbidden { .. } => Some(Self::Forbidden),
            Failure::Status { code, text, .. } => Some(Self::Status {
                code: *code,
                text: truncate_text(text.raw(), FAILURE_STDERR_CHARS).into(),
            }),
            // Sign-in needs have a cache of their own, and the other failures concern one message.
            Failure::Unauthorized { .. }
            | Failure::SessionExpired
            | Failure::Damaged(_)
            | Failure::TooLarge { .. }
            | Failure::QueueFull { .. } => None,
        }
    }

    fn to_failure(&self) -> Option<Failure> {
        Some(match self {
            Self::Refused { obstacle, reason, hint } => Failure::Refused {
                obstacle: Obstacle::ALL.into_iter().find(|known| known.as_str() == obstacle)?,
                reason: Arc::from(reason.as_str()),
                hint: hint.as_deref().map(Arc::from),
            },
            Self::TimedOut { milliseconds } => Failure::TimedOut {
                phase: FailurePhase::Connecting,
                after: Duration::from_millis(*milliseconds),
            },
            Self::Closed { code, signal } => {
                let is_known = code.is_some() || signal.is_some();
                let exit = is_known.then_some(ServerExit { code: *code, signal: *signal, loss: None });
                Failure::Closed { exit, sent: false }
            }
            Self::Protocol { text } => Failure::Protocol(Arc::from(text.as_str())),
            Self::Answered { code, message } => Failure::ErrorResponse(RpcError::new(*code, message)),
            Self::Forbidden => Failure::Forbidden { challenge: None },
            Self::Status { code, text } => {
                Failure::Status { code: *code, retry_after: None, text: Untrusted::new(text.clone()) }
            }
        })
    }
}

#[cfg(test)]
mod tests;
