//! The help of one tool, made from what its server says about it.
//!
//! All of it is foreign text: names on one line, descriptions over several, nothing that drives a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcparley::model::text::{display, display_block};
use serde_json::Value;

use super::kinds::Kinds;
use super::names::kebab;
use super::schema::{Others, Schema};

/// How deep objects inside of objects are shown.
const DEPTH: usize = 3;

/// How many arguments are shown.
const ARGUMENTS: usize = 200;

/// A tool, as far as its help shows it.
pub(crate) struct Described<'t> {
    /// The words behind `call` that name it.
    pub(crate) how: Vec<&'t str>,
    pub(crate) title: Option<&'t str>,
    pub(crate) description: &'t str,
    pub(crate) schema: &'t Value,
}

/// The tool's help.
pub(crate) fn help(tool: &Described<'_>) -> String {
    let mut out = String::new();
    if let Some(title) = tool.title.filter(|title| !title.is_empty()) {
        line(&mut out, 0, &display(title));
    }
    block(&mut out, 0, tool.description);
    if !out.is_empty() {
        out.push('\n');
    }
    let schema = Schema::of(tool.schema);
    let arguments = listed(schema);
    let synopsis = if arguments.is_empty() { "" } else { " [ARGUMENTS]…" };
    let how: Vec<_> = tool.how.iter().map(|word| display(word)).collect();
    line(&mut out, 0, &format!("Usage: mcparley call {}{synopsis}", how.join(" ")));
    out.push('\n');
    if arguments.is_empty() {
        line(&mut out, 0, "It takes no arguments.");
        return out;
    }
    line(&mut out, 0, "Arguments:");
    for argument in arguments.iter().take(ARGUMENTS) {
        argument.write(&mut out);
    }
    if let Some(more) = arguments.len().checked_sub(ARGUMENTS).filter(|more| *more > 0) {
        line(&mut out, 1, &format!("… and {more} more"));
    }
    if matches!(schema.others(), Others::Like(_)) {
        line(&mut out, 1, "… and others, as key=value");
    }
    out.push('\n');
    line(
        &mut out,
        0,
        "Each may also be written as key=value, key=@file or key:=JSON, and all of them as one JSON",
    );
    line(&mut out, 0, "object, or `-` for an object on standard input.");
    out
}

/// One argument.
struct Argument<'s> {
    /// As an option, without dashes.
    option: String,
    /// As the tool writes it.
    name: String,
    schema: Schema<'s>,
    required: bool,
}

/// Every argument; those of inner objects behind the object, with its name before theirs.
fn listed(schema: Schema<'_>) -> Vec<Argument<'_>> {
    let mut all = Vec::new();
    list(schema, None, DEPTH, &mut all);
    all
}

fn list<'s>(schema: Schema<'s>, outer: Option<(&str, &str)>, depth: usize, all: &mut Vec<Argument<'s>>) {
    let properties = schema.properties();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in &properties {
        *alike.entry(kebab(name)).or_default() += 1;
    }
    for (name, inner) in &properties {
        let dashed = kebab(name);
        let option = if alike.get(&dashed) == Some(&1) { dashed } else { (*name).to_owned() };
        let (option, name, required) = match outer {
            Some((outer_option, outer_name)) => {
                (format!("{outer_option}.{option}"), format!("{outer_name}.{name}"), false)
            }
            None => (option, (*name).to_owned(), schema.requires(name)),
        };
        let is_object = inner.kinds().has(Kinds::OBJECT);
        all.push(Argument { option: option.clone(), name: name.clone(), schema: *inner, required });
        // A schema that names a thousand things is cut in the list, and not walked through for nothing.
        if is_object && depth > 0 && all.len() <= ARGUMENTS {
            list(*inner, Some((&option, &name)), depth - 1, all);
        }
    }
}

impl Argument<'_> {
    fn write(&self, out: &mut String) {
        let option = display(&self.option);
        let placeholder = placeholder(self.schema);
        line(out, 1, &format!("--{option}{placeholder}"));
        if let Some(text) = self.schema.text("description").or_else(|| self.schema.text("title")) {
            block(out, 4, text);
        }
        let facts = self.facts();
        if !facts.is_empty() {
            line(out, 4, &facts.join(" "));
        }
    }

    fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if self.required {
            facts.push("[required]".to_owned());
        }
        if self.name != self.option {
            facts.push(format!("[name: {}]", display(&self.name)));
        }
        if let Some(default) = self.schema.default().filter(|default| !default.is_null()) {
            facts.push(format!("[default: {}]", shown(default)));
        }
        let choices = self.schema.choices();
        if !choices.is_empty() {
            let words: Vec<String> = choices.into_iter().map(shown).collect();
            facts.push(format!("[one of: {}]", words.join(", ")));
        }
        if self.schema.is_list() {
            facts.push("[may be repeated]".to_owned());
        }
        if self.schema.is_switch() {
            facts.push(format!("[off: --no-{}]", display(&self.option)));
        }
        facts
    }
}

fn placeholder(schema: Schema<'_>) -> String {
    let kinds = schema.kinds();
    if schema.is_switch() {
        return String::new();
    }
    if kinds.without(Kinds::NULL) == Kinds::ARRAY {
        let items = schema.items().kinds();
        return format!(" <{}>", if items.is_unknown() { "JSON".to_owned() } else { items.in_short() });
    }
    if kinds.is_unknown() { " <value>".to_owned() } else { format!(" <{}>", kinds.in_short()) }
}

/// A value in a list: a string without quotes, everything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => display(text).into_owned(),
        value => display(&value.to_string()).into_owned(),
    }
}

fn block(out: &mut String, depth: usize, text: &str) {
    for text in display_block(text.trim()).lines() {
        line(out, depth, text.trim_end());
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let indent = if text.is_empty() { 0 } else { depth * 2 };
    // Writing to a `String` cannot fail.
    writeln!(out, "{:indent$}{text}", "").unwrap_or_default();
}
