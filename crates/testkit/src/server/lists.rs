//! The lists of a server with their contents, and their faults.

use super::{DueFaults, tasks, tools};
use crate::message::ClientMessage;
use crate::options::RequestedScripts;
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::io;

/// The methods that are answered here.
pub(crate) const METHODS: [&str; 10] = [
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "skills/list",
    "skills/get",
];

/// The URI of the only resource.
pub(crate) const NOTE: &str = "test://note";

/// Numbered completions of a value.
pub(crate) fn completion_result(count: u64, message: &ClientMessage) -> Value {
    let value = message.param("argument").and_then(|argument| argument.get("value")).and_then(Value::as_str);
    let values: Vec<String> =
        (1..=count).map(|number| format!("{}{number}", value.unwrap_or_default())).collect();
    json!({ "completion": { "values": values, "total": count, "hasMore": false } })
}

/// The result of one of [`METHODS`].
pub(crate) fn list_result(
    scripts: &RequestedScripts,
    due: DueFaults<'_>,
    message: &ClientMessage,
    method: &str,
) -> Option<Value> {
    if let Some(offered) = offer_from_file(scripts, method) {
        return Some(select_offer(offered, message));
    }
    Some(match method {
        "resources/subscribe" | "resources/unsubscribe" if scripts.has(Name::Watched) => json!({}),
        "tools/list" => tools_page(scripts, due, message.text("cursor")),
        "prompts/list" => json!({ "prompts": [{ "name": "greet", "description": "Say hello" }] }),
        "prompts/get" => {
            let content = json!({ "type": "text", "text": "Say hello." });
            json!({ "messages": [{ "role": "user", "content": content }] })
        }
        "resources/list" => json!({ "resources": [{ "uri": NOTE, "name": "note" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "resources/read" => json!({ "contents": [{ "uri": NOTE, "text": "a note" }] }),
        _ => return None,
    })
}

/// The result for a method in the file of the `offers` script.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
pub(crate) fn offer_from_file(scripts: &RequestedScripts, method: &str) -> Option<Value> {
    let text = std::fs::read(scripts.text(Name::Offers)?).ok()?;
    let mut all: Value = serde_json::from_slice(&text).ok()?;
    Some(all.get_mut(method)?.take()).filter(Value::is_object)
}

/// The entry for the requested URI or name, or the whole result.
fn select_offer(mut offered: Value, message: &ClientMessage) -> Value {
    let asked = message.text("uri").or_else(|| message.text("name")).unwrap_or_default();
    offered.get_mut(asked).map(Value::take).unwrap_or(offered)
}

fn tools_page(scripts: &RequestedScripts, due: DueFaults<'_>, cursor: Option<&str>) -> Value {
    if scripts.has(Name::CursorSame) {
        return json!({ "tools": tools::tool_definitions(), "nextCursor": "same" });
    }
    if scripts.has(Name::CursorEndless) {
        let page = cursor.and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or(0);
        return json!({ "tools": [numbered_tool(page)], "nextCursor": (page + 1).to_string() });
    }
    if let Some(count) = scripts.number(Name::ManyTools) {
        return json!({ "tools": (0..count).map(numbered_tool).collect::<Vec<_>>() });
    }
    if scripts.has(Name::Ide) {
        return json!({ "tools": tools::editor_tools() });
    }
    let mut tools = tools::tool_definitions();
    if let Some(name) = scripts.text(Name::AlsoTool) {
        tools.push(tools::echo_tool(name));
    }
    if let Some(name) = scripts.text(Name::AppTool) {
        let mut tool = tools::echo_tool(name);
        if let Some(tool) = tool.as_object_mut() {
            tool.insert(
                "_meta".to_owned(),
                json!({ "ui": { "resourceUri": "ui://panel/main", "visibility": ["app"] } }),
            );
        }
        tools.push(tool);
    }
    if let Some(file) = scripts.text(Name::Described) {
        tools::set_description(&mut tools, "add", &read_test_file(file));
    }
    if scripts.has(Name::Task) {
        tools.push(tasks::task_tool());
    }
    if scripts.has(Name::BadTools) {
        tools.splice(1..1, bad_tools());
    }
    if scripts.has(Name::ParamHeaders) {
        let region = if due.has(Name::StaleMarks) { "Place" } else { "Region" };
        tools.splice(1..1, marked_tools(region));
    }
    json!({ "tools": tools })
}

/// Changes the description of the tool `add` if the script says so.
#[expect(clippy::disallowed_methods, reason = "a file of a test, which nothing else writes")]
pub(crate) fn change_description(scripts: &RequestedScripts) -> io::Result<()> {
    let changed = scripts.text(Name::Described).zip(scripts.text(Name::ChangedBeforeListen));
    changed.map_or(Ok(()), |(file, text)| std::fs::write(file, text))
}

/// The content of a file that a test wrote for this server; empty if there is none.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
fn read_test_file(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Tools with header annotations: the first is valid, each of the others breaks one rule.
fn marked_tools(region: &str) -> Vec<Value> {
    let tool = |name: &str, properties: Value| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let marked = |kind: &str, mark: &str| json!({ "type": kind, "x-mcp-header": mark });
    let deep = json!({ "type": "object", "properties": { "level": marked("integer", "Level") } });
    vec![
        tool("locate", json!({ "region": marked("string", region), "deep": deep })),
        tool("marked_empty", json!({ "a": marked("string", "") })),
        tool("marked_breaking", json!({ "a": marked("string", "A\r\nB") })),
        tool("marked_number", json!({ "a": marked("number", "A") })),
        tool("marked_twice", json!({ "a": marked("string", "A"), "b": marked("string", "a") })),
    ]
}

fn numbered_tool(number: u64) -> Value {
    json!({ "name": format!("tool_{number}"), "inputSchema": { "type": "object" } })
}

fn bad_tools() -> [Value; 4] {
    [
        json!({ "name": "no_schema" }),
        json!({ "name": "true_schema", "inputSchema": true }),
        json!({ "name": 7, "inputSchema": { "type": "object" } }),
        json!({ "name": "numeric_description", "description": 7, "inputSchema": { "type": "object" } }),
    ]
}
