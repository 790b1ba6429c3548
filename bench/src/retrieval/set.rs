//! A set of tools and queries, and the file it is read from.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

/// Tools, and queries with the tools they are meant to find.
#[derive(Debug)]
pub(super) struct RetrievalSet {
    pub(super) name: String,
    pub(super) tools: Vec<SetTool>,
    pub(super) queries: Vec<SetQuery>,
}

/// One tool of a set.
#[derive(Debug)]
pub(super) struct SetTool {
    pub(super) name: String,
    /// The definition, as a server lists it.
    pub(super) definition: Value,
}

/// One query of a set.
#[derive(Debug)]
pub(super) struct SetQuery {
    pub(super) text: String,
    /// The names of the tools, each of which is right.
    pub(super) expected: Vec<String>,
}

#[derive(Deserialize)]
struct SetFile {
    tools: Vec<Value>,
    queries: Vec<(String, Vec<String>)>,
}

impl RetrievalSet {
    /// Reads a set from a file; its name is that of the file.
    pub(super) fn read_file(file: &Path) -> io::Result<Self> {
        let about = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| about(&error))?;
        let SetFile { tools, queries } = serde_json::from_str(&text).map_err(|error| about(&error))?;
        let name = file.file_stem().map_or("set".into(), |stem| stem.to_string_lossy());
        let queries = queries.into_iter().map(|(text, expected)| SetQuery { text, expected }).collect();
        let tools = tools.iter().filter_map(|tool| SetTool::new(tool, "inputSchema")).collect();
        Ok(Self { name: name.into_owned(), tools, queries })
    }
}

impl SetTool {
    /// Reads a tool from a definition with its schema in this member; `None` without a name.
    pub(super) fn new(definition: &Value, schema: &str) -> Option<Self> {
        let name = definition.get("name")?.as_str()?.to_owned();
        let mut schema = definition.get(schema).cloned().unwrap_or_else(|| json!({}));
        // Some sets write `dict`, which no server does.
        schema.as_object_mut()?.insert("type".to_owned(), json!("object"));
        let description = definition.get("description").cloned().unwrap_or_else(|| json!(""));
        let definition = json!({ "name": name, "description": description, "inputSchema": schema });
        Some(Self { name, definition })
    }
}
