//! Search document of a tool: its sanitized texts, and the names and descriptions of its arguments.

use std::sync::Arc;

use mcparley_model::limits::{SEARCHED_ARGUMENTS, SEARCHED_CHARS, SEARCHED_DEPTH, SEARCHED_VALUES};
use mcparley_model::text::{clean_text, truncated_prefix};
use serde_json::Value;

use super::builder::Builder;
use super::{SearchField, SearchIndex};
use crate::entry::{CatalogEntry, ToolProvider};
use crate::word_vectors::WordVectors;

/// Builds the index of these tools; documents are numbered by position.
pub(crate) fn index_tools(entries: &[Arc<CatalogEntry>], vectors: Option<&WordVectors>) -> SearchIndex {
    let mut builder = Builder::new(vectors);
    for entry in entries {
        builder.begin_document();
        add_tool(entry, &mut builder);
    }
    builder.build_index()
}

fn add_tool(entry: &CatalogEntry, builder: &mut Builder<'_>) {
    let tool = &entry.tool;
    // The name is kept as its server wrote it, because a call needs it, so it is sanitized here.
    let name = clean_text(cut_text(tool.name.as_str()));
    let title = tool.title.as_deref().unwrap_or_default();
    let server = match &entry.provider {
        ToolProvider::Server(server) | ToolProvider::SignIn { server, .. } => clean_text(server.as_str()),
        ToolProvider::Host(_) => "".into(),
    };
    builder.add_exact_names(&name, title, &server);
    builder.add_text(SearchField::Name, &name);
    builder.add_text(SearchField::Server, &server);
    builder.add_text(SearchField::Title, title);
    builder.add_text(SearchField::Hint, cut_text(tool.search_hint.as_deref().unwrap_or_default()));
    let (summary, rest) = first_sentence(&tool.description);
    builder.add_text(SearchField::Summary, summary);
    builder.add_text(SearchField::Description, rest);
    if let Ok(schema) = serde_json::from_str::<Value>(tool.input_schema.get()) {
        let mut left = SchemaRoom { arguments: SEARCHED_ARGUMENTS, values: SEARCHED_VALUES };
        add_arguments(&schema, SEARCHED_DEPTH, &mut left, builder);
    }
}

/// The number of arguments and values of a tool that may still be indexed.
struct SchemaRoom {
    arguments: usize,
    values: usize,
}

/// Splits a description: the first sentence says the purpose of the tool, the rest its usage.
fn first_sentence(text: &str) -> (&str, &str) {
    let text = text.trim();
    let ends = [text.find(". ").map(|at| at + 1), text.find('\n')];
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn add_arguments(schema: &Value, depth: usize, left: &mut SchemaRoom, builder: &mut Builder<'_>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, argument) in properties.into_iter().flatten() {
        if left.arguments == 0 {
            return;
        }
        left.arguments -= 1;
        builder.add_text(SearchField::Argument, cut_text(name));
        let text = argument.get("description").and_then(Value::as_str);
        builder.add_text(SearchField::ArgumentDescription, cut_text(text.unwrap_or_default()));
        add_values(argument, left, builder);
        if depth > 1 {
            add_arguments(argument, depth - 1, left, builder);
        }
    }
    if let Some(items) = schema.get("items").filter(|_| depth > 1) {
        add_arguments(items, depth - 1, left, builder);
    }
}

/// Adds the values that an argument lists, for itself or for its items: they are the words of its users.
fn add_values(argument: &Value, left: &mut SchemaRoom, builder: &mut Builder<'_>) {
    for schema in [Some(argument), argument.get("items")].into_iter().flatten() {
        let of = |keyword: &str| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let values = of("enum").chain(of("examples")).chain(schema.get("default"));
        for value in values.filter_map(Value::as_str) {
            if left.values == 0 {
                return;
            }
            left.values -= 1;
            builder.add_text(SearchField::ArgumentValue, cut_text(value));
        }
    }
}

/// Cuts a text. Titles and descriptions are cut already; other texts of a server may be as long as a message.
fn cut_text(text: &str) -> &str {
    truncated_prefix(text, SEARCHED_CHARS).unwrap_or(text)
}
