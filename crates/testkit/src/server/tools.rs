//! The tools and their execution.

use super::{Request, RpcRefusal, RunningCalls, ServerOutcome};
use crate::life;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The number of progress notifications of `slow`.
const STEPS: u32 = 10;
const MOST_MS: u64 = 120_000;
const MOST_CHARACTERS: u64 = 256 * 1024 * 1024;

/// The tools of `tools/list`.
pub(crate) fn tool_definitions() -> Vec<Value> {
    let number = json!({ "type": "number" });
    let mut echo = echo_tool("echo");
    if let Some(echo) = echo.as_object_mut() {
        echo.insert("annotations".to_owned(), json!({ "readOnlyHint": true }));
    }
    vec![
        echo,
        tool_definition("add", "Add two numbers", &json!({ "a": number, "b": number })),
        tool_definition("fail", "Fail, as a tool fails", &json!({})),
        tool_definition("slow", "Take some milliseconds", &json!({ "ms": number })),
        tool_definition("big", "Return that many characters", &json!({ "bytes": number })),
        tool_definition("env", "Return the environment of the server", &json!({})),
        tool_definition("pid", "Return the process of the server", &json!({})),
        tool_definition("crash", "Exit with code 9", &json!({})),
    ]
}

/// A tool that repeats a message, with the given name.
pub(crate) fn echo_tool(name: &str) -> Value {
    tool_definition(name, "Repeat a message", &json!({ "message": { "type": "string" } }))
}

/// Replaces the description of the tool with this name.
pub(crate) fn set_description(tools: &mut [Value], name: &str, description: &str) {
    for tool in tools.iter_mut().filter(|tool| tool.get("name").is_some_and(|known| known == name)) {
        if let Some(tool) = tool.as_object_mut() {
            tool.insert("description".to_owned(), description.into());
        }
    }
}

/// The tools of editors: two for models, the others for the program in their terminal.
pub(crate) fn editor_tools() -> Vec<Value> {
    let text = json!({ "type": "string" });
    vec![
        tool_definition("openDiff", "Show a change", &json!({ "old_file_path": text })),
        tool_definition("closeAllDiffTabs", "Close all changes", &json!({})),
        tool_definition("getDiagnostics", "Tell what the editor finds wrong", &json!({})),
        tool_definition("executeCode", "Run code in the notebook", &json!({ "code": text })),
    ]
}

fn tool_definition(name: &str, description: &str, properties: &Value) -> Value {
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// Executes `tools/call`.
pub(crate) fn call_tool(calls: &RunningCalls, request: &Request<'_>) -> io::Result<ServerOutcome> {
    calls.count_execution(request.id);
    let arguments = request.message.param("arguments");
    let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
    let number = |name: &str| argument(name).and_then(Value::as_f64);
    let count = |name: &str| argument(name).and_then(Value::as_u64);
    let result = match request.message.text("name") {
        Some("echo") => argument("message").and_then(Value::as_str).map(text_result),
        Some("add") => number("a").zip(number("b")).map(|(a, b)| text_result(&(a + b).to_string())),
        Some("locate") => argument("region").and_then(Value::as_str).map(text_result),
        Some("getDiagnostics") => Some(text_result("[]")),
        Some("executeCode") => argument("code").and_then(Value::as_str).map(text_result),
        Some("fail") => Some(error_result("this tool fails")),
        Some("slow") => match count("ms") {
            Some(ms) => return run_slow(request, Duration::from_millis(ms.min(MOST_MS))),
            None => None,
        },
        Some("big") => count("bytes").map(|count| text_result(&repeat_character(count))),
        Some("env") => Some(text_result(&environment_json())),
        Some("pid") => Some(text_result(&std::process::id().to_string())),
        Some("crash") => life::exit_process(9),
        Some(_) | None => return Ok(ServerOutcome::Refused(RpcRefusal::invalid_params("no such tool"))),
    };
    // Since 2025-11-25 invalid arguments are a tool error.
    Ok(ServerOutcome::Result(result.unwrap_or_else(|| error_result("wrong arguments"))))
}

/// A result with one text.
pub(crate) fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": false })
}

fn error_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

fn run_slow(request: &Request<'_>, time: Duration) -> io::Result<ServerOutcome> {
    for step in 1..=STEPS {
        if request.running.is_cancelled_within(time / STEPS, || request.out.is_closed()) {
            return Ok(ServerOutcome::Cancelled);
        }
        if let Some(token) = request.message.progress_token() {
            let params = json!({ "progressToken": token, "progress": step, "total": STEPS });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            request.out.send_lines(format!("{note}\n").as_bytes())?;
        }
    }
    Ok(ServerOutcome::Result(text_result("done")))
}

fn repeat_character(count: u64) -> String {
    "x".repeat(usize::try_from(count.min(MOST_CHARACTERS)).unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "the tool shows which variables reached the server")]
fn environment_json() -> String {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let all: BTreeMap<String, String> =
        std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
    json!(all).to_string()
}
