//! What a server says it has: lists and what stands in them, and the lies about it.

use super::{Due, tasks, tools};
use crate::message::Message;
use crate::options::Scripts;
use mcparley_testkit::Name;
use serde_json::{Value, json};

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

/// The address of the only resource.
pub(crate) const NOTE: &str = "test://note";

/// What could stand behind a value, numbered.
pub(crate) fn completion(count: u64, message: &Message) -> Value {
    let value = message.param("argument").and_then(|argument| argument.get("value")).and_then(Value::as_str);
    let values: Vec<String> =
        (1..=count).map(|number| format!("{}{number}", value.unwrap_or_default())).collect();
    json!({ "completion": { "values": values, "total": count, "hasMore": false } })
}

/// The result of one of [`METHODS`].
pub(crate) fn result(scripts: &Scripts, due: Due<'_>, message: &Message, method: &str) -> Option<Value> {
    if let Some(offered) = offered(scripts, method) {
        return Some(one_of(offered, message));
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

/// What the file of a script has for a method.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
pub(crate) fn offered(scripts: &Scripts, method: &str) -> Option<Value> {
    let text = std::fs::read(scripts.text(Name::Offers)?).ok()?;
    let mut all: Value = serde_json::from_slice(&text).ok()?;
    Some(all.get_mut(method)?.take()).filter(Value::is_object)
}

/// The result itself, or the one of the address or the name that is asked for.
fn one_of(mut offered: Value, message: &Message) -> Value {
    let asked = message.text("uri").or_else(|| message.text("name")).unwrap_or_default();
    offered.get_mut(asked).map(Value::take).unwrap_or(offered)
}

fn tools_page(scripts: &Scripts, due: Due<'_>, cursor: Option<&str>) -> Value {
    if scripts.has(Name::CursorSame) {
        return json!({ "tools": tools::definitions(), "nextCursor": "same" });
    }
    if scripts.has(Name::CursorEndless) {
        let page = cursor.and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or(0);
        return json!({ "tools": [numbered(page)], "nextCursor": (page + 1).to_string() });
    }
    if let Some(count) = scripts.number(Name::ManyTools) {
        return json!({ "tools": (0..count).map(numbered).collect::<Vec<_>>() });
    }
    if scripts.has(Name::Ide) {
        return json!({ "tools": tools::of_editors() });
    }
    let mut tools = tools::definitions();
    if let Some(name) = scripts.text(Name::AlsoTool) {
        tools.push(tools::echo(name));
    }
    if let Some(name) = scripts.text(Name::AppTool) {
        let mut tool = tools::echo(name);
        if let Some(tool) = tool.as_object_mut() {
            tool.insert(
                "_meta".to_owned(),
                json!({ "ui": { "resourceUri": "ui://panel/main", "visibility": ["app"] } }),
            );
        }
        tools.push(tool);
    }
    if let Some(file) = scripts.text(Name::Described) {
        tools::describe(&mut tools, "add", &written(file));
    }
    if scripts.has(Name::Task) {
        tools.push(tasks::tool());
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

/// What a test has written for this server; nothing, if it has not.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
fn written(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The first is right; each of the others breaks one rule.
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

fn numbered(number: u64) -> Value {
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
