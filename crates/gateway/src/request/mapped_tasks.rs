//! Tasks of servers of 2025-11-25 for clients of the new era, as the extension has them.
//!
//! A task that has ended gets the result of its call with `tasks/result`. A task that requires input asks
//! during that request: so the request is started at the first `tasks/get` that sees it, and kept with its
//! questions until the client has answered them with `tasks/update`.

use std::time::Duration;

use mcparley_wire::{RawJson, RequestParams, RpcError};
use serde_json::{Map, Value, json};

use crate::request::call::{collect_questions, next_question};
use crate::request::relay::{RelayedRequest, request_error};
use crate::response::era::{ResultForm, ResultFreshness};
use crate::response::extension_task::{TaskDetail, to_extension_task, to_poll_result};
use crate::response::handshake::result_meta;
use crate::response::serialize_result;
use crate::session::GatewaySession;
use crate::session::client_tasks::TaskAddress;
use crate::session::parked::deliver_answers;
use crate::session::running_call::{CallEnd, QuestionKeys, RunningCall};

/// The time in which the question or the result of a task is awaited by one `tasks/get`.
const DETAIL_TIME: Duration = Duration::from_secs(1);

impl GatewaySession {
    /// Answers a request of the extension about a task of the old era.
    pub(crate) async fn answer_mapped_task(
        &self,
        request: RelayedRequest<'_>,
        (task, id): (TaskAddress, &str),
        method: &'static str,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        match method {
            "tasks/get" => self.poll_mapped_task(request, (task, id)).await,
            "tasks/update" => {
                let responses = params.and_then(|params| params.member("inputResponses"));
                if let Some(mut running) = self.shared.tasks.take_result(&task) {
                    let delivered = deliver_answers(&mut running.open, responses.as_ref());
                    self.shared.tasks.keep_result(task, running);
                    delivered?;
                }
                serialize_result(&json!({ "resultType": "complete", "_meta": result_meta() }))
            }
            _ => {
                let sent = RequestParams::new().with_member("taskId", &task.id);
                self.relay_request(request, &task.server, ("tasks/cancel", None), sent).await?;
                drop(self.shared.tasks.take_result(&task));
                serialize_result(&json!({ "resultType": "complete", "_meta": result_meta() }))
            }
        }
    }

    async fn poll_mapped_task(
        &self,
        request: RelayedRequest<'_>,
        (task, id): (TaskAddress, &str),
    ) -> Result<RawJson, RpcError> {
        let sent = RequestParams::new().with_member("taskId", &task.id);
        let seen = self.relay_request(request, &task.server, ("tasks/get", None), sent).await?;
        let form = to_extension_task(&seen, id);
        let status = form.get("status").and_then(Value::as_str).unwrap_or_default();
        let detail = match (status, self.shared.tasks.take_result(&task)) {
            (_, Some(running)) => self.await_detail(request, &task, running).await,
            ("input_required" | "completed" | "failed", None) => {
                let running = self.start_task_result(request, &task);
                self.await_detail(request, &task, running).await
            }
            (_, None) => None,
        };
        serialize_result(&to_poll_result(form, detail))
    }

    /// Starts the request for the result of a task.
    fn start_task_result(&self, request: RelayedRequest<'_>, task: &TaskAddress) -> RunningCall {
        let RelayedRequest { caller, meta, replies } = request;
        let (context, line, questions) =
            self.request_context(("tasks/result", None), (caller, meta), replies);
        let (host, task) = (self.host().clone(), task.clone());
        let call = Box::pin(async move {
            let answer = host.relay_task_result(&task.server, &task.id, context).await;
            CallEnd::Request(
                answer.map_err(|error| request_error(error, ("tasks/result", None), &caller, None)),
            )
        });
        let (keys, open) = (QuestionKeys::default(), Vec::new());
        RunningCall { call, questions, progress: None, line, server: None, open, keys, is_task: false }
    }

    /// Fetches the result of a task for a client of the old era, which is asked during the request.
    pub(crate) async fn fetch_task_result(
        &self,
        request: RelayedRequest<'_>,
        task: &TaskAddress,
    ) -> Result<RawJson, RpcError> {
        match self.start_task_result(request, task).call.await {
            CallEnd::Request(answer) => answer,
            CallEnd::Call(_) => Err(RpcError::new(mcparley_wire::INTERNAL, "the task has no result")),
        }
    }

    /// Waits a short time for the result of a task or its questions. Without either, the request is kept.
    async fn await_detail(
        &self,
        request: RelayedRequest<'_>,
        task: &TaskAddress,
        mut running: RunningCall,
    ) -> Option<TaskDetail> {
        running.line.move_to(request.replies);
        running.drop_withdrawn();
        if running.open.is_empty() {
            tokio::select! {
                biased;
                done = &mut running.call => return Some(self.end_task(request, task, done)),
                Some(question) = next_question(running.questions.as_mut()) => {
                    running.open_question(question);
                    collect_questions(&mut running).await;
                }
                () = tokio::time::sleep(DETAIL_TIME) => {}
            }
        }
        let open = running.open.iter();
        let questions: Map<String, Value> = open.filter_map(|open| open.to_member()).collect();
        self.shared.tasks.keep_result(task.clone(), running);
        (!questions.is_empty()).then_some(TaskDetail::Questions(questions))
    }

    /// The end of a task: the result or the error of its call.
    fn end_task(&self, request: RelayedRequest<'_>, task: &TaskAddress, done: CallEnd) -> TaskDetail {
        match done {
            CallEnd::Request(Ok(answer)) => {
                let renamed = self.rename_tasks(&task.server, task.flavor, answer.as_str());
                let view = self.shared.gateway.view();
                let form = ResultForm::new(&request.caller, &view, Some(&task.server));
                let answer = form.forward_result(&RawJson::from_text(&renamed), ResultFreshness::None);
                TaskDetail::Ended("result", answer.decode().unwrap_or_default())
            }
            CallEnd::Request(Err(error)) => TaskDetail::Ended("error", error_json(&error)),
            CallEnd::Call(_) => TaskDetail::Ended("error", json!({ "code": -32603, "message": "no result" })),
        }
    }
}

fn error_json(error: &RpcError) -> Value {
    let mut json = json!({ "code": error.code, "message": error.message.clean_text() });
    if let Some(data) = error.data.as_ref().and_then(|data| data.decode::<Value>().ok()) {
        json["data"] = data;
    }
    json
}
