//! Follows a task: a call that the server continues to work on after the request, until there is a result.
//!
//! There are two flavors. In 2025-11-25 a tool requires to be called as a task, and the result is fetched
//! with a request of its own, during which the server also sends its questions. In the extension of the new
//! era the server decides, and each poll returns its input requests and the result. Tasks of both flavors
//! outlive a connection: a poll that is lost is repeated on the next connection, and the call itself never
//! is.

mod state;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{REQUEST_LIMIT, TASK_LOSSES, TASK_POLL_LEAST, TOOL_TIME};
use mcparley_model::time::whole_milliseconds;
use mcparley_wire::peer::{PeerCallOptions, ProgressSender, ProgressUpdate};
use mcparley_wire::{AgreedProtocol, Failure, RawJson, RequestParams, RequiredInput, ServerDescription};
use serde_json::json;

use super::bind::BoundTool;
use super::rounds::RoundTrips;
use crate::call_error::{CallError, ExecutionStatus};
use mcparley_pool::connection::{Connection, Epoch, LiveConnection, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::InFlightGuard;
pub(super) use state::{Task, TaskStatus};

/// Polls a task until it has ended. Dropping the follower earlier cancels the task, at the server too.
pub(super) struct TaskFollower<'c> {
    connection: &'c Connection,
    call: &'c InFlightGuard<'c>,
    rounds: &'c mut RoundTrips,
    task: Task,
    /// The keys of input requests that were answered already; the server may take a while to notice.
    answered: HashSet<String>,
    /// The number of changes seen so far, reported as progress.
    changes: u32,
    is_over: bool,
}

/// The reason why a task has no result.
pub(super) enum TaskError {
    /// The server reports that the task ended without a result.
    Ended(Failure),
    /// Polling the task failed.
    Failed(Failure),
    /// An input request of the server could not be answered.
    Unanswered(UnansweredRequest),
    /// The server is no longer available.
    Unavailable,
}

/// The result of one poll.
enum TaskPoll {
    /// The task has ended with this result.
    Ended(RawJson),
    /// The task is still running.
    Working,
}

impl<'c> TaskFollower<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        (call, rounds): (&'c InFlightGuard<'c>, &'c mut RoundTrips),
        task: Task,
    ) -> Self {
        Self { connection, call, rounds, task, answered: HashSet::new(), changes: 0, is_over: false }
    }

    /// Polls the task until it has ended, and returns its result.
    pub(super) async fn wait_for_result(&mut self, progress: &ProgressSender) -> Result<RawJson, TaskError> {
        let (mut stale, mut losses) = (Epoch::default(), 0);
        self.report_progress(progress);
        loop {
            self.wait_poll_interval().await;
            let live = self.lease_connection(stale).await.map_err(|why| self.log_unavailable(&why))?;
            match self.poll_task(&live, progress).await {
                Ok(TaskPoll::Ended(result)) => return Ok(result),
                Ok(TaskPoll::Working) => losses = 0,
                Err(TaskError::Failed(failure)) if is_transient(&failure) && losses < TASK_LOSSES => {
                    losses += 1;
                    self.connection.log().add_event("a task poll failed; polling again");
                    if is_connection_failure(&failure) {
                        stale = live.epoch;
                    }
                }
                Err(lost) => return Err(lost),
            }
        }
    }

    /// Leases a connection to poll on. One that is reconnecting is waited for: the task continues meanwhile.
    async fn lease_connection(&self, stale: Epoch) -> Result<Arc<LiveConnection>, Unavailable> {
        for _ in 0..TASK_LOSSES {
            match self.connection.lease_after(stale).await {
                Err(Unavailable::Waiting { again, .. }) => tokio::time::sleep(again).await,
                leased => return leased,
            }
        }
        self.connection.lease_after(stale).await
    }

    fn log_unavailable(&self, why: &Unavailable) -> TaskError {
        self.connection.log().add_trouble(&format!("lost the connection of a task: {why}"));
        TaskError::Unavailable
    }

    /// Waits for the poll interval that the server wants, or until the server announces a change.
    async fn wait_poll_interval(&self) {
        let mut news = std::pin::pin!(self.connection.server_requests().task_notify().notified());
        // Registered before the first await, so that no notification is missed.
        news.as_mut().enable();
        tokio::time::sleep(TASK_POLL_LEAST).await;
        tokio::select! {
            () = tokio::time::sleep(self.task.pause.saturating_sub(TASK_POLL_LEAST)) => {}
            () = news => {}
        }
    }

    /// Polls the task once, with `tasks/get`, and acts on its status.
    async fn poll_task(
        &mut self,
        live: &LiveConnection,
        progress: &ProgressSender,
    ) -> Result<TaskPoll, TaskError> {
        let answer = self.send_request(live, "tasks/get", self.task_params(), Some(REQUEST_LIMIT)).await?;
        let before = std::mem::replace(&mut self.task, Task::parse(&answer).map_err(TaskError::Failed)?);
        if !before.is_same_state(&self.task) {
            self.changes += 1;
            self.report_progress(progress);
        }
        self.task.id = before.id;
        match (live.session.protocol(), self.task.status) {
            (_, TaskStatus::Working) => Ok(TaskPoll::Working),
            (_, TaskStatus::Cancelled) => {
                self.is_over = true;
                Err(TaskError::Ended(Failure::Protocol("the server has cancelled the task".into())))
            }
            // The server sends its questions during this request, which ends with the task.
            (
                AgreedProtocol::Old(_),
                TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed,
            ) => match self.send_request(live, "tasks/result", self.task_params(), None).await {
                Err(TaskError::Failed(failure @ Failure::ErrorResponse(_))) => {
                    self.is_over = true;
                    Err(TaskError::Ended(failure))
                }
                Ok(result) => {
                    self.is_over = true;
                    Ok(TaskPoll::Ended(result))
                }
                Err(lost) => Err(lost),
            },
            (AgreedProtocol::New, TaskStatus::InputRequired) => {
                self.answer_input_requests(live, &answer).await.map(|()| TaskPoll::Working)
            }
            (AgreedProtocol::New, TaskStatus::Completed | TaskStatus::Failed) => {
                self.is_over = true;
                state::task_result(&answer).map(TaskPoll::Ended).map_err(TaskError::Ended)
            }
        }
    }

    /// Answers the input requests of the server that were not answered yet.
    async fn answer_input_requests(
        &mut self,
        live: &LiveConnection,
        answer: &RawJson,
    ) -> Result<(), TaskError> {
        let mut wanted = RequiredInput::for_task(answer).map_err(TaskError::Failed)?;
        wanted.retain(|want| !self.answered.contains(&want.key));
        if wanted.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = wanted.iter().map(|want| want.key.clone()).collect();
        let responses = self
            .rounds
            .collect_responses(self.connection.server_requests(), self.call, wanted)
            .await
            .map_err(TaskError::Unanswered)?;
        let params = self.task_params().with_raw("inputResponses", &responses);
        self.send_request(live, "tasks/update", params, Some(REQUEST_LIMIT)).await?;
        self.answered.extend(keys);
        Ok(())
    }

    async fn send_request(
        &self,
        live: &LiveConnection,
        method: &str,
        params: RequestParams,
        limit: Option<Duration>,
    ) -> Result<RawJson, TaskError> {
        let options = PeerCallOptions { limit, ..PeerCallOptions::default() };
        let request = live.session.prepare_request();
        // Questions about a task of 2025-11-25 come on the stream of this request.
        self.call.note_request(request.id());
        live.session.call_prepared(request, (method, &params), options).await.map_err(TaskError::Failed)
    }

    fn task_params(&self) -> RequestParams {
        RequestParams::new().with_member("taskId", &self.task.id)
    }

    /// Reports the task's message as progress, which also resets the idle timeout of the call.
    fn report_progress(&self, to: &ProgressSender) {
        let message = self.task.message.clone();
        let mut raw = json!({ "progressToken": self.task.id, "progress": self.changes });
        if let Some(message) = &message {
            raw["message"] = json!(message);
        }
        let (progress, raw) = (f64::from(self.changes), RawJson::from_value(&raw).ok());
        to.send_update(ProgressUpdate { progress, total: None, message, raw });
    }
}

impl Drop for TaskFollower<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.connection.cancel_task(std::mem::take(&mut self.task.id));
        }
    }
}

/// Adds the task parameters to a call: its time to live is the time limit of the call.
pub(super) fn with_task_params(params: RequestParams, limit: Duration) -> RequestParams {
    let limit = whole_milliseconds(limit.min(TOOL_TIME));
    params.with_member("task", &json!({ "ttl": limit }))
}

/// Whether a server of 2025-11-25 declares that its tools can be called as tasks.
pub(super) fn offers_tool_tasks(about: &ServerDescription) -> bool {
    let tasks = about.capabilities.get("tasks").and_then(|tasks| tasks.pointer("/requests/tools/call"));
    tasks.is_some_and(|call| !call.is_null())
}

/// The failure for a task in answer to a request that is no tool call: only tool calls may become tasks.
pub(super) fn unexpected_task_failure() -> Failure {
    Failure::Protocol("it returned a task for a request that is not a tool call".into())
}

/// The error of a call whose task gave no result. Unless the server reports the end of the task, its effects
/// are unknown, and it may still be running.
pub(super) fn task_call_error(bound: &BoundTool, lost: TaskError) -> CallError {
    let unknown = |failure| match bound.call_failed_error(failure) {
        CallError::Failed { tool, failure, executed: _ } => {
            CallError::Failed { tool, failure, executed: ExecutionStatus::Unknown }
        }
        error => error,
    };
    match lost {
        TaskError::Ended(failure) => bound.call_failed_error(failure),
        TaskError::Failed(failure) => unknown(failure),
        TaskError::Unanswered(why) => bound.unanswered_error(why),
        TaskError::Unavailable => unknown(Failure::Closed { exit: None, sent: true }),
    }
}

/// Whether the failure is transient, so that another poll may succeed.
fn is_transient(failure: &Failure) -> bool {
    is_connection_failure(failure)
        || matches!(
            failure,
            Failure::TimedOut { .. }
                | Failure::QueueFull { .. }
                | Failure::Status { code: 408 | 429 | 500..=599, .. }
        )
}

/// Whether the connection was lost.
fn is_connection_failure(failure: &Failure) -> bool {
    matches!(failure, Failure::Closed { .. } | Failure::SessionExpired)
}
