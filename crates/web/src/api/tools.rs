//! The tools of all servers, and the schema of one.

use hyper::StatusCode;
use mcparley::Host;
use mcparley::catalog::{CatalogEntry, tool_signature};
use mcparley_door::PageRequest;
use serde_json::{Value, json};

use super::query_value;
use crate::response::{ErrorResponse, error_response};

/// Every tool of a server that no rule hides, without its schema.
pub(crate) fn list_tools(host: &Host) -> Value {
    let catalog = host.catalog();
    let tools: Vec<Value> = catalog
        .iter()
        .filter(|entry| entry.server().is_some())
        .map(|entry| summarize_tool(entry, catalog.is_denied(entry)))
        .collect();
    json!({ "revision": catalog.revision(), "tools": tools })
}

/// A tool with its schema.
pub(crate) fn describe_tool(host: &Host, request: &PageRequest) -> Result<Value, ErrorResponse> {
    let name = query_value(request, "name")?;
    let catalog = host.catalog();
    let Some(entry) = catalog.get(&name) else {
        let unknown = format!("there is no tool `{name}`");
        return Err(error_response(StatusCode::NOT_FOUND, &unknown, None));
    };
    let mut tool = summarize_tool(entry, catalog.is_denied(entry));
    tool["schema"] = serde_json::from_str(entry.tool.input_schema.get()).unwrap_or_default();
    Ok(tool)
}

fn summarize_tool(entry: &CatalogEntry, is_denied: bool) -> Value {
    let tool = &entry.tool;
    json!({
        "name": entry.name.as_str(),
        "server": entry.server().map(|server| server.as_str()),
        "tool": tool.name.as_str(),
        "title": tool.title,
        "signature": tool_signature(tool),
        "description": tool.description,
        "readOnly": tool.hints.read_only,
        "destructive": tool.says_destructive,
        "denied": is_denied,
    })
}
