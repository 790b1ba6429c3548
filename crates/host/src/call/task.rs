//! Follows a call that its server works on by itself, until there is a result (X8).
//!
//! Two flavours. In 2025-11-25 a tool says that it has to be called as a task, and the result is fetched with a request of
//! its own, on which the server also asks what it wants to know. In the extension of the new era the server decides, and
//! what it wants and what came of it stand in the answer to every look. Both outlive a connection: a look that is lost is
//! repeated on the next one, and the call itself never is.

mod state;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{REQUEST_LIMIT, TASK_LOSSES, TASK_POLL_LEAST, TOOL_TIME};
use mcparley_wire::peer::{CallOptions, Progress};
use mcparley_wire::{About, Failure, Params, RawJson, Spoken, Wanted};
use serde_json::json;
use tokio::sync::watch;

use super::bind::Bound;
use super::error::{CallError, Executed};
use super::rounds::Rounds;
use crate::connection::{Connection, Epoch, Live, Unavailable};
use crate::elicit::{InFlight, Unanswered};
pub(super) use state::{Status, Task};

/// A task that is followed. Dropping it before its end gives the task up, at the server too.
pub(super) struct Following<'c> {
    connection: &'c Connection,
    call: &'c InFlight<'c>,
    rounds: &'c mut Rounds,
    task: Task,
    /// What the server wanted and was told already; it may take a while to notice.
    told: HashSet<String>,
    /// How often something has changed.
    changes: u32,
    is_over: bool,
}

/// Why a task has no result for us.
pub(super) enum Lost {
    /// Its server says that it has ended without one.
    Ended(Failure),
    /// It cannot be looked at.
    Failed(Failure),
    /// What its server wanted was not to be had.
    Unanswered(Unanswered),
    /// Its server cannot be used any more.
    Unavailable,
}

/// What a look at a task shows.
enum Seen {
    /// It has ended, with this result.
    Ended(RawJson),
    /// It goes on.
    Working,
}

impl<'c> Following<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        (call, rounds): (&'c InFlight<'c>, &'c mut Rounds),
        task: Task,
    ) -> Self {
        Self { connection, call, rounds, task, told: HashSet::new(), changes: 0, is_over: false }
    }

    /// Looks at it until it has ended.
    pub(super) async fn result(&mut self, newest: &watch::Sender<Option<Progress>>) -> Result<RawJson, Lost> {
        let (mut stale, mut losses) = (Epoch::default(), 0);
        self.report(newest);
        loop {
            self.pause().await;
            let live = self.lease(stale).await.map_err(|why| self.unavailable(&why))?;
            match self.look(&live, newest).await {
                Ok(Seen::Ended(result)) => return Ok(result),
                Ok(Seen::Working) => losses = 0,
                Err(Lost::Failed(failure)) if is_passing(&failure) && losses < TASK_LOSSES => {
                    losses += 1;
                    self.connection.log().event("a look at a task was lost, and is repeated");
                    if is_of_the_connection(&failure) {
                        stale = live.epoch;
                    }
                }
                Err(lost) => return Err(lost),
            }
        }
    }

    /// A connection to look on. One that is on its way is waited for: the task goes on meanwhile.
    async fn lease(&self, stale: Epoch) -> Result<Arc<Live>, Unavailable> {
        for _ in 0..TASK_LOSSES {
            match self.connection.lease_after(stale).await {
                Err(Unavailable::Waiting { again, .. }) => tokio::time::sleep(again).await,
                leased => return leased,
            }
        }
        self.connection.lease_after(stale).await
    }

    fn unavailable(&self, why: &Unavailable) -> Lost {
        self.connection.log().trouble(&format!("a task is lost: {why}"));
        Lost::Unavailable
    }

    /// Lets some time pass: as much as the server wants, unless it tells that there is something to see.
    async fn pause(&self) {
        let mut news = std::pin::pin!(self.connection.server_requests().task_news().notified());
        // Before anything is awaited, so that nothing is missed.
        news.as_mut().enable();
        tokio::time::sleep(TASK_POLL_LEAST).await;
        tokio::select! {
            () = tokio::time::sleep(self.task.pause.saturating_sub(TASK_POLL_LEAST)) => {}
            () = news => {}
        }
    }

    async fn look(&mut self, live: &Live, newest: &watch::Sender<Option<Progress>>) -> Result<Seen, Lost> {
        let answer = self.ask(live, "tasks/get", self.params(), Some(REQUEST_LIMIT)).await?;
        let before = std::mem::replace(&mut self.task, Task::read(&answer).map_err(Lost::Failed)?);
        if !before.looks_like(&self.task) {
            self.changes += 1;
            self.report(newest);
        }
        self.task.id = before.id;
        match (live.session.spoken(), self.task.status) {
            (_, Status::Working) => Ok(Seen::Working),
            (_, Status::Cancelled) => {
                self.is_over = true;
                Err(Lost::Ended(Failure::Protocol("the server has cancelled the task".into())))
            }
            // What it wants to know it asks on this request, which ends with the task.
            (Spoken::Old(_), Status::InputRequired | Status::Completed | Status::Failed) => {
                match self.ask(live, "tasks/result", self.params(), None).await {
                    Err(Lost::Failed(failure @ Failure::Answered(_))) => {
                        self.is_over = true;
                        Err(Lost::Ended(failure))
                    }
                    Ok(result) => {
                        self.is_over = true;
                        Ok(Seen::Ended(result))
                    }
                    Err(lost) => Err(lost),
                }
            }
            (Spoken::New, Status::InputRequired) => self.tell(live, &answer).await.map(|()| Seen::Working),
            (Spoken::New, Status::Completed | Status::Failed) => {
                self.is_over = true;
                state::ended(&answer).map(Seen::Ended).map_err(Lost::Ended)
            }
        }
    }

    /// Tells the server what it wants to know and was not told yet.
    async fn tell(&mut self, live: &Live, answer: &RawJson) -> Result<(), Lost> {
        let mut wanted = Wanted::of_task(answer).map_err(Lost::Failed)?;
        wanted.retain(|want| !self.told.contains(&want.key));
        if wanted.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = wanted.iter().map(|want| want.key.clone()).collect();
        let responses = self
            .rounds
            .answers(self.connection.server_requests(), self.call, wanted)
            .await
            .map_err(Lost::Unanswered)?;
        let params = self.params().with_raw("inputResponses", &responses);
        self.ask(live, "tasks/update", params, Some(REQUEST_LIMIT)).await?;
        self.told.extend(keys);
        Ok(())
    }

    async fn ask(
        &self,
        live: &Live,
        method: &str,
        params: Params,
        limit: Option<Duration>,
    ) -> Result<RawJson, Lost> {
        let options = CallOptions { limit, ..CallOptions::default() };
        live.session.call(method, params, options).await.map_err(Lost::Failed)
    }

    fn params(&self) -> Params {
        Params::new().with("taskId", &self.task.id)
    }

    /// Who says what it does is at work.
    fn report(&self, newest: &watch::Sender<Option<Progress>>) {
        let message = self.task.message.clone();
        newest.send_replace(Some(Progress { progress: f64::from(self.changes), total: None, message }));
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.connection.give_up_task(std::mem::take(&mut self.task.id));
        }
    }
}

/// The parameters of a call that is to be a task; it is wanted for as long as the call may take.
pub(super) fn augmented(params: Params, limit: Duration) -> Params {
    let limit = u64::try_from(limit.min(TOOL_TIME).as_millis()).unwrap_or(u64::MAX);
    params.with("task", &json!({ "ttl": limit }))
}

/// Whether a server of 2025-11-25 says that its tools can be called as tasks.
pub(super) fn is_offered(about: &About) -> bool {
    let tasks = about.capabilities.get("tasks").and_then(|tasks| tasks.pointer("/requests/tools/call"));
    tasks.is_some_and(|call| !call.is_null())
}

/// Only tools may become tasks.
pub(super) fn out_of_place() -> Failure {
    Failure::Protocol("it made a task of what is no call".into())
}

/// Why a call has no result whose server works on it by itself. Unless the server says how the task has ended, nobody knows
/// what it has done, and whether it still goes on.
pub(super) fn failed(bound: &Bound, lost: Lost) -> CallError {
    let unknown = |failure| match bound.failed(failure) {
        CallError::Failed { tool, failure, executed: _ } => {
            CallError::Failed { tool, failure, executed: Executed::Unknown }
        }
        error => error,
    };
    match lost {
        Lost::Ended(failure) => bound.failed(failure),
        Lost::Failed(failure) => unknown(failure),
        Lost::Unanswered(why) => bound.unanswered(why),
        Lost::Unavailable => unknown(Failure::Closed { exit: None, sent: true }),
    }
}

/// Whether another look may show more than this one.
fn is_passing(failure: &Failure) -> bool {
    is_of_the_connection(failure)
        || matches!(
            failure,
            Failure::TimedOut { .. }
                | Failure::QueueFull { .. }
                | Failure::Status { code: 408 | 429 | 500..=599, .. }
        )
}

/// Whether the connection is of no use any more.
fn is_of_the_connection(failure: &Failure) -> bool {
    matches!(failure, Failure::Closed { .. } | Failure::SessionExpired)
}
