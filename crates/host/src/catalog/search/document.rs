//! What of a tool is searched: its texts, which are clean already, and the names and texts of its arguments.

use std::sync::Arc;

use mcparley_model::limits::{SEARCHED_ARGUMENTS, SEARCHED_CHARS, SEARCHED_DEPTH};
use mcparley_model::text::{beginning, clean};
use serde_json::Value;

use super::super::{Entry, Provider};
use super::index::{Builder, Field, Index};

/// The index of these tools, by their places.
pub(super) fn index(entries: &[Arc<Entry>]) -> Index {
    let mut builder = Builder::default();
    for entry in entries {
        builder.next();
        add(entry, &mut builder);
    }
    builder.finish()
}

fn add(entry: &Entry, builder: &mut Builder) {
    let tool = &entry.tool;
    // A name is kept as its server wrote it, because a call needs it so.
    builder.add(Field::Name, &clean(bounded(tool.name.as_str())));
    match &entry.provider {
        Provider::Server(server) | Provider::SignIn { server, .. } => {
            builder.add(Field::Server, &clean(server.as_str()));
        }
        Provider::Host(_) => {}
    }
    builder.add(Field::Title, tool.title.as_deref().unwrap_or_default());
    builder.add(Field::Hint, bounded(tool.search_hint.as_deref().unwrap_or_default()));
    let (summary, rest) = first_sentence(&tool.description);
    builder.add(Field::Summary, summary);
    builder.add(Field::Description, rest);
    if let Ok(schema) = serde_json::from_str::<Value>(tool.input_schema.get()) {
        let mut left = SEARCHED_ARGUMENTS;
        arguments(&schema, SEARCHED_DEPTH, &mut left, builder);
    }
}

/// What a description begins with says what the tool is for; the rest is how to use it.
fn first_sentence(text: &str) -> (&str, &str) {
    let text = text.trim();
    let ends = [text.find(". ").map(|at| at + 1), text.find('\n')];
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn arguments(schema: &Value, depth: usize, left: &mut usize, builder: &mut Builder) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, argument) in properties.into_iter().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        builder.add(Field::Argument, bounded(name));
        let text = argument.get("description").and_then(Value::as_str);
        builder.add(Field::ArgumentDescription, bounded(text.unwrap_or_default()));
        if depth > 1 {
            arguments(argument, depth - 1, left, builder);
        }
    }
    if let Some(items) = schema.get("items").filter(|_| depth > 1) {
        arguments(items, depth - 1, left, builder);
    }
}

/// Titles and descriptions have been cut already; other texts of a server may be as long as a message.
fn bounded(text: &str) -> &str {
    beginning(text, SEARCHED_CHARS).unwrap_or(text)
}
