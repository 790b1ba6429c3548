//! The JSON Schemas of all protocol revisions, and the rules by which a message is checked against them.
//!
//! The scripted servers record the messages they receive and clients of the tests check theirs at once; both use the
//! rules of this file. [`record`] is the record.

pub(crate) mod record;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The stateless protocol revision.
const NEW: &str = "2026-07-28";
/// The last protocol revision with a handshake.
const LAST_OLD: &str = "2025-11-25";

/// The revisions, each with its schema.
const SCHEMAS: [(&str, &str); 5] = [
    ("2024-11-05", include_str!("protocol/schemas/2024-11-05.json")),
    ("2025-03-26", include_str!("protocol/schemas/2025-03-26.json")),
    ("2025-06-18", include_str!("protocol/schemas/2025-06-18.json")),
    (LAST_OLD, include_str!("protocol/schemas/2025-11-25.json")),
    (NEW, include_str!("protocol/schemas/2026-07-28.json")),
];

/// The compiled schemas, by revision and definition.
type CompiledSchemas = HashMap<(String, String), Arc<Validator>>;

static COMPILED: LazyLock<Mutex<CompiledSchemas>> = LazyLock::new(Mutex::default);

/// The protocol revisions that have a schema, oldest first.
pub fn protocol_revisions() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(revision, _)| *revision)
}

/// Why `value` is no valid `definition` of `revision`; nothing if it is one.
#[must_use]
pub fn schema_violation(revision: &str, definition: &str, value: &Value) -> Option<String> {
    let validator = match find_validator(revision, definition) {
        Ok(validator) => validator,
        Err(reason) => return Some(reason),
    };
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{error} at `{}`", error.instance_path().as_str()))
        .collect();
    (!errors.is_empty()).then(|| format!("no {definition} of {revision}: {}\n{value}", errors.join("; ")))
}

/// Why a message that a client of `revision` sent to a server is invalid; nothing if it is valid.
///
/// Methods of extensions, which have schemas of their own, are checked as JSON-RPC only.
#[must_use]
pub fn client_message_violation(revision: &str, message: &Value) -> Option<String> {
    let check = |definition: &str, value: &Value| schema_violation(revision, definition, value);
    let method = message.get("method").and_then(Value::as_str);
    match (method, message.get("id").is_some()) {
        (Some(method), true) => check("JSONRPCRequest", message).or_else(|| {
            let is_known = !is_extension_method(revision, method);
            is_known.then(|| check("ClientRequest", message)).flatten()
        }),
        (Some(method), false) => check("JSONRPCNotification", message).or_else(|| {
            // Editors are told by a notification of their own that a client is there.
            let name = method.strip_prefix("notifications/");
            let is_known = name.is_some_and(|name| !is_extension_notice(revision, name));
            is_known.then(|| check("ClientNotification", message)).flatten()
        }),
        (None, _) if message.get("error").is_some() => check(error_definition(revision), message),
        (None, _) => {
            let result = message.get("result").unwrap_or(&Value::Null);
            check(response_definition(revision), message).or_else(|| match reply_definition(result) {
                Some(definition) => check(definition, result),
                None => Some(format!("a reply of no known form: {message}")),
            })
        }
    }
}

/// Why a message that a server of `revision` sent to a client is invalid; nothing if it is valid. `method` is that of
/// the request that the message answers.
#[must_use]
pub fn server_message_violation(revision: &str, method: Option<&str>, message: &Value) -> Option<String> {
    let check = |definition: &str, value: &Value| schema_violation(revision, definition, value);
    match (message.get("method"), message.get("error")) {
        (Some(_), _) if message.get("id").is_some() => check("ServerRequest", message),
        (Some(_), _) => check("ServerNotification", message),
        (None, Some(error)) if revision == NEW && error.get("code") == Some(&json!(-32022)) => {
            check("UnsupportedProtocolVersionError", message)
        }
        // The older revisions have no form for an error to a request that could not be parsed.
        (None, Some(_)) if revision < LAST_OLD && message.get("id").is_none() => None,
        (None, Some(_)) => check(error_definition(revision), message),
        (None, None) => {
            let result = message.get("result").unwrap_or(&Value::Null);
            match result_definition(revision, method, result) {
                Some(definition) => check(definition, result),
                None => Some(format!("an answer to no request: {method:?} {message}")),
            }
        }
    }
}

/// The name of the result of a method.
fn result_definition(revision: &str, method: Option<&str>, result: &Value) -> Option<&'static str> {
    let is_unfinished = result.get("resultType") == Some(&json!("input_required"));
    let is_task = result.get("resultType") == Some(&json!("task"));
    Some(match method? {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" | "prompts/get" | "resources/read" if is_unfinished => "InputRequiredResult",
        // The extension has a schema of its own.
        "tools/call" if is_task => "Result",
        "tools/call" if revision == LAST_OLD && result.get("task").is_some() => "CreateTaskResult",
        "tools/call" => "CallToolResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "skills/list" | "skills/get" => "Result",
        "tasks/get" if revision == LAST_OLD => "GetTaskResult",
        "tasks/result" if revision == LAST_OLD => "CallToolResult",
        "tasks/list" if revision == LAST_OLD => "ListTasksResult",
        "tasks/cancel" if revision == LAST_OLD => "CancelTaskResult",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "Result",
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => "EmptyResult",
        _ => return None,
    })
}

/// The definition of a client's reply to a request of the server, recognized by its members.
fn reply_definition(result: &Value) -> Option<&'static str> {
    let has = |member: &str| result.get(member).is_some();
    let is_empty =
        || result.as_object().is_some_and(|members| members.keys().all(|member| member == "_meta"));
    match () {
        () if has("action") => Some("ElicitResult"),
        () if has("roots") => Some("ListRootsResult"),
        () if has("model") || has("role") => Some("CreateMessageResult"),
        () if is_empty() => Some("EmptyResult"),
        () => None,
    }
}

/// The first words of the methods that the protocol itself defines.
const PROTOCOL_AREAS: [&str; 11] = [
    "initialize",
    "ping",
    "server",
    "tools",
    "prompts",
    "resources",
    "completion",
    "logging",
    "roots",
    "subscriptions",
    "tasks",
];

/// Whether an extension defines the method, so that the schema of the revision does not have it.
fn is_extension_method(revision: &str, method: &str) -> bool {
    let area = method.split('/').next().unwrap_or_default();
    !PROTOCOL_AREAS.contains(&area) || revision == NEW && area == "tasks"
}

/// Whether an extension defines the notification: it has an area, as in `vendor/event`, and none of the revision.
fn is_extension_notice(revision: &str, name: &str) -> bool {
    name.contains('/') && is_extension_method(revision, name)
}

fn error_definition(revision: &str) -> &'static str {
    if revision >= LAST_OLD { "JSONRPCErrorResponse" } else { "JSONRPCError" }
}

fn response_definition(revision: &str) -> &'static str {
    if revision >= LAST_OLD { "JSONRPCResultResponse" } else { "JSONRPCResponse" }
}

fn find_validator(revision: &str, definition: &str) -> Result<Arc<Validator>, String> {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (revision.to_owned(), definition.to_owned());
    if let Some(validator) = compiled.get(&key) {
        return Ok(Arc::clone(validator));
    }
    let validator = Arc::new(compile_definition(revision, definition)?);
    compiled.insert(key, Arc::clone(&validator));
    Ok(validator)
}

fn compile_definition(revision: &str, definition: &str) -> Result<Validator, String> {
    let found = SCHEMAS.iter().find(|(known, _)| *known == revision);
    let (_, text) = found.ok_or_else(|| format!("no revision is called `{revision}`"))?;
    let mut schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    if schema.pointer(&format!("/{place}/{definition}")).is_none() {
        return Err(format!("{revision} has no {definition}"));
    }
    allow_fractions(&mut schema, place);
    if let Some(members) = schema.as_object_mut() {
        members.insert("$ref".to_owned(), json!(format!("#/{place}/{definition}")));
    }
    jsonschema::validator_for(&schema).map_err(|error| error.to_string())
}

/// Allows fractions in the answers to a form.
///
/// The specification is written in TypeScript, where the value of a field is a `number`. The JSON Schemas that are made
/// from it say `integer` there, although the schema of a form may ask for a `number`.
fn allow_fractions(schema: &mut Value, place: &str) {
    let content = format!("/{place}/ElicitResult/properties/content/additionalProperties");
    let Some(values) = schema.pointer_mut(&content) else { return };
    let alternatives = match values.get_mut("anyOf") {
        Some(Value::Array(alternatives)) => alternatives.iter_mut().collect(),
        _ => vec![values],
    };
    for kinds in alternatives.into_iter().filter_map(|values| values.get_mut("type")?.as_array_mut()) {
        kinds.iter_mut().filter(|kind| **kind == "integer").for_each(|kind| *kind = json!("number"));
    }
}

#[cfg(test)]
mod tests;
