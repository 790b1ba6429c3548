//! Answers requests about tasks, and creates tasks for clients.
//!
//! Client and server of one era: requests are relayed with the ids of the client. A client of the new era and
//! a server of 2025-11-25: see `mapped_tasks`. A client of the old era and a server of the new one: no tasks
//! are offered, and the gateway follows a task until its call has a result.

use mcparley::model::name::ServerName;
use mcparley_wire::{INVALID_PARAMS, RawJson, RequestParams, RpcError};
use serde_json::{Value, json};

use crate::client_abilities::Caller;
use crate::json_edit::{JsonEdit, JsonMembers};
use crate::request::relay::RelayedRequest;
use crate::request::task_ids::parse_task;
use crate::response::era::{ResultForm, ResultFreshness};
use crate::response::extension_task::{to_created_result, to_extension_task};
use crate::response::input_requests::name_questions;
use crate::response::serialize_result;
use crate::session::GatewaySession;
use crate::session::client_tasks::{TaskAddress, TaskFlavor};
use crate::view::address::AddressRewriter;

/// The methods of tasks: those of 2025-11-25, and those of the extension of the new era.
pub(crate) fn task_method(method: &str, caller: &Caller) -> Option<&'static str> {
    const OLD: [&str; 4] = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"];
    const NEW: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];
    let methods: &[&'static str] = match (caller.is_new(), caller.has_old_tasks()) {
        (true, _) => &NEW,
        (false, true) => &OLD,
        (false, false) => &[],
    };
    methods.iter().find(|known| **known == method).copied()
}

impl GatewaySession {
    /// Answers a request about tasks.
    pub(crate) async fn answer_task_request(
        &self,
        request: RelayedRequest<'_>,
        method: &'static str,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        if method == "tasks/list" {
            return self.list_tasks(request, params).await;
        }
        let unknown = || RpcError::new(INVALID_PARAMS, "unknown task");
        let id = params.and_then(|params| params.member("taskId")?.decode::<String>().ok());
        let id = id.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`taskId` must be a string"))?;
        if let Some(durable) = self.find_durable_id(&id) {
            return self.answer_durable_task(&request.caller, (&id, &durable), method).await;
        }
        let task = self.find_task(&id).ok_or_else(|| {
            self.record_misuse(method, &id);
            unknown()
        })?;
        match (request.caller.is_new(), task.flavor) {
            (true, TaskFlavor::Extension) => self.relay_extension_task(request, &task, method, params).await,
            (true, TaskFlavor::Old) => self.answer_mapped_task(request, (task, &id), method, params).await,
            (false, TaskFlavor::Old) => self.relay_old_task(request, &task, method).await,
            (false, TaskFlavor::Extension) => Err(unknown()),
        }
    }

    /// The answer to a call that has become a task, which its client follows; `None` for other results.
    pub(crate) fn finish_task_result(
        &self,
        server: &ServerName,
        result: &RawJson,
        form: &ResultForm<'_>,
    ) -> Option<RawJson> {
        let (flavor, id) = parse_task(result)?;
        let task = TaskAddress { server: server.clone(), flavor, id };
        let answer = match (flavor, form.caller.is_new()) {
            (TaskFlavor::Old, true) => {
                let created = to_extension_task(&result.member("task")?, &self.client_task_id(&task)?);
                serialize_result(&to_created_result(created)).ok()?
            }
            (TaskFlavor::Old, false) | (TaskFlavor::Extension, _) => {
                RawJson::from_text(&self.rename_tasks(server, flavor, result.as_str()))
            }
        };
        self.shared.tasks.remember_task(task);
        Some(answer)
    }

    async fn relay_old_task(
        &self,
        request: RelayedRequest<'_>,
        task: &TaskAddress,
        method: &'static str,
    ) -> Result<RawJson, RpcError> {
        let server = &task.server;
        if method != "tasks/result" {
            let params = RequestParams::new().with_member("taskId", &task.id);
            let answer = self.relay_request(request, server, (method, None), params).await?;
            return Ok(RawJson::from_text(&self.rename_tasks(server, task.flavor, answer.as_str())));
        }
        let answer = self.fetch_task_result(request, task).await?;
        let renamed = RawJson::from_text(&self.rename_tasks(server, task.flavor, answer.as_str()));
        let view = self.shared.gateway.view();
        let form = ResultForm::new(&request.caller, &view, Some(server));
        Ok(form.forward_result(&renamed, ResultFreshness::None))
    }

    async fn relay_extension_task(
        &self,
        request: RelayedRequest<'_>,
        task: &TaskAddress,
        method: &'static str,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let sent = RequestParams::new().with_member("taskId", &task.id);
        let sent = match params.and_then(|params| params.member("inputResponses")) {
            Some(responses) if method == "tasks/update" => sent.with_raw("inputResponses", &responses),
            Some(_) | None => sent,
        };
        let answer = self.relay_request(request, &task.server, (method, None), sent).await?;
        let renamed = self.rename_tasks(&task.server, task.flavor, answer.as_str());
        let renamed = match self.names_servers() {
            true => name_questions(&task.server, &renamed),
            false => renamed,
        };
        let view = self.shared.gateway.view();
        let routed = match view.tag_of(&task.server) {
            Some(tag) => rewrite_inner_result(&renamed, tag),
            None => renamed,
        };
        Ok(RawJson::from_text(&routed))
    }

    /// Answers `tasks/list`, one server after the other. A client sees the tasks that it has created; a
    /// transparent gateway with one principal leaves that to its server.
    async fn list_tasks(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let view = self.shared.gateway.view();
        let listing = |server: &&crate::view::ViewServer| {
            let tasks = server.about.as_ref().and_then(|about| about.capabilities.get("tasks"));
            tasks.is_some_and(|tasks| tasks.get("list").is_some()) && self.is_old_server(&server.name)
        };
        let servers: Vec<&ServerName> =
            view.servers.iter().filter(listing).map(|server| &server.name).collect();
        let invalid = || RpcError::new(INVALID_PARAMS, "`cursor` is invalid");
        let (place, theirs) = match params.and_then(|params| params.member("cursor")) {
            // The first page has the durable tasks, which are not those of a server.
            None if self.shared.gateway.durable.is_some() => {
                let mut listed = json!({ "tasks": self.list_durable_tasks().await? });
                if let Some(next) = servers.first().and_then(|server| self.seal_task_cursor(server, None)) {
                    listed["nextCursor"] = json!(next);
                }
                return serialize_result(&listed);
            }
            None => (0, None),
            Some(cursor) => {
                let cursor: String = cursor.decode().map_err(|_| invalid())?;
                let (server, theirs) = self.open_task_cursor(&cursor).ok_or_else(invalid)?;
                (servers.iter().position(|known| known.as_str() == server).ok_or_else(invalid)?, theirs)
            }
        };
        let Some(server) = servers.get(place) else { return serialize_result(&json!({ "tasks": [] })) };
        let sent = match &theirs {
            Some(cursor) => RequestParams::new().with_member("cursor", cursor),
            None => RequestParams::new(),
        };
        let answer = self.relay_request(request, server, ("tasks/list", None), sent).await?;
        let mut page: Value = answer.decode().map_err(|_| {
            RpcError::new(mcparley_wire::INTERNAL, "the server's list of tasks cannot be read")
        })?;
        let tasks = page.get_mut("tasks").map(Value::take).unwrap_or_default();
        let tasks = tasks.as_array().cloned().unwrap_or_default();
        let tasks: Vec<Value> = tasks.into_iter().filter_map(|task| self.list_item(server, task)).collect();
        let next = match page.get("nextCursor").and_then(Value::as_str) {
            Some(theirs) => self.seal_task_cursor(server, Some(theirs)),
            None => servers.get(place + 1).and_then(|server| self.seal_task_cursor(server, None)),
        };
        let mut listed = json!({ "tasks": tasks });
        if let Some(next) = next {
            listed["nextCursor"] = json!(next);
        }
        serialize_result(&listed)
    }

    /// A task of a list with the client's id; `None` if it is not a task of the client.
    fn list_item(&self, server: &ServerName, mut task: Value) -> Option<Value> {
        let id = task.get("taskId")?.as_str()?.to_owned();
        let address = TaskAddress { server: server.clone(), flavor: TaskFlavor::Old, id };
        let name = self.client_task_id(&address)?;
        if name != address.id && !self.shared.tasks.contains(&address) {
            return None;
        }
        *task.get_mut("taskId")? = json!(name);
        Some(task)
    }

    fn seal_task_cursor(&self, server: &ServerName, theirs: Option<&str>) -> Option<String> {
        let content = serde_json::to_vec(&(server.as_str(), theirs)).ok()?;
        self.shared.gateway.seal()?.seal_value(&[&*self.seal_owner(), "tasks"], &content)
    }

    fn open_task_cursor(&self, cursor: &str) -> Option<(String, Option<String>)> {
        let content = self.shared.gateway.seal()?.open_value(&[&*self.seal_owner(), "tasks"], cursor)?;
        serde_json::from_slice(&content).ok()
    }
}

/// A task with the client's addresses in the result of its call.
fn rewrite_inner_result(text: &str, tag: &str) -> String {
    let Some(result) = JsonMembers::parse(text).and_then(|members| members.get("result")) else {
        return text.to_owned();
    };
    let rewritten = AddressRewriter::new(result.get(), tag).rewrite_result(result.get()).into_owned();
    let mut edit = JsonEdit::new(text);
    edit.replace(result, rewritten);
    edit.finish().into_owned()
}
