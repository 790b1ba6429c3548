//! The handshake with a client, in the form of its era.

use mcparley::model::limits::SERVED_LIST_FRESH;
use mcparley_model::time::whole_milliseconds;
use mcparley_wire::{INVALID_PARAMS, ProtocolVersion, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client_abilities::{Caller, TASKS, supported_versions};
use crate::view::{View, ViewServer};

/// The extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// The extension for user interfaces (MCP Apps).
const APPS: &str = "io.modelcontextprotocol/ui";

/// The `serverInfo` of the gateway.
pub(crate) fn server_info() -> Value {
    json!({ "name": "mcparley", "title": "mcparley", "version": env!("CARGO_PKG_VERSION") })
}

/// The `_meta` of results of the new era.
pub(crate) fn result_meta() -> Value {
    json!({ "io.modelcontextprotocol/serverInfo": server_info() })
}

/// The capabilities of the gateway: those of all servers together; in transparent mode those of the server.
fn describe_capabilities(view: &View, offer: TaskOffer) -> Value {
    let own = view.servers.first().filter(|_| view.mode.is_transparent());
    if let Some((server, about)) = own.and_then(|server| Some((server, server.about.as_ref()?))) {
        return carried_capabilities(server, &about.capabilities, offer);
    }
    let mut all = Map::new();
    all.insert("tools".to_owned(), json!({ "listChanged": true }));
    if view.has_capability("prompts") {
        all.insert("prompts".to_owned(), json!({ "listChanged": true }));
    }
    if view.has_capability("resources") {
        let subscribes = |server: &ViewServer| {
            let about = server.about.as_ref();
            let resources = about.and_then(|about| about.capabilities.get("resources"));
            resources.and_then(|it| it.get("subscribe")) == Some(&Value::Bool(true))
        };
        let subscribe = view.servers.iter().any(subscribes);
        let mut resources = json!({ "listChanged": true });
        if subscribe {
            resources["subscribe"] = json!(true);
        }
        all.insert("resources".to_owned(), resources);
    }
    if view.has_capability("completions") {
        all.insert("completions".to_owned(), json!({}));
    }
    // The old era has one level for the session, which the gateway keeps; in the new era each request has its own.
    if offer != TaskOffer::Extension || view.has_capability("logging") {
        all.insert("logging".to_owned(), json!({}));
    }
    let extensions = [SKILLS, APPS].into_iter().filter(|extension| view.has_capability(extension));
    let mut extensions: Map<String, Value> =
        extensions.map(|extension| (extension.to_owned(), json!({}))).collect();
    let with_tasks: Vec<&ViewServer> =
        view.servers.iter().filter(|server| has_tasks(server, offer)).collect();
    let is_durable = view.mode.has_durable_calls;
    match offer {
        TaskOffer::Extension if is_durable || !with_tasks.is_empty() => {
            drop(extensions.insert(TASKS.to_owned(), json!({})))
        }
        TaskOffer::Old if is_durable || !with_tasks.is_empty() => {
            let mut tasks = json!({ "requests": { "tools": { "call": {} } } });
            for part in ["list", "cancel"] {
                let has_part =
                    |server: &&ViewServer| old_tasks(server).is_some_and(|it| it.get(part).is_some());
                if is_durable || with_tasks.iter().any(has_part) {
                    tasks[part] = json!({});
                }
            }
            all.insert("tasks".to_owned(), tasks);
        }
        TaskOffer::Extension | TaskOffer::Old | TaskOffer::None => {}
    }
    if !extensions.is_empty() {
        all.insert("extensions".to_owned(), extensions.into());
    }
    all.into()
}

/// The tasks that the revision of a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskOffer {
    None,
    /// Tasks of 2025-11-25.
    Old,
    /// The extension of the new era.
    Extension,
}

/// Whether a server has tasks that a client gets: those of its own era, and in the new era also those of
/// 2025-11-25, which are mapped.
fn has_tasks(server: &ViewServer, offer: TaskOffer) -> bool {
    let is_new = server.version == Some(ProtocolVersion::NEW);
    match offer {
        TaskOffer::None => false,
        TaskOffer::Old => old_tasks(server).is_some(),
        TaskOffer::Extension => (is_new && has_task_extension(server)) || old_tasks(server).is_some(),
    }
}

/// Whether a server declares the extension for tasks.
pub(crate) fn has_task_extension(server: &ViewServer) -> bool {
    let extensions = server.about.as_ref().and_then(|about| about.capabilities.get("extensions"));
    extensions.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

/// The capability for tasks of a server of 2025-11-25 whose tools can be called as tasks.
pub(crate) fn old_tasks(server: &ViewServer) -> Option<&Value> {
    let about = server.about.as_ref().filter(|_| server.version != Some(ProtocolVersion::NEW))?;
    let tasks = about.capabilities.get("tasks")?;
    tasks.pointer("/requests/tools/call").filter(|call| !call.is_null()).map(|_| tasks)
}

/// The capabilities of a server that the gateway can carry: all but tasks that the client's revision does not
/// have.
fn carried_capabilities(server: &ViewServer, theirs: &Map<String, Value>, offer: TaskOffer) -> Value {
    let mut carried = theirs.clone();
    if offer != TaskOffer::Old || !has_tasks(server, offer) {
        carried.shift_remove("tasks");
    }
    if offer == TaskOffer::Extension && has_tasks(server, offer) {
        let extensions = carried.entry("extensions").or_insert_with(|| json!({}));
        if let Some(extensions) = extensions.as_object_mut() {
            extensions.entry(TASKS).or_insert_with(|| json!({}));
        }
    } else if let Some(extensions) = carried.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.shift_remove(TASKS);
    }
    carried.into()
}

/// The server info for clients: the gateway's, or the server's in transparent mode.
fn shown_server_info(view: &View) -> Value {
    let own = view.servers.first().filter(|_| view.mode.is_transparent());
    own.and_then(|server| server.about.as_ref()?.info.clone()).unwrap_or_else(server_info)
}

/// Negotiates the protocol version: the client's if it is supported, else the newest of the old era.
///
/// # Errors
/// When the client names none.
pub(crate) fn negotiate_version(params: Option<&RawJson>) -> Result<Caller, RpcError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeRequest {
        protocol_version: String,
        #[serde(default)]
        capabilities: Option<Value>,
    }
    let read = params.and_then(|params| params.decode::<InitializeRequest>().ok());
    let Some(InitializeRequest { protocol_version, capabilities: theirs }) = read else {
        return Err(RpcError::new(INVALID_PARAMS, "`initialize` requires `protocolVersion`, a string"));
    };
    let version = ProtocolVersion::parse_old(&protocol_version).unwrap_or(ProtocolVersion::NEWEST_OLD);
    Ok(Caller::from_initialize(version, theirs.as_ref()))
}

/// The result of `initialize`, after the version is negotiated.
pub(crate) fn initialize_result(caller: &Caller, view: &View, instructions: Option<&str>) -> Value {
    let mut result = json!({
        "protocolVersion": caller.spoken.version().as_str(),
        "capabilities": describe_capabilities(view, if caller.has_old_tasks() { TaskOffer::Old } else { TaskOffer::None }),
        "serverInfo": shown_server_info(view),
    });
    if let Some(instructions) = instructions {
        result["instructions"] = json!(instructions);
    }
    result
}

/// The result of `server/discover`, for clients of the new era.
pub(crate) fn discover_result(view: &View, instructions: Option<&str>) -> Value {
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": supported_versions(),
        "capabilities": describe_capabilities(view, TaskOffer::Extension),
        "ttlMs": whole_milliseconds(SERVED_LIST_FRESH),
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": shown_server_info(view) },
    });
    if let Some(instructions) = instructions {
        result["instructions"] = json!(instructions);
    }
    result
}
