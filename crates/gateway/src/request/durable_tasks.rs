//! Calls that become durable tasks: any tool of a local server, if the gateway has [`DurableCalls`] and the client
//! uses tasks.
//!
//! Tasks that servers have themselves are not affected. An id is sealed for the owner of the call: the user for clients
//! on standard input or a Unix socket, else the principal.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mcparley::Call;
use mcparley::call::DetachError;
use mcparley::model::limits::DURABLE_POLL_INTERVAL;
use mcparley::model::name::ServerName;
use mcparley::model::time::whole_milliseconds;
use mcparley::model::tool::TaskSupport;
use mcparley_wire::{INTERNAL, INVALID_PARAMS, ProtocolVersion, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::call_line::RELATED_TASK;
use crate::client_abilities::Caller;
use crate::durable_calls::{DurableCallError, DurableCalls, DurableState, DurableTask};
use crate::gateway::Gateway;
use crate::request::call_request::CallRequest;
use crate::response::era::{ResultForm, ResultFreshness};
use crate::response::extension_task::{TaskDetail, to_created_result, to_poll_result};
use crate::response::handshake::{has_task_extension, old_tasks, result_meta};
use crate::response::serialize_result;
use crate::session::GatewaySession;
use crate::session::running_call::CallEnd;
use crate::view::View;

/// A call that becomes a durable task.
pub(crate) struct DurableStart {
    durable: Arc<dyn DurableCalls>,
    gateway: Gateway,
    owner: Box<str>,
    is_new: bool,
    ttl: Option<Duration>,
}

impl GatewaySession {
    /// The durable task that a call becomes; `None` if it does not.
    pub(crate) fn durable_start(
        &self,
        view: &View,
        wanted: &CallRequest,
        caller: &Caller,
    ) -> Option<DurableStart> {
        let gateway = &self.shared.gateway;
        let durable = gateway.durable.clone()?;
        let uses_tasks = match caller.is_new() {
            true => caller.abilities.tasks,
            false => caller.has_old_tasks() && wanted.task.is_some(),
        };
        let entry = view.catalog.get(&wanted.name)?;
        let server = view.find_server(entry.server()?)?;
        // Some servers of both eras declare both kinds of tasks in each.
        let is_new_server = match &server.version {
            Some(version) => *version == ProtocolVersion::NEW,
            None => has_task_extension(server) && old_tasks(server).is_none(),
        };
        let has_own_tasks = match (caller.is_new(), is_new_server) {
            (true, true) => has_task_extension(server),
            (false, true) => false,
            (_, false) => old_tasks(server).is_some() && entry.tool.task != TaskSupport::Forbidden,
        };
        if !uses_tasks || wanted.is_inner || !server.is_local || has_own_tasks {
            return None;
        }
        Some(DurableStart {
            durable,
            gateway: gateway.clone(),
            owner: self.durable_owner().into(),
            is_new: caller.is_new(),
            ttl: wanted.task.as_ref().and_then(parse_ttl),
        })
    }

    /// The owner of this client's durable calls.
    fn durable_owner(&self) -> Cow<'_, str> {
        let is_user = ["stdio:", "unix:"].iter().any(|kind| self.principal_name().starts_with(kind));
        match (is_user, self.view_name()) {
            (true, None) => Cow::Borrowed("user"),
            (true, Some(view)) => Cow::Owned(format!("user\0{view}")),
            (false, _) => self.seal_owner(),
        }
    }

    /// The id of a durable task, from the id that the client has; `None` for other ids.
    pub(crate) fn find_durable_id(&self, client_id: &str) -> Option<String> {
        let gateway = &self.shared.gateway;
        gateway.durable.as_ref()?;
        let id = gateway.seal()?.open_id(&[&*self.durable_owner(), "durable task"], client_id)?;
        String::from_utf8(id).ok()
    }

    /// Answers a request about a durable task.
    pub(crate) async fn answer_durable_task(
        &self,
        caller: &Caller,
        (client_id, id): (&str, &str),
        method: &'static str,
    ) -> Result<RawJson, RpcError> {
        let durable = self.shared.gateway.durable.clone().ok_or_else(unknown_task_error)?;
        match (method, caller.is_new()) {
            ("tasks/get", false) => {
                let task = self.find_owned_task(&*durable, id, false).await?;
                serialize_result(&to_old_task(&task, client_id))
            }
            ("tasks/get", true) => {
                let task = self.find_owned_task(&*durable, id, false).await?;
                let detail = self.describe_end(&task, caller);
                serialize_result(&to_poll_result(to_new_task(&task, client_id), detail))
            }
            ("tasks/result", _) => {
                let task = loop {
                    let task = self.find_owned_task(&*durable, id, true).await?;
                    if task.state != DurableState::Running {
                        break task;
                    }
                };
                self.old_result(&task, client_id, caller)
            }
            ("tasks/cancel", is_new) => {
                self.find_owned_task(&*durable, id, false).await?;
                match (durable.cancel_task(id).await, is_new) {
                    (Ok(task), false) => serialize_result(&to_old_task(&task, client_id)),
                    // The extension acknowledges the wish, also if the call has just ended.
                    (Ok(_) | Err(DurableCallError::NotRunning), true) => acknowledge_request(),
                    (Err(error), _) => Err(durable_error(&error)),
                }
            }
            // A durable call asks no questions, so there is nothing to answer.
            _ => {
                self.find_owned_task(&*durable, id, false).await?;
                acknowledge_request()
            }
        }
    }

    /// The durable tasks of the client's owner as items of `tasks/list`, newest first.
    pub(crate) async fn list_durable_tasks(&self) -> Result<Vec<Value>, RpcError> {
        let gateway = &self.shared.gateway;
        let Some(durable) = &gateway.durable else { return Ok(Vec::new()) };
        let tasks = durable.list_tasks().await.map_err(|error| durable_error(&error))?;
        let owner = self.durable_owner();
        let owned = tasks.iter().filter(|task| task.owner.as_deref() == Some(&*owner));
        Ok(owned.filter_map(|task| Some(to_old_task(task, &gateway.durable_id(&owner, &task.id)?))).collect())
    }

    /// The task with this id, if it belongs to the client's owner.
    async fn find_owned_task(
        &self,
        durable: &dyn DurableCalls,
        id: &str,
        wait: bool,
    ) -> Result<DurableTask, RpcError> {
        let found = durable.find_task(id, wait).await.map_err(|error| durable_error(&error))?;
        let owned = found.filter(|task| task.owner.as_deref() == Some(&*self.durable_owner()));
        owned.ok_or_else(unknown_task_error)
    }

    /// The end of a task for a client of the new era.
    fn describe_end(&self, task: &DurableTask, caller: &Caller) -> Option<TaskDetail> {
        match task.state {
            DurableState::Running | DurableState::Cancelled => None,
            DurableState::Failed => {
                let error = json!({ "code": INTERNAL, "message": failure_text(task) });
                Some(TaskDetail::Ended("error", error))
            }
            DurableState::Completed => {
                let result = self.result_for_client(task, caller)?;
                Some(TaskDetail::Ended("result", result))
            }
        }
    }

    /// The result of `tasks/result`, once the call has ended.
    fn old_result(&self, task: &DurableTask, client_id: &str, caller: &Caller) -> Result<RawJson, RpcError> {
        let Some(mut result) = self.result_for_client(task, caller) else {
            return Err(RpcError::new(INTERNAL, &failure_text(task)));
        };
        if let Some(members) = result.as_object_mut() {
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            meta[RELATED_TASK] = json!({ "taskId": client_id });
        }
        serialize_result(&result)
    }

    fn result_for_client(&self, task: &DurableTask, caller: &Caller) -> Option<Value> {
        let view = self.shared.gateway.view();
        let server = ServerName::new(&task.server);
        let form = ResultForm::new(caller, &view, Some(&server));
        form.forward_result(task.result.as_ref()?, ResultFreshness::None).decode().ok()
    }
}

impl DurableStart {
    /// Takes the call through all steps before it is sent, and hands it over. The result is the task. If no more tasks
    /// can be kept, the call is made here; a client that has asked for a task itself would not understand its result,
    /// and gets the reason.
    pub(crate) async fn start_task(self, call: Call) -> CallEnd {
        let permitted = self.gateway.host.permit_detached_call(call, self.durable.link()).await;
        let (detached, permitted) = match permitted {
            Ok(permitted) => permitted,
            Err(DetachError::Call(error)) => return CallEnd::Call(Box::new(Err(error))),
            Err(error) => {
                return CallEnd::Request(Err(RpcError::new(INVALID_PARAMS, &error.to_string())));
            }
        };
        let started = self.durable.start_call(detached, &self.owner, self.ttl).await;
        if self.is_new && matches!(started, Err(DurableCallError::AtLimit(_))) {
            return CallEnd::Call(Box::new(permitted.send_here().await));
        }
        permitted.record_detached();
        CallEnd::Request(
            started.map_err(|error| durable_error(&error)).and_then(|task| self.to_created(&task)),
        )
    }

    /// The result of the call: the task that it has become.
    fn to_created(&self, task: &DurableTask) -> Result<RawJson, RpcError> {
        let id = self.gateway.durable_id(&self.owner, &task.id);
        let id = id.ok_or_else(|| RpcError::new(INTERNAL, "the system gives no random numbers"))?;
        match self.is_new {
            true => serialize_result(&to_created_result(to_new_task(task, &id))),
            false => serialize_result(&json!({ "task": to_old_task(task, &id) })),
        }
    }
}

impl Gateway {
    /// The id of a durable task for clients of this owner; `None` only without a key.
    fn durable_id(&self, owner: &str, id: &str) -> Option<String> {
        self.seal()?.seal_id(&[owner, "durable task"], id.as_bytes())
    }
}

/// The task in the form of 2025-11-25.
fn to_old_task(task: &DurableTask, id: &str) -> Value {
    let status = match task.state {
        // In this revision a result that is an error is a failure.
        DurableState::Completed if task.is_error => "failed",
        state => status_of(state),
    };
    let mut form = task_members(task, id, status);
    form.insert("ttl".to_owned(), json!(task.ttl_ms));
    form.insert("pollInterval".to_owned(), json!(whole_milliseconds(DURABLE_POLL_INTERVAL)));
    form.into()
}

/// The task in the form of the extension.
fn to_new_task(task: &DurableTask, id: &str) -> Map<String, Value> {
    let mut form = task_members(task, id, status_of(task.state));
    form.insert("ttlMs".to_owned(), json!(task.ttl_ms));
    form.insert("pollIntervalMs".to_owned(), json!(whole_milliseconds(DURABLE_POLL_INTERVAL)));
    form
}

fn task_members(task: &DurableTask, id: &str, status: &str) -> Map<String, Value> {
    let mut form = Map::new();
    form.insert("taskId".to_owned(), json!(id));
    form.insert("status".to_owned(), json!(status));
    if let Some(error) = &task.error {
        form.insert("statusMessage".to_owned(), json!(error));
    }
    form.insert("createdAt".to_owned(), json!(format_time(task.created_ms)));
    form.insert("lastUpdatedAt".to_owned(), json!(format_time(task.ended_ms.unwrap_or(task.created_ms))));
    form
}

fn status_of(state: DurableState) -> &'static str {
    match state {
        DurableState::Running => "working",
        DurableState::Completed => "completed",
        DurableState::Failed => "failed",
        DurableState::Cancelled => "cancelled",
    }
}

/// The time as ISO 8601.
fn format_time(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    time.unwrap_or_default().to_string()
}

fn failure_text(task: &DurableTask) -> String {
    match (&task.error, task.state) {
        (Some(error), _) => error.clone(),
        (None, DurableState::Cancelled) => "the task was canceled".to_owned(),
        (None, _) => "the task has no result".to_owned(),
    }
}

/// The time to live that the client wants.
fn parse_ttl(task: &RawJson) -> Option<Duration> {
    #[derive(Deserialize)]
    struct TaskWish {
        #[serde(default)]
        ttl: Option<u64>,
    }
    task.decode::<TaskWish>().ok()?.ttl.map(Duration::from_millis)
}

fn acknowledge_request() -> Result<RawJson, RpcError> {
    serialize_result(&json!({ "resultType": "complete", "_meta": result_meta() }))
}

fn unknown_task_error() -> RpcError {
    RpcError::new(INVALID_PARAMS, "unknown task")
}

fn durable_error(error: &DurableCallError) -> RpcError {
    let code = match error {
        DurableCallError::NotRunning => INVALID_PARAMS,
        DurableCallError::AtLimit(_) | DurableCallError::Unavailable(_) => INTERNAL,
    };
    RpcError::new(code, &error.to_string())
}
