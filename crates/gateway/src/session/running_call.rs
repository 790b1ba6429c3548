//! A call or another request in progress, with its questions and its progress.

use std::collections::HashMap;
use std::sync::Arc;

use mcparley::call::ProgressStream;
use mcparley::model::name::ServerName;
use mcparley::results::ForwardableOutcome;
use mcparley::{BoxedFuture, CallError};
use mcparley_wire::{RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::call_line::CallLine;
use crate::question_route::ClientQuestion;

/// A call or another request in progress.
pub(crate) struct RunningCall {
    pub(crate) call: BoxedFuture<'static, CallEnd>,
    /// Questions that the client must come back with an answer to.
    pub(crate) questions: Option<mpsc::Receiver<ClientQuestion>>,
    pub(crate) progress: Option<ProgressStream>,
    /// The line of servers to the client.
    pub(crate) line: Arc<CallLine>,
    /// The server, if the call is one of a server.
    pub(crate) server: Option<ServerName>,
    /// The questions that the client has not answered yet, in order.
    pub(crate) open: Vec<OpenQuestion>,
    /// The keys of its questions.
    pub(crate) keys: QuestionKeys,
    /// Whether the call runs in a task of its own.
    pub(crate) is_task: bool,
}

/// The end of a call, or of another request.
pub(crate) enum CallEnd {
    Call(Box<Result<ForwardableOutcome, CallError>>),
    Request(Result<RawJson, RpcError>),
}

/// The keys of the questions of one call, counted for each kind: no key is used twice.
#[derive(Debug, Default)]
pub(crate) struct QuestionKeys(HashMap<&'static str, u32>);

impl QuestionKeys {
    /// The key of the next question. A key that ends with `-` gets a number.
    fn next_key(&mut self, key: &'static str) -> String {
        if !key.ends_with('-') {
            return key.to_owned();
        }
        let count = self.0.entry(key).or_default();
        *count += 1;
        format!("{key}{count}")
    }
}

/// A task that is canceled when this value is dropped.
struct CallTask(JoinHandle<CallEnd>);

/// A question that the client has not answered yet.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    /// The key under which the client answers.
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: RawJson,
    pub(crate) reply: oneshot::Sender<RawJson>,
}

impl OpenQuestion {
    /// The question as a member of the input requests; `None` if it cannot be written.
    pub(crate) fn to_member(&self) -> Option<(String, Value)> {
        let params: Value = self.params.decode().ok()?;
        Some((self.key.clone(), json!({ "method": self.method, "params": params })))
    }
}

impl RunningCall {
    /// Adds a question to those that the client has to answer.
    pub(crate) fn open_question(&mut self, question: ClientQuestion) {
        let ClientQuestion { key, method, params, reply } = question;
        let key = self.keys.next_key(key);
        self.open.push(OpenQuestion { key, method, params, reply });
    }

    /// Moves the call into a task of its own, so that it goes on while no request of the client waits for it.
    /// Dropping this value still cancels the call.
    pub(crate) fn move_to_task(&mut self) {
        if self.is_task {
            return;
        }
        let call = std::mem::replace(&mut self.call, Box::pin(std::future::pending()));
        let mut task = CallTask(tokio::spawn(call));
        self.call = Box::pin(async move {
            match (&mut task.0).await {
                Ok(done) => done,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // Only the end of the runtime cancels the task while this future is polled.
                    Err(_) => std::future::pending().await,
                },
            }
        });
        self.is_task = true;
    }

    /// Whether nothing was sent to a server yet: only the gateway itself has asked, for permission or a sign-in.
    pub(crate) fn is_unsent(&self) -> bool {
        self.keys.0.is_empty()
    }

    /// Removes the questions that the server has withdrawn.
    pub(crate) fn drop_withdrawn(&mut self) {
        self.open.retain(|question| !question.reply.is_closed());
    }
}

impl Drop for CallTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningCall").field("open", &self.open.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G3
    #[test]
    fn keys_are_counted_for_each_kind_and_never_used_twice() {
        let mut keys = QuestionKeys::default();
        let asked = ["elicitation-", "sampling-", "elicitation-", "mcparley-permission", "roots-"];
        let expected = ["elicitation-1", "sampling-1", "elicitation-2", "mcparley-permission", "roots-1"];
        assert_eq!(asked.map(|key| keys.next_key(key)), expected);
    }
}
