//! The tasks extension: tools that run as tasks, and the methods that follow them.
//!
//! A task is a value: its status follows from its end, its open questions and the time of the reading.

use super::clock::now_text;
use super::rpc::{RpcFailure, RpcOutcome, meta_key, text_result};
use super::scope::{Era, RequestScope, form, input_required};
use crate::lock::lock;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The time that a task takes after its last answer.
const BRIEF: Duration = Duration::from_millis(100);
const TTL_MS: u64 = 300_000;

/// All tasks of the process.
#[derive(Debug, Default)]
pub(crate) struct TaskStore {
    tasks: Mutex<HashMap<String, Task>>,
}

#[derive(Debug)]
struct Task {
    created: String,
    updated: String,
    ends: Instant,
    /// The questions without an answer, by key.
    questions: Map<String, Value>,
    outcome: RpcOutcome,
    canceled: bool,
}

/// The way in which a tool uses tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskSupport {
    Optional,
    Required,
}

const TOOLS: [(&str, TaskSupport); 6] = [
    ("slow_compute", TaskSupport::Optional),
    ("failing_job", TaskSupport::Required),
    ("protocol_error_job", TaskSupport::Required),
    ("confirm_delete", TaskSupport::Required),
    ("multi_input", TaskSupport::Required),
    ("test_tool_with_task", TaskSupport::Required),
];

/// The definitions of the tools.
pub(crate) fn task_tools() -> Vec<Value> {
    let tool = |&(name, support): &(&str, TaskSupport)| {
        let properties = match name {
            "slow_compute" => json!({ "seconds": { "type": "number" }, "label": { "type": "string" } }),
            "confirm_delete" => json!({ "filename": { "type": "string" } }),
            _ => json!({}),
        };
        let word = match support {
            TaskSupport::Optional => "optional",
            TaskSupport::Required => "required",
        };
        json!({
            "name": name,
            "description": format!("Runs as a task: {}", name.replace('_', " ")),
            "inputSchema": { "type": "object", "properties": properties },
            "execution": { "taskSupport": word },
        })
    };
    TOOLS.iter().map(tool).collect()
}

impl TaskStore {
    /// Calls a tool of this family; none for other tools.
    pub(crate) fn call_tool(&self, name: &str, scope: &RequestScope<'_>) -> Option<RpcOutcome> {
        let (_, support) = TOOLS.iter().find(|(known, _)| *known == name)?;
        Some(match (scope.has_tasks(), support, scope.era) {
            (true, _, _) => self.start_tool(name, scope),
            (false, TaskSupport::Required, Era::New) => Err(missing_extension()),
            (false, TaskSupport::Required, Era::Old) => {
                Err(RpcFailure::new(-32601, format!("`{name}` runs only as a task")))
            }
            (false, TaskSupport::Optional, _) => {
                thread::sleep(seconds(scope));
                Ok(computed(scope))
            }
        })
    }

    fn start_tool(&self, name: &str, scope: &RequestScope<'_>) -> RpcOutcome {
        let confirm =
            |message: &str| form(message, &json!({ "confirm": { "type": "boolean" } }), &["confirm"]);
        let second = Duration::from_secs(1);
        Ok(match name {
            "slow_compute" => self.create_task(seconds(scope), Map::new(), Ok(computed(scope))),
            "failing_job" => {
                let mut failed = text_result("The job failed.");
                failed["isError"] = json!(true);
                self.create_task(second, Map::new(), Ok(failed))
            }
            "protocol_error_job" => {
                let crash = RpcFailure::new(-32603, "the job crashed");
                self.create_task(BRIEF, Map::new(), Err(crash))
            }
            "confirm_delete" => {
                let file = scope.argument("filename");
                let questions = [("confirm-1".to_owned(), confirm(&format!("Delete {file}?")))];
                self.create_task(
                    BRIEF,
                    Map::from_iter(questions),
                    Ok(text_result(format!("Deleted {file}."))),
                )
            }
            "multi_input" => {
                let questions = [1, 2].map(|n| (format!("input-{n}"), confirm(&format!("Input {n}?"))));
                self.create_task(BRIEF, Map::from_iter(questions), Ok(text_result("Both inputs arrived.")))
            }
            _ => match scope.input("user_name") {
                Some(given) => {
                    let user = given["content"]["name"].as_str().unwrap_or_default();
                    self.create_task(BRIEF, Map::new(), Ok(text_result(format!("Hello, {user}."))))
                }
                None => {
                    let question = form("Your name?", &json!({ "name": { "type": "string" } }), &["name"]);
                    input_required(&json!({ "user_name": question }), None)
                }
            },
        })
    }

    fn create_task(&self, time: Duration, questions: Map<String, Value>, outcome: RpcOutcome) -> Value {
        let now = now_text();
        let (created, updated) = (now.clone(), now);
        let task =
            Task { created, updated, ends: Instant::now() + time, questions, outcome, canceled: false };
        let mut tasks = lock(&self.tasks);
        let id = format!("task-{}", tasks.len() + 1);
        let mut created = task.summary(&id);
        created["resultType"] = json!("task");
        tasks.insert(id, task);
        created
    }

    /// Answers the methods of the extension; none for other methods.
    pub(crate) fn answer(&self, method: &str, scope: &RequestScope<'_>) -> Option<RpcOutcome> {
        let is_ours = matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel");
        if !is_ours || scope.era == Era::Old {
            return None;
        }
        Some(match scope.has_tasks() {
            true => self.answer_negotiated(method, scope.params),
            false => Err(missing_extension()),
        })
    }

    fn answer_negotiated(&self, method: &str, params: &Value) -> RpcOutcome {
        let id = params["taskId"].as_str().unwrap_or_default();
        let mut tasks = lock(&self.tasks);
        let unknown = || RpcFailure::new(-32602, format!("unknown task `{id}`"));
        let task = tasks.get_mut(id).ok_or_else(unknown)?;
        match method {
            "tasks/get" => return Ok(task.detail(id)),
            "tasks/update" => task.take_answers(&params["inputResponses"]),
            _ => task.cancel(),
        }
        Ok(json!({}))
    }
}

impl Task {
    fn status(&self) -> &'static str {
        match &self.outcome {
            _ if self.canceled => "cancelled",
            _ if !self.questions.is_empty() => "input_required",
            _ if Instant::now() < self.ends => "working",
            Ok(_) => "completed",
            Err(_) => "failed",
        }
    }

    fn summary(&self, id: &str) -> Value {
        json!({
            "taskId": id,
            "status": self.status(),
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": TTL_MS,
            "pollIntervalMs": 100,
        })
    }

    fn detail(&self, id: &str) -> Value {
        let mut detail = self.summary(id);
        match (self.status(), &self.outcome) {
            ("input_required", _) => detail["inputRequests"] = json!(self.questions),
            ("completed", Ok(result)) => detail["result"] = result.clone(),
            ("failed", Err(failure)) => detail["error"] = failure.to_answer(&Value::Null)["error"].clone(),
            _ => {}
        }
        detail
    }

    /// Takes the answers to open questions; other keys are ignored.
    fn take_answers(&mut self, answers: &Value) {
        let open = self.questions.len();
        self.questions.retain(|key, _| !answers[key].is_object());
        if self.questions.len() < open {
            self.updated = now_text();
            self.ends = Instant::now() + BRIEF;
        }
    }

    fn cancel(&mut self) {
        if matches!(self.status(), "working" | "input_required") {
            self.canceled = true;
            self.updated = now_text();
        }
    }
}

fn missing_extension() -> RpcFailure {
    RpcFailure::missing_capability(&json!({ "extensions": { meta_key("tasks"): {} } }))
}

fn seconds(scope: &RequestScope<'_>) -> Duration {
    let seconds = scope.arguments()["seconds"].as_f64().unwrap_or_default();
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn computed(scope: &RequestScope<'_>) -> Value {
    text_result(format!("Computed {}.", scope.argument("label")))
}
