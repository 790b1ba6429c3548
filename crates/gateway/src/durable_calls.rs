//! Durable calls: made and kept by another process, so that the client of a call may leave and come back.
//!
//! The gateway permits a call and hands it over to an implementation of [`DurableCalls`]. Each call has an owner, and
//! is shown to sessions of that owner only.

use std::time::Duration;

use mcparley::BoxedFuture;
use mcparley::call::DetachedCall;
use mcparley::pool::attach::DaemonLink;
use mcparley_wire::RawJson;

/// A process that makes and keeps durable calls.
pub trait DurableCalls: std::fmt::Debug + Send + Sync {
    /// The link for which the servers of calls are described.
    fn link(&self) -> &DaemonLink;

    /// Takes over a permitted call. It is recorded when this returns.
    fn start_call<'d>(
        &'d self,
        call: DetachedCall,
        owner: &'d str,
        ttl: Option<Duration>,
    ) -> BoxedFuture<'d, Result<DurableTask, DurableCallError>>;

    /// The call with this id. A running one is waited for, for a moment, if `wait` is set.
    fn find_task<'d>(
        &'d self,
        id: &'d str,
        wait: bool,
    ) -> BoxedFuture<'d, Result<Option<DurableTask>, DurableCallError>>;

    /// All calls without their results, newest first.
    fn list_tasks(&self) -> BoxedFuture<'_, Result<Vec<DurableTask>, DurableCallError>>;

    /// Cancels a running call, and returns it once it has ended.
    fn cancel_task<'d>(&'d self, id: &'d str) -> BoxedFuture<'d, Result<DurableTask, DurableCallError>>;
}

/// A durable call, and its result.
#[derive(Clone, Debug)]
pub struct DurableTask {
    /// The id at the process that makes the call.
    pub id: String,
    /// The owner; `None` for calls of the command line.
    pub owner: Option<String>,
    /// The name of the server.
    pub server: String,
    /// The state.
    pub state: DurableState,
    /// The time of the request, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of the end, in milliseconds since 1970.
    pub ended_ms: Option<u64>,
    /// The time in milliseconds for which the result is kept.
    pub ttl_ms: u64,
    /// Whether the result is an error of the tool.
    pub is_error: bool,
    /// The reason why there is no result.
    pub error: Option<String>,
    /// The result, if the call has completed and the result was requested.
    pub result: Option<RawJson>,
}

/// The state of a durable call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableState {
    /// The call was sent, or is about to be.
    Running,
    /// The server has answered with a result.
    Completed,
    /// There is no result, also if it is unknown whether the call took effect.
    Failed,
    /// The call was canceled.
    Cancelled,
}

/// The reason why a durable call cannot be started, found or canceled.
#[derive(Debug, thiserror::Error)]
pub enum DurableCallError {
    /// The call is not running, so it cannot be canceled.
    #[error("the task is not running")]
    NotRunning,
    /// As many calls run or are kept as the process takes; this one was not started.
    #[error("{0}")]
    AtLimit(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The process does not answer, or refuses.
    #[error("{0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
