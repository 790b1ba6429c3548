//! Tasks in both forms: 2025-11-25, where the client requests one, and the extension of the new era, where
//! the server decides.

use super::{Request, RequestEra, RpcRefusal, ScriptedServer, ServerOutcome, greeting, questions, tools};
use crate::lock::lock;
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

/// The tool whose calls become tasks.
pub(crate) const TOOL: &str = "chore";

/// The poll interval for the client, in milliseconds.
const POLL: u64 = 10;

/// All tasks.
#[derive(Debug, Default)]
pub(crate) struct ServerTasks(Mutex<HashMap<String, ServerTask>>);

#[derive(Clone, Debug)]
struct ServerTask {
    /// The number of polls.
    looks: u64,
    /// The result of the call.
    result: Value,
    /// The client's reply to the task's input request.
    told: Option<Value>,
    is_cancelled: bool,
}

/// The definition of the tool.
pub(crate) fn task_tool() -> Value {
    let mut tool = tools::echo_tool(TOOL);
    if let Some(tool) = tool.as_object_mut() {
        tool.insert("execution".to_owned(), json!({ "taskSupport": "required" }));
    }
    tool
}

/// The capabilities for tasks: a capability in the old era, an extension in the new.
pub(crate) fn capabilities() -> [(&'static str, Value); 2] {
    [
        ("tasks", json!({ "requests": { "tools": { "call": {} } }, "cancel": {}, "list": {} })),
        ("extensions", json!({ "io.modelcontextprotocol/tasks": {} })),
    ]
}

impl ScriptedServer {
    /// The outcome of a request about tasks; none for other requests.
    pub(super) fn task_outcome(
        &self,
        request: &Request<'_>,
        era: RequestEra,
    ) -> io::Result<Option<ServerOutcome>> {
        if !self.options.scripts.has(Name::Task) {
            return Ok(None);
        }
        Ok(Some(match request.method {
            "tools/call" if request.message.text("name") == Some(TOOL) => self.create_task(request, era),
            "tasks/get" => self.poll_task(request, era),
            "tasks/result" if era == RequestEra::Old => self.fetch_task_result(request)?,
            "tasks/list" if era == RequestEra::Old => self.list_tasks(),
            "tasks/update" if era == RequestEra::New => self.update_task(request, |_, task| {
                task.told = request.message.param("inputResponses").cloned();
                json!({ "resultType": "complete" })
            }),
            "tasks/cancel" => self.update_task(request, |id, task| {
                task.is_cancelled = true;
                match era {
                    RequestEra::Old => self.task_state(id, task, era),
                    RequestEra::New => json!({ "resultType": "complete" }),
                }
            }),
            _ => return Ok(None),
        }))
    }

    fn create_task(&self, request: &Request<'_>, era: RequestEra) -> ServerOutcome {
        let is_asked = match era {
            RequestEra::Old => request.message.param("task").is_some(),
            RequestEra::New => request.message.has_capability("/extensions/io.modelcontextprotocol~1tasks"),
        };
        if !is_asked {
            return ServerOutcome::Refused(RpcRefusal::unknown_method("this tool is called as a task"));
        }
        self.calls.count_execution(request.id);
        let arguments = request.message.param("arguments");
        let message = arguments.and_then(|arguments| arguments.get("message")).and_then(Value::as_str);
        let task = ServerTask {
            looks: 0,
            result: tools::text_result(message.unwrap_or_default()),
            told: None,
            is_cancelled: false,
        };
        let mut tasks = lock(&self.tasks.0);
        let id = format!("task-{}", tasks.len() + 1);
        let seen = self.task_state(&id, &task, era);
        tasks.insert(id, task);
        ServerOutcome::Result(match (era, seen) {
            (RequestEra::New, Value::Object(mut seen)) => {
                seen.insert("resultType".to_owned(), json!("task"));
                Value::Object(seen)
            }
            (_, seen) => json!({ "task": seen }),
        })
    }

    fn poll_task(&self, request: &Request<'_>, era: RequestEra) -> ServerOutcome {
        let id = request.message.text("taskId").unwrap_or_default();
        let is_forgotten = self.options.scripts.text(Name::TaskEnd) == Some("forgotten");
        let mut tasks = lock(&self.tasks.0);
        if is_forgotten && tasks.get(id).is_some_and(|task| task.looks > 0) {
            tasks.remove(id);
        }
        let Some(task) = tasks.get_mut(id) else {
            return ServerOutcome::Refused(RpcRefusal::invalid_params("no such task"));
        };
        task.looks += 1;
        self.complete_task_result(request, era, self.task_state(id, task, era))
    }

    /// All tasks, in one page (old era).
    fn list_tasks(&self) -> ServerOutcome {
        let tasks = lock(&self.tasks.0);
        let mut seen: Vec<Value> =
            tasks.iter().map(|(id, task)| self.task_state(id, task, RequestEra::Old)).collect();
        seen.sort_by_key(|task| task["taskId"].to_string());
        ServerOutcome::Result(json!({ "tasks": seen }))
    }

    /// The result of a task (old era); its input request is sent on the stream of this request.
    fn fetch_task_result(&self, request: &Request<'_>) -> io::Result<ServerOutcome> {
        let id = request.message.text("taskId").unwrap_or_default();
        let task = lock(&self.tasks.0).get(id).cloned();
        let Some(mut task) = task else {
            return Ok(ServerOutcome::Refused(RpcRefusal::invalid_params("no such task")));
        };
        if self.options.scripts.has(Name::TaskWants) {
            let told = self.questions.ask_for_task(request, id)?;
            task.result = tools::text_result(&told.to_string());
            task.told = Some(told);
            lock(&self.tasks.0).insert(id.to_owned(), task.clone());
        }
        Ok(match self.options.scripts.text(Name::TaskEnd) {
            Some("failed") => ServerOutcome::Refused(RpcRefusal::internal_error()),
            _ => ServerOutcome::Result(task.result),
        })
    }

    fn update_task(
        &self,
        request: &Request<'_>,
        change: impl FnOnce(&str, &mut ServerTask) -> Value,
    ) -> ServerOutcome {
        let id = request.message.text("taskId").unwrap_or_default();
        match lock(&self.tasks.0).get_mut(id) {
            Some(task) => ServerOutcome::Result(change(id, task)),
            None => ServerOutcome::Refused(RpcRefusal::invalid_params("no such task")),
        }
    }

    fn complete_task_result(&self, request: &Request<'_>, era: RequestEra, result: Value) -> ServerOutcome {
        ServerOutcome::Result(match era {
            RequestEra::New => greeting::complete_result(&self.options, request.method, result),
            RequestEra::Old => result,
        })
    }

    /// The state of the task as the client sees it.
    fn task_state(&self, id: &str, task: &ServerTask, era: RequestEra) -> Value {
        let scripts = &self.options.scripts;
        let last = scripts.number(Name::Task).unwrap_or(0);
        let wants = scripts.has(Name::TaskWants) && task.told.is_none() && task.looks > 0;
        let end = scripts.text(Name::TaskEnd).filter(|end| *end != "forgotten").unwrap_or("completed");
        let status = match (task.is_cancelled, wants, last > 0 && task.looks >= last) {
            (true, _, _) => "cancelled",
            (false, true, _) => "input_required",
            (false, false, true) => end,
            (false, false, false) => "working",
        };
        let (poll, ttl) = match era {
            RequestEra::Old => ("pollInterval", "ttl"),
            RequestEra::New => ("pollIntervalMs", "ttlMs"),
        };
        let mut seen = json!({
            "taskId": id, "status": status, "statusMessage": format!("look {}", task.looks),
            "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", poll: POLL, ttl: null,
        });
        let more = match (era, status) {
            (RequestEra::New, "input_required") => ("inputRequests", questions::form_request()),
            (RequestEra::New, "completed") => ("result", task_result(task)),
            (RequestEra::New, "failed") => ("error", json!({ "code": -32603, "message": "Internal error" })),
            (RequestEra::Old | RequestEra::New, _) => return seen,
        };
        if let Some(seen) = seen.as_object_mut() {
            seen.insert(more.0.to_owned(), more.1);
        }
        seen
    }
}

/// The result of the call, or the client's reply to the input request.
fn task_result(task: &ServerTask) -> Value {
    task.told.as_ref().map_or_else(|| task.result.clone(), |told| tools::text_result(&told.to_string()))
}
