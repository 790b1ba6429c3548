//! The ids of tasks for clients.
//!
//! A transparent gateway with one principal uses the ids of its server. Otherwise an id is sealed: it names
//! its server, and is valid for its principal only, so that no client guesses the task of another one.

use mcparley::model::name::ServerName;
use mcparley_cluster::InstanceId;
use mcparley_wire::RawJson;
use serde_json::value::RawValue;

use crate::call_line::RELATED_TASK;
use crate::json_edit::{JsonEdit, JsonMembers, array_elements, decode_string, json_string};
use crate::session::GatewaySession;
use crate::session::client_tasks::{TaskAddress, TaskFlavor};

impl GatewaySession {
    /// Whether ids are those of the server.
    fn has_plain_task_ids(&self) -> bool {
        self.is_transparent() && !self.is_told_apart() && self.shared.gateway.cluster().is_none()
    }

    /// The id of a task for the client; `None` only if there is no key to seal it.
    pub(crate) fn client_task_id(&self, task: &TaskAddress) -> Option<String> {
        if self.has_plain_task_ids() {
            return Some(task.id.clone());
        }
        let flavor = if task.flavor == TaskFlavor::Old { "old" } else { "new" };
        let content = match self.shared.gateway.cluster() {
            // The id names its gateway, whose process of the server runs the task.
            Some(link) => {
                serde_json::to_vec(&(task.server.as_str(), flavor, &task.id, link.instance())).ok()?
            }
            None => serde_json::to_vec(&(task.server.as_str(), flavor, &task.id)).ok()?,
        };
        self.shared.gateway.seal()?.seal_id(&[&*self.seal_owner(), "task"], &content)
    }

    /// The task of a client's id; `None` for an id that this client cannot have.
    pub(crate) fn find_task(&self, id: &str) -> Option<TaskAddress> {
        if self.has_plain_task_ids() {
            let server = self.shared.gateway.mode.one.clone()?;
            let flavor = self.task_flavor(&server);
            let plain = TaskAddress { server, flavor, id: id.to_owned() };
            return Some(self.shared.tasks.find_task(id).unwrap_or(plain));
        }
        let content = self.shared.gateway.seal()?.open_id(&[&*self.seal_owner(), "task"], id)?;
        let (server, flavor, id, _owner) = parse_content(&content)?;
        let flavor = if flavor == "old" { TaskFlavor::Old } else { TaskFlavor::Extension };
        Some(TaskAddress { server: ServerName::new(&server), flavor, id })
    }

    /// The gateway that owns the task of a client's id; `None` for an id that names none.
    pub(crate) fn find_task_gateway(&self, id: &str) -> Option<InstanceId> {
        let content = self.shared.gateway.seal()?.open_id(&[&*self.seal_owner(), "task"], id)?;
        let (.., owner) = parse_content(&content)?;
        owner
    }

    /// The flavor of the tasks of a server.
    pub(crate) fn task_flavor(&self, server: &ServerName) -> TaskFlavor {
        if self.is_old_server(server) { TaskFlavor::Old } else { TaskFlavor::Extension }
    }

    /// A result with the client's ids of tasks; other bytes stay.
    pub(crate) fn rename_tasks(&self, server: &ServerName, flavor: TaskFlavor, text: &str) -> String {
        let Some(members) = JsonMembers::parse(text) else { return text.to_owned() };
        let meta = members.get("_meta").and_then(|meta| JsonMembers::parse(meta.get()));
        let mut named = members.get("tasks").map(array_elements).unwrap_or_default();
        named.extend(members.get("task"));
        named.extend(meta.and_then(|meta| meta.get(RELATED_TASK)));
        let mut edit = JsonEdit::new(text);
        for task in named {
            let id = JsonMembers::parse(task.get()).and_then(|task| task.get("taskId"));
            self.rename_id(&mut edit, (server, flavor), id);
        }
        self.rename_id(&mut edit, (server, flavor), members.get("taskId"));
        edit.finish().into_owned()
    }

    fn rename_id<'j>(
        &self,
        edit: &mut JsonEdit<'j>,
        (server, flavor): (&ServerName, TaskFlavor),
        id: Option<&'j RawValue>,
    ) {
        let Some((place, id)) = id.and_then(|place| Some((place, decode_string(place)?))) else { return };
        let task = TaskAddress { server: server.clone(), flavor, id };
        if let Some(name) = self.client_task_id(&task).filter(|name| *name != task.id) {
            edit.replace(place, json_string(&name));
        }
    }
}

/// The content of a sealed id: server, flavor and id of the task, and in a cluster its gateway.
type TaskIdContent = (String, String, String, Option<InstanceId>);

fn parse_content(content: &[u8]) -> Option<TaskIdContent> {
    serde_json::from_slice::<TaskIdContent>(content).ok().or_else(|| {
        let (server, flavor, id) = serde_json::from_slice(content).ok()?;
        Some((server, flavor, id, None))
    })
}

/// The id of the task that a result describes, and its flavor; `None` for other results.
pub(crate) fn parse_task(result: &RawJson) -> Option<(TaskFlavor, String)> {
    let id = |raw: &RawJson| raw.member("taskId").and_then(|id| id.decode::<String>().ok());
    match result.member("task") {
        Some(task) => Some((TaskFlavor::Old, id(&task)?)),
        None => Some((TaskFlavor::Extension, id(result)?)),
    }
}
