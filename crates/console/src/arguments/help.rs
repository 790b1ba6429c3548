//! The help of one tool, rendered from its definition.
//!
//! All of it is untrusted text of the server, so control sequences are stripped and names stay on one line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcparley::model::text::{display_block, display_line};
use serde_json::Value;

use super::kinds::ArgumentTypes;
use super::names::to_kebab_case;
use super::schema::{ExtraArguments, ToolSchema};

/// The maximum depth of nested objects in the help.
const DEPTH: usize = 3;

/// The maximum number of arguments in the help.
const ARGUMENTS: usize = 200;

/// The parts of a tool that its help shows.
#[derive(Clone, Debug)]
pub struct DescribedTool<'t> {
    /// The words after `call` that name the tool.
    pub how: Vec<&'t str>,
    /// The display name of the tool.
    pub title: Option<&'t str>,
    /// The description, as the server wrote it.
    pub description: &'t str,
    /// The schema of the arguments.
    pub schema: &'t Value,
}

/// The help text of a tool.
pub fn tool_help(tool: &DescribedTool<'_>) -> String {
    let mut out = String::new();
    if let Some(title) = tool.title.filter(|title| !title.is_empty()) {
        push_line(&mut out, 0, &display_line(title));
    }
    push_block(&mut out, 0, tool.description);
    if !out.is_empty() {
        out.push('\n');
    }
    let listed = argument_help(tool.schema);
    let synopsis = if listed.is_some() { " [ARGUMENTS]…" } else { "" };
    let how: Vec<_> = tool.how.iter().map(|word| display_line(word)).collect();
    push_line(&mut out, 0, &format!("Usage: mcparley call {}{synopsis}", how.join(" ")));
    out.push('\n');
    let Some(listed) = listed else {
        push_line(&mut out, 0, "This tool takes no arguments.");
        return out;
    };
    push_line(&mut out, 0, "Arguments:");
    out.push_str(&listed);
    out.push('\n');
    push_line(
        &mut out,
        0,
        "Arguments can also be written as key=value, key=@file or key:=JSON, or together as one JSON",
    );
    push_line(&mut out, 0, "object, or as `-` for a JSON object on standard input.");
    out
}

/// The arguments of a schema as lines of help: each with its type, description, default and choices. `None`
/// if there are none.
pub fn argument_help(schema: &Value) -> Option<String> {
    let schema = ToolSchema::from_root(schema);
    let arguments = list_arguments(schema);
    if arguments.is_empty() {
        return None;
    }
    let mut out = String::new();
    for argument in arguments.iter().take(ARGUMENTS) {
        argument.write_help(&mut out);
    }
    if let Some(more) = arguments.len().checked_sub(ARGUMENTS).filter(|more| *more > 0) {
        push_line(&mut out, 1, &format!("… and {more} more"));
    }
    if matches!(schema.other_properties(), ExtraArguments::Like(_)) {
        push_line(&mut out, 1, "… and other arguments, as key=value");
    }
    Some(out)
}

/// One argument in the help.
struct HelpArgument<'s> {
    /// The name as an option, without dashes.
    option: String,
    /// The name in the schema.
    name: String,
    schema: ToolSchema<'s>,
    required: bool,
}

/// All arguments; properties of an object follow it, as `object.property`.
fn list_arguments(schema: ToolSchema<'_>) -> Vec<HelpArgument<'_>> {
    let mut all = Vec::new();
    collect_properties(schema, None, DEPTH, &mut all);
    all
}

fn collect_properties<'s>(
    schema: ToolSchema<'s>,
    outer: Option<(&str, &str)>,
    depth: usize,
    all: &mut Vec<HelpArgument<'s>>,
) {
    let properties = schema.properties();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in &properties {
        *alike.entry(to_kebab_case(name)).or_default() += 1;
    }
    for (name, inner) in &properties {
        let dashed = to_kebab_case(name);
        let option = if alike.get(&dashed) == Some(&1) { dashed } else { (*name).to_owned() };
        let (option, name, required) = match outer {
            Some((outer_option, outer_name)) => {
                (format!("{outer_option}.{option}"), format!("{outer_name}.{name}"), false)
            }
            None => (option, (*name).to_owned(), schema.requires_property(name)),
        };
        let is_object = inner.json_types().has(ArgumentTypes::OBJECT);
        all.push(HelpArgument { option: option.clone(), name: name.clone(), schema: *inner, required });
        // A schema with a thousand properties is truncated in the list, so deeper levels are not traversed.
        if is_object && depth > 0 && all.len() <= ARGUMENTS {
            collect_properties(*inner, Some((&option, &name)), depth - 1, all);
        }
    }
}

impl HelpArgument<'_> {
    fn write_help(&self, out: &mut String) {
        let option = display_line(&self.option);
        let placeholder = value_placeholder(self.schema);
        push_line(out, 1, &format!("--{option}{placeholder}"));
        if let Some(text) =
            self.schema.keyword_text("description").or_else(|| self.schema.keyword_text("title"))
        {
            push_block(out, 4, text);
        }
        let facts = self.fact_labels();
        if !facts.is_empty() {
            push_line(out, 4, &facts.join(" "));
        }
    }

    fn fact_labels(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if self.required {
            facts.push("[required]".to_owned());
        }
        if self.name != self.option {
            facts.push(format!("[name: {}]", display_line(&self.name)));
        }
        if let Some(default) = self.schema.default().filter(|default| !default.is_null()) {
            facts.push(format!("[default: {}]", format_value(default)));
        }
        let choices = self.schema.choices();
        if !choices.is_empty() {
            let words: Vec<String> = choices.into_iter().map(format_value).collect();
            facts.push(format!("[one of: {}]", words.join(", ")));
        }
        if self.schema.is_list() {
            facts.push("[may be repeated]".to_owned());
        }
        if self.schema.is_switch() {
            facts.push(format!("[off: --no-{}]", display_line(&self.option)));
        }
        facts
    }
}

fn value_placeholder(schema: ToolSchema<'_>) -> String {
    let kinds = schema.json_types();
    if schema.is_switch() {
        return String::new();
    }
    if kinds.without(ArgumentTypes::NULL) == ArgumentTypes::ARRAY {
        let items = schema.items().json_types();
        return format!(" <{}>", if items.is_unknown() { "JSON".to_owned() } else { items.to_type_names() });
    }
    if kinds.is_unknown() { " <value>".to_owned() } else { format!(" <{}>", kinds.to_type_names()) }
}

/// Formats a value: a string without quotes, any other value as JSON.
fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => display_line(text).into_owned(),
        value => display_line(&value.to_string()).into_owned(),
    }
}

fn push_block(out: &mut String, depth: usize, text: &str) {
    for text in display_block(text.trim()).lines() {
        push_line(out, depth, text.trim_end());
    }
}

fn push_line(out: &mut String, depth: usize, text: &str) {
    let indent = if text.is_empty() { 0 } else { depth * 2 };
    // Writing to a `String` cannot fail.
    writeln!(out, "{:indent$}{text}", "").unwrap_or_default();
}
