//! Page of one tool: signature, description, arguments, effects, and on request its JSON Schemas.

use mcparley::catalog::{CatalogEntry, tool_signature};
use mcparley::config::LoadedConfig;
use mcparley::model::scope::Scope;
use mcparley::model::text::{display_block, display_line, is_shell_word};
use mcparley::model::tool::ToolHints;
use mcparley_console::arguments::argument_help;
use serde_json::Value;

use crate::out::{TerminalOutput, bold, dim};

/// Prints the page of a tool.
pub(super) fn print_page(
    entry: &CatalogEntry,
    loaded: &LoadedConfig,
    with_schema: bool,
    out: &mut TerminalOutput,
) {
    let tool = &entry.tool;
    out.print_line(bold(&tool_signature(tool)));
    if let Some(title) = tool.title.as_deref().filter(|title| !title.trim().is_empty()) {
        out.print_line(format!("  {}", display_line(title)));
    }
    print_block(&tool.description, out);
    let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
    if let Some(arguments) = argument_help(&schema) {
        out.print_line("\n  Arguments:");
        print_block(&arguments, out);
    }
    out.print_line("");
    let mut field = |name: &str, value: &str| out.print_line(format!("  {name:<10} {}", display_line(value)));
    let effects = effect_names(tool.hints);
    if !effects.is_empty() {
        field("effects:", &effects.join(", "));
    }
    if let Some(server) = entry.server() {
        field("server:", server.as_str());
    }
    field("full name:", entry.name.as_str());
    if with_schema {
        print_schema("schema of the arguments", tool.input_schema.get(), out);
        if let Some(schema) = &tool.output_schema {
            print_schema("schema of the result", schema.get(), out);
        }
    }
    if !is_of_this_run(entry, loaded) {
        out.print_line(format!("  {}", dim(&format!("try it:    {}", example_call(entry, &schema)))));
    }
}

/// Whether the server is declared on this command line, so that another command does not know its name.
fn is_of_this_run(entry: &CatalogEntry, loaded: &LoadedConfig) -> bool {
    let named = entry.server().map(|server| loaded.plan.servers_by_name(server.as_str())).unwrap_or_default();
    named.first().is_some_and(|server| server.scope == Scope::Dynamic)
}

/// A command that calls the tool, with its required arguments to be filled in.
fn example_call(entry: &CatalogEntry, schema: &Value) -> String {
    let tool = entry.tool.name.as_str();
    let target = match entry.server() {
        Some(server) if is_shell_word(server.as_str()) && is_shell_word(tool) => format!("{server}.{tool}"),
        Some(_) | None => entry.name.as_str().to_owned(),
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let names = required.filter_map(Value::as_str).filter(|name| is_shell_word(name));
    let arguments: String = names.map(|name| format!(" {name}=…")).collect();
    format!("mcparley call {target}{arguments}")
}

/// The names of the effects that a tool declares.
fn effect_names(hints: ToolHints) -> Vec<&'static str> {
    let all = [
        (hints.read_only, "read-only"),
        (hints.destructive, "destructive"),
        (hints.idempotent && !hints.read_only, "idempotent"),
        (hints.open_world, "open world"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect()
}

fn print_schema(name: &str, json: &str, out: &mut TerminalOutput) {
    let value = serde_json::from_str::<Value>(json);
    let pretty =
        value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned());
    out.print_line(format!("  {name}:"));
    for line in display_block(&pretty).lines() {
        out.print_line(format!("    {line}"));
    }
}

fn print_block(text: &str, out: &mut TerminalOutput) {
    for line in display_block(text.trim_end()).lines() {
        out.print_line(format!("  {}", line.trim_end()).trim_end());
    }
}
