//! Tools in the format of each API, and arguments restored for the tool.

mod bounds;
mod check;
mod lists;
mod odd;
mod properties;
mod schemas;
mod written;

use std::sync::Arc;

use mcparley_model::name::{PublicNames, ServerName, ToolName};
use mcparley_model::tool::Tool;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{Dialect, ModelTools};
use crate::entry::{CatalogEntry, ToolProvider};

/// A tool `t` of a server `s` with this schema.
fn entry(schema: &Value) -> Arc<CatalogEntry> {
    named_entry("t", "Does it.", schema)
}

fn named_entry(name: &str, description: &str, schema: &Value) -> Arc<CatalogEntry> {
    let (server, tool) = (ServerName::new("s"), ToolName::new(name));
    let names = PublicNames::default().extend([(server.clone(), tool.clone())]);
    let definition = json!({ "name": name, "description": description, "inputSchema": schema });
    let definition = Tool::parse(&to_raw_value(&definition).unwrap()).unwrap();
    Arc::new(CatalogEntry::new(
        names.public_name(&server, &tool).unwrap().clone(),
        ToolProvider::Server(server),
        definition,
    ))
}

fn list(dialect: Dialect, entries: &[Arc<CatalogEntry>]) -> ModelTools {
    ModelTools::new(dialect, entries, &[], None)
}

fn json_of(tools: &ModelTools) -> Value {
    serde_json::from_str(tools.tools.get()).unwrap()
}

/// The schema that a model is shown, after a check that the API accepts it.
fn shown(dialect: Dialect, schema: &Value) -> Value {
    let tools = json_of(&list(dialect, &[entry(schema)]));
    assert_eq!(check::complaints(dialect.as_str(), &tools), [""; 0], "{tools:#}");
    match dialect {
        Dialect::Anthropic => tools[0]["input_schema"].clone(),
        Dialect::OpenAi => tools[0]["parameters"].clone(),
        Dialect::OpenAiChat => tools[0]["function"]["parameters"].clone(),
        Dialect::Gemini => tools[0]["functionDeclarations"][0]["parameters"].clone(),
    }
}

/// The arguments that the tool gets when the model writes these.
fn back(dialect: Dialect, schema: &Value, arguments: &Value) -> Value {
    list(dialect, &[entry(schema)]).call("mcp__s__t", arguments.clone()).unwrap().arguments
}
