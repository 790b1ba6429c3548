//! Calls that go on by themselves, in both flavours: 2025-11-25, where the client asks for it, and the extension of the new
//! era, where the server decides.

use super::{Era, Outcome, Refusal, Request, Server, greeting, questions, tools};
use crate::lock::lock;
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

/// The tool whose calls become tasks.
pub(crate) const TOOL: &str = "chore";

/// How soon the client is to look again, in milliseconds.
const POLL: u64 = 10;

/// The tasks there are.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Task>>);

#[derive(Clone, Debug)]
struct Task {
    /// How often somebody has looked.
    looks: u64,
    /// The result of the call.
    result: Value,
    /// What was answered to what it wanted.
    told: Option<Value>,
    is_cancelled: bool,
}

/// The tool, as it is listed.
pub(crate) fn tool() -> Value {
    let mut tool = tools::echo(TOOL);
    if let Some(tool) = tool.as_object_mut() {
        tool.insert("execution".to_owned(), json!({ "taskSupport": "required" }));
    }
    tool
}

/// What the greeting says about it: a capability in the old era, an extension in the new.
pub(crate) fn capabilities() -> [(&'static str, Value); 2] {
    [
        ("tasks", json!({ "requests": { "tools": { "call": {} } }, "cancel": {} })),
        ("extensions", json!({ "io.modelcontextprotocol/tasks": {} })),
    ]
}

impl Server {
    /// What a request comes to that is about tasks.
    pub(super) fn task_outcome(&self, request: &Request<'_>, era: Era) -> io::Result<Option<Outcome>> {
        if !self.options.scripts.has(Name::Task) {
            return Ok(None);
        }
        Ok(Some(match request.method {
            "tools/call" if request.message.text("name") == Some(TOOL) => self.begin(request, era),
            "tasks/get" => self.look(request, era),
            "tasks/result" if era == Era::Old => self.fetch(request)?,
            "tasks/update" if era == Era::New => self.with_task(request, |task| {
                task.told = request.message.param("inputResponses").cloned();
                json!({})
            }),
            "tasks/cancel" => self.with_task(request, |task| {
                task.is_cancelled = true;
                json!({})
            }),
            _ => return Ok(None),
        }))
    }

    fn begin(&self, request: &Request<'_>, era: Era) -> Outcome {
        let is_asked = match era {
            Era::Old => request.message.param("task").is_some(),
            Era::New => request.message.can("/extensions/io.modelcontextprotocol~1tasks"),
        };
        if !is_asked {
            return Outcome::Refused(Refusal::unknown_method("this tool is called as a task"));
        }
        self.calls.count(request.id);
        let arguments = request.message.param("arguments");
        let message = arguments.and_then(|arguments| arguments.get("message")).and_then(Value::as_str);
        let task = Task {
            looks: 0,
            result: tools::text(message.unwrap_or_default()),
            told: None,
            is_cancelled: false,
        };
        let mut tasks = lock(&self.tasks.0);
        let id = format!("task-{}", tasks.len() + 1);
        let seen = self.seen(&id, &task, era);
        tasks.insert(id, task);
        Outcome::Result(match (era, seen) {
            (Era::New, Value::Object(mut seen)) => {
                seen.insert("resultType".to_owned(), json!("task"));
                Value::Object(seen)
            }
            (_, seen) => json!({ "task": seen }),
        })
    }

    fn look(&self, request: &Request<'_>, era: Era) -> Outcome {
        let id = request.message.text("taskId").unwrap_or_default();
        let is_forgotten = self.options.scripts.text(Name::TaskEnd) == Some("forgotten");
        let mut tasks = lock(&self.tasks.0);
        if is_forgotten && tasks.get(id).is_some_and(|task| task.looks > 0) {
            tasks.remove(id);
        }
        let Some(task) = tasks.get_mut(id) else { return Outcome::Refused(Refusal::params("no such task")) };
        task.looks += 1;
        self.finished(request, era, self.seen(id, task, era))
    }

    /// The old era's way to the result; what the task wants to know is asked on its stream.
    fn fetch(&self, request: &Request<'_>) -> io::Result<Outcome> {
        let id = request.message.text("taskId").unwrap_or_default();
        let task = lock(&self.tasks.0).get(id).cloned();
        let Some(mut task) = task else { return Ok(Outcome::Refused(Refusal::params("no such task"))) };
        if self.options.scripts.has(Name::TaskWants) {
            let told = self.questions.ask(request, "elicitation/create")?;
            task.result = tools::text(&told.to_string());
        }
        Ok(match self.options.scripts.text(Name::TaskEnd) {
            Some("failed") => Outcome::Refused(Refusal::internal()),
            _ => Outcome::Result(task.result),
        })
    }

    fn with_task(&self, request: &Request<'_>, change: impl FnOnce(&mut Task) -> Value) -> Outcome {
        let id = request.message.text("taskId").unwrap_or_default();
        match lock(&self.tasks.0).get_mut(id) {
            Some(task) => Outcome::Result(change(task)),
            None => Outcome::Refused(Refusal::params("no such task")),
        }
    }

    fn finished(&self, request: &Request<'_>, era: Era, result: Value) -> Outcome {
        Outcome::Result(match era {
            Era::New => greeting::complete(&self.options, request.method, result),
            Era::Old => result,
        })
    }

    /// The task as it is shown.
    fn seen(&self, id: &str, task: &Task, era: Era) -> Value {
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
        let poll = match era {
            Era::Old => "pollInterval",
            Era::New => "pollIntervalMs",
        };
        let mut seen = json!({
            "taskId": id, "status": status, "statusMessage": format!("look {}", task.looks),
            "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", poll: POLL,
        });
        let more = match (era, status) {
            (Era::Old, _) => ("ttl", Value::Null),
            (Era::New, "input_required") => ("inputRequests", questions::form_request()),
            (Era::New, "completed") => ("result", told(task)),
            (Era::New, "failed") => ("error", json!({ "code": -32603, "message": "Internal error" })),
            (Era::New, _) => ("ttlMs", Value::Null),
        };
        if let Some(seen) = seen.as_object_mut() {
            seen.insert(more.0.to_owned(), more.1);
        }
        seen
    }
}

/// The result of the call, or what was answered to what the task wanted.
fn told(task: &Task) -> Value {
    task.told.as_ref().map_or_else(|| task.result.clone(), |told| tools::text(&told.to_string()))
}
