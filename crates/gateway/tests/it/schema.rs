//! The protocol's JSON schema, to check messages against.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// By revision and name.
type Known = HashMap<(String, String), Arc<Validator>>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Fails unless `value` is a valid `name` of `version`.
pub(crate) fn assert_is(version: &str, name: &str, value: &Value) {
    let validator = validator(version, name);
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{} at `{}`", error, error.instance_path().as_str()))
        .collect();
    assert!(errors.is_empty(), "no {name} of {version}: {}\n{value}", errors.join("; "));
}

fn validator(version: &str, name: &str) -> Arc<Validator> {
    let mut known = KNOWN.lock().unwrap();
    let key = (version.to_owned(), name.to_owned());
    Arc::clone(known.entry(key).or_insert_with(|| Arc::new(compiled(version, name))))
}

fn compiled(version: &str, name: &str) -> Validator {
    let text = match version {
        "2024-11-05" => include_str!("../protocol/2024-11-05.json"),
        "2025-03-26" => include_str!("../protocol/2025-03-26.json"),
        "2025-06-18" => include_str!("../protocol/2025-06-18.json"),
        "2025-11-25" => include_str!("../protocol/2025-11-25.json"),
        "2026-07-28" => include_str!("../protocol/2026-07-28.json"),
        other => panic!("no revision is called {other}"),
    };
    let mut schema: Value = serde_json::from_str(text).unwrap();
    let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    assert!(schema[place].get(name).is_some(), "{version} has no {name}");
    schema["$ref"] = json!(format!("#/{place}/{name}"));
    jsonschema::validator_for(&schema).unwrap()
}

/// The name of the result of a method.
pub(crate) fn result_name(version: &str, method: Option<&str>, result: &Value) -> &'static str {
    let is_unfinished = result["resultType"] == "input_required";
    match method {
        Some("initialize") => "InitializeResult",
        Some("server/discover") => "DiscoverResult",
        Some("tools/list") => "ListToolsResult",
        Some("tools/call" | "prompts/get" | "resources/read") if is_unfinished => "InputRequiredResult",
        // The extension has a schema of its own.
        Some("tools/call") if result["resultType"] == "task" => "Result",
        Some("tools/call") if version == "2025-11-25" && result.get("task").is_some() => "CreateTaskResult",
        Some("tools/call") => "CallToolResult",
        Some("subscriptions/listen") => "SubscriptionsListenResult",
        Some("prompts/list") => "ListPromptsResult",
        Some("prompts/get") => "GetPromptResult",
        Some("resources/list") => "ListResourcesResult",
        Some("resources/templates/list") => "ListResourceTemplatesResult",
        Some("resources/read") => "ReadResourceResult",
        Some("completion/complete") => "CompleteResult",
        Some("skills/list" | "skills/get") => "Result",
        Some("tasks/get") if version == "2025-11-25" => "GetTaskResult",
        Some("tasks/result") if version == "2025-11-25" => "CallToolResult",
        Some("tasks/list") if version == "2025-11-25" => "ListTasksResult",
        Some("tasks/cancel") if version == "2025-11-25" => "CancelTaskResult",
        Some("tasks/get" | "tasks/update" | "tasks/cancel") => "Result",
        Some("ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe") => "EmptyResult",
        other => panic!("a result that nobody asked for: {other:?} {result}"),
    }
}

/// Fails unless a message that a server of `version` received is of a form that the revision has. Results are
/// answers to the server's own requests, and of this form.
pub(crate) fn assert_server_may_receive(version: &str, message: &Value, result: &str) {
    let method = message["method"].as_str().unwrap_or_default();
    match (message.get("method").is_some(), message.get("id").is_some()) {
        // The request by which the era of a server is found, and the methods of an extension.
        (true, true) if method == "server/discover" && version != "2026-07-28" => {}
        (true, true) if version == "2026-07-28" && method.starts_with("tasks/") => {}
        (true, true) => assert_is(version, "ClientRequest", message),
        (true, false) if version == "2026-07-28" => assert_is(version, "CancelledNotification", message),
        (true, false) => assert_is(version, "ClientNotification", message),
        (false, _) if message.get("error").is_some() => {
            let name = if version == "2025-11-25" { "JSONRPCErrorResponse" } else { "JSONRPCError" };
            assert_is(version, name, message);
        }
        (false, _) => assert_is(version, result, &message["result"]),
    }
}
