//! The tools, and what they do when called.

use super::{Calls, Outcome, Refusal, Request};
use crate::life;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// How often `slow` tells its progress.
const STEPS: u32 = 10;
const MOST_MS: u64 = 120_000;
const MOST_CHARACTERS: u64 = 256 * 1024 * 1024;

/// What `tools/list` shows.
pub(crate) fn definitions() -> Vec<Value> {
    let number = json!({ "type": "number" });
    let mut echo = echo("echo");
    if let Some(echo) = echo.as_object_mut() {
        echo.insert("annotations".to_owned(), json!({ "readOnlyHint": true }));
    }
    vec![
        echo,
        tool("add", "Add two numbers", &json!({ "a": number, "b": number })),
        tool("fail", "Fail, as a tool fails", &json!({})),
        tool("slow", "Take some milliseconds", &json!({ "ms": number })),
        tool("big", "Return that many characters", &json!({ "bytes": number })),
        tool("env", "Return the environment of the server", &json!({})),
        tool("pid", "Return the process of the server", &json!({})),
        tool("crash", "Exit with code 9", &json!({})),
    ]
}

/// A tool that repeats a message, under some name.
pub(crate) fn echo(name: &str) -> Value {
    tool(name, "Repeat a message", &json!({ "message": { "type": "string" } }))
}

/// Gives the tool of this name another description.
pub(crate) fn describe(tools: &mut [Value], name: &str, description: &str) {
    for tool in tools.iter_mut().filter(|tool| tool.get("name").is_some_and(|known| known == name)) {
        if let Some(tool) = tool.as_object_mut() {
            tool.insert("description".to_owned(), description.into());
        }
    }
}

/// What editors offer: two tools for models, the others for the program in their terminal.
pub(crate) fn of_editors() -> Vec<Value> {
    let text = json!({ "type": "string" });
    vec![
        tool("openDiff", "Show a change", &json!({ "old_file_path": text })),
        tool("closeAllDiffTabs", "Close all changes", &json!({})),
        tool("getDiagnostics", "Tell what the editor finds wrong", &json!({})),
        tool("executeCode", "Run code in the notebook", &json!({ "code": text })),
    ]
}

fn tool(name: &str, description: &str, properties: &Value) -> Value {
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// Works on `tools/call`.
pub(crate) fn call(calls: &Calls, request: &Request<'_>) -> io::Result<Outcome> {
    calls.count(request.id);
    let arguments = request.message.param("arguments");
    let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
    let number = |name: &str| argument(name).and_then(Value::as_f64);
    let count = |name: &str| argument(name).and_then(Value::as_u64);
    let result = match request.message.text("name") {
        Some("echo") => argument("message").and_then(Value::as_str).map(text),
        Some("add") => number("a").zip(number("b")).map(|(a, b)| text(&(a + b).to_string())),
        Some("locate") => argument("region").and_then(Value::as_str).map(text),
        Some("getDiagnostics") => Some(text("[]")),
        Some("executeCode") => argument("code").and_then(Value::as_str).map(text),
        Some("fail") => Some(failed("this tool fails")),
        Some("slow") => match count("ms") {
            Some(ms) => return slow(request, Duration::from_millis(ms.min(MOST_MS))),
            None => None,
        },
        Some("big") => count("bytes").map(|count| text(&characters(count))),
        Some("env") => Some(text(&environment())),
        Some("pid") => Some(text(&std::process::id().to_string())),
        Some("crash") => life::end(9),
        Some(_) | None => return Ok(Outcome::Refused(Refusal::params("no such tool"))),
    };
    // Since 2025-11-25 wrong arguments are an error of the tool.
    Ok(Outcome::Result(result.unwrap_or_else(|| failed("wrong arguments"))))
}

/// A result with one text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": false })
}

fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

fn slow(request: &Request<'_>, time: Duration) -> io::Result<Outcome> {
    for step in 1..=STEPS {
        if request.running.is_cancelled_within(time / STEPS, || request.out.gone()) {
            return Ok(Outcome::Cancelled);
        }
        if let Some(token) = request.message.progress_token() {
            let params = json!({ "progressToken": token, "progress": step, "total": STEPS });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            request.out.send(format!("{note}\n").as_bytes())?;
        }
    }
    Ok(Outcome::Result(text("done")))
}

fn characters(count: u64) -> String {
    "x".repeat(usize::try_from(count.min(MOST_CHARACTERS)).unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "the tool shows which variables reached the server")]
fn environment() -> String {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let all: BTreeMap<String, String> =
        std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
    json!(all).to_string()
}
