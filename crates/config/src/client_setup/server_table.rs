//! Server table: the object in a client's file that holds its servers, as JSON or as TOML.
//!
//! Pure: text in, text out. The text outside of the edited entries stays as it is, comments included.

use crate::json_editor::{EditError, JsonEditor};
use mcparley_model::document::{JsonDocument, Node, SyntaxError};
use mcparley_model::scope::{Source, TextPosition};
use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, TomlError};

use super::ClientProgram;
use crate::import_format::{App, toml_entries};

const TOML_TABLE: &str = "mcp_servers";

/// The format and place of the table of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerTable {
    /// An object in a JSON file, at this path of keys.
    Json(&'static [&'static str]),
    /// The tables `[mcp_servers.NAME]` of a TOML file.
    Toml,
}

/// An edit of one entry.
#[derive(Clone, Debug)]
pub(super) enum TableEdit<'e> {
    /// Adds or replaces the entry.
    Set(&'e str, &'e Value),
    /// Removes the entry, if it is there.
    Remove(&'e str),
    /// Puts the entry back as it is in another text of the same file.
    Restore {
        /// The name of the entry.
        name: &'e str,
        /// The other text.
        from: &'e str,
    },
    /// Removes the table itself if it is empty.
    DropEmpty,
}

/// The table of our own settings files and of most clients.
pub(super) const MCP_SERVERS: ServerTable = ServerTable::Json(&["mcpServers"]);

impl ServerTable {
    /// The table of `client` in a file with this text.
    pub(super) fn for_client(client: ClientProgram, text: Option<&str>) -> Self {
        match client {
            ClientProgram::ClaudeCode
            | ClientProgram::Importable(
                App::ClaudeDesktop
                | App::Cursor
                | App::GeminiCli
                | App::Windsurf
                | App::Cline
                | App::QwenCode,
            ) => MCP_SERVERS,
            ClientProgram::Importable(App::VsCode) => Self::Json(&["servers"]),
            ClientProgram::Importable(App::Zed) => Self::Json(&["context_servers"]),
            ClientProgram::Importable(App::Codex) => Self::Toml,
            ClientProgram::Importable(App::OpenCode) => {
                if text.is_some_and(has_nested_servers) {
                    Self::NESTED
                } else {
                    Self::Json(&["mcp"])
                }
            }
        }
    }

    /// The table of opencode from version 2.
    const NESTED: Self = Self::Json(&["mcp", "servers"]);

    /// Whether the table has the format of opencode 2.
    pub(super) fn is_nested(self) -> bool {
        self == Self::NESTED
    }

    /// The entries of the table, in the order of the file.
    pub(super) fn read_entries(self, source: &Source, text: &str) -> Result<Vec<(String, Value)>, EditError> {
        match self {
            Self::Json(path) => read_json_entries(source, text, path),
            Self::Toml => toml_entries(source, text).map_err(EditError::Syntax),
        }
    }

    /// Whether a text has the table, even if it is empty.
    pub(super) fn exists_in(self, source: &Source, text: &str) -> bool {
        match self {
            Self::Json(path) => JsonDocument::parse(source.clone(), text)
                .is_ok_and(|document| document.root().and_then(|root| node_at(root, path)).is_some()),
            Self::Toml => text.parse::<DocumentMut>().is_ok_and(|document| document.contains_key(TOML_TABLE)),
        }
    }

    /// The text after these edits; `None` is a file that does not exist yet.
    pub(super) fn edit_text(
        self,
        source: &Source,
        text: Option<&str>,
        edits: &[TableEdit<'_>],
    ) -> Result<String, EditError> {
        match self {
            Self::Json(path) => edit_json(source, text, path, edits),
            Self::Toml => edit_toml(source, text.unwrap_or_default(), edits),
        }
    }
}

/// Whether `mcp.servers` is a table of servers, and not a server of that name.
fn has_nested_servers(text: &str) -> bool {
    let document = JsonDocument::parse(Source::from_label("opencode"), text).ok();
    let table =
        document.as_ref().and_then(JsonDocument::root).and_then(|root| node_at(root, &["mcp", "servers"]));
    let is_server =
        |node: Node<'_>| ["type", "command", "url", "enabled"].iter().any(|key| node.get(key).is_some());
    table.is_some_and(|node| node.as_object().is_some() && !is_server(node))
}

fn read_json_entries(source: &Source, text: &str, path: &[&str]) -> Result<Vec<(String, Value)>, EditError> {
    let document = JsonDocument::parse(source.clone(), text)?;
    let table = document.root().and_then(|root| node_at(root, path));
    let members = table.and_then(Node::as_object).into_iter().flatten();
    Ok(members.map(|member| (member.name.to_owned(), member.value.to_json())).collect())
}

fn node_at<'d>(root: Node<'d>, path: &[&str]) -> Option<Node<'d>> {
    path.iter().try_fold(root, |node, name| node.get(name))
}

fn edit_json(
    source: &Source,
    text: Option<&str>,
    path: &[&str],
    edits: &[TableEdit<'_>],
) -> Result<String, EditError> {
    let editor = JsonEditor::open(source.clone(), text)?;
    for edit in edits {
        match edit {
            TableEdit::Set(name, entry) => editor.set_member(path, name, entry)?,
            TableEdit::Remove(name) => drop(editor.remove_member(path, name)?),
            TableEdit::Restore { name, from } => {
                let entries = read_json_entries(source, from, path)?;
                if let Some((_, entry)) = entries.iter().find(|(found, _)| found == name) {
                    editor.set_member(path, name, entry)?;
                }
            }
            TableEdit::DropEmpty => drop_empty_object(&editor, source, path)?,
        }
    }
    Ok(editor.edited_text())
}

/// Removes the object at `path` if it is empty, and then its parents, if they are empty too.
fn drop_empty_object(editor: &JsonEditor, source: &Source, path: &[&str]) -> Result<(), EditError> {
    let Some((name, parent)) = path.split_last() else { return Ok(()) };
    let text = editor.edited_text();
    let document = JsonDocument::parse(source.clone(), &text)?;
    let object = document.root().and_then(|root| node_at(root, path)).and_then(Node::as_object);
    if object.is_some_and(|members| members.len() == 0) {
        editor.remove_member(parent, name)?;
        drop_empty_object(editor, source, parent)?;
    }
    Ok(())
}

fn edit_toml(source: &Source, text: &str, edits: &[TableEdit<'_>]) -> Result<String, EditError> {
    let mut document = parse_toml(source, text)?;
    for edit in edits {
        match edit {
            TableEdit::Set(name, entry) => {
                let servers = toml_servers(&mut document, source)?;
                let item = Item::Table(to_toml_table(entry));
                insert_toml(servers, name, item);
            }
            TableEdit::Remove(name) => {
                if document.contains_key(TOML_TABLE) {
                    toml_servers(&mut document, source)?.remove(name);
                }
            }
            TableEdit::Restore { name, from } => {
                let other = parse_toml(source, from)?;
                let item = other.get(TOML_TABLE).and_then(|servers| servers.get(name)).cloned();
                if let Some(item) = item {
                    insert_toml(toml_servers(&mut document, source)?, name, item);
                }
            }
            TableEdit::DropEmpty => {
                let servers = document.get(TOML_TABLE).and_then(Item::as_table_like);
                if servers.is_some_and(TableLike::is_empty) {
                    document.remove(TOML_TABLE);
                }
            }
        }
    }
    Ok(document.to_string())
}

fn parse_toml(source: &Source, text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: TomlError| {
        let offset = error.span().map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).map_or(0, |line| line.chars().count()) + 1;
        EditError::Syntax(SyntaxError {
            place: TextPosition {
                line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
                column: u32::try_from(column).unwrap_or(u32::MAX),
            },
            reason: error.message().replace('\n', ", "),
            source_text: source.clone(),
        })
    })
}

/// The table of servers, which is created without a header of its own if it is missing.
fn toml_servers<'d>(
    document: &'d mut DocumentMut,
    source: &Source,
) -> Result<&'d mut dyn TableLike, EditError> {
    let servers = document.entry(TOML_TABLE).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let found = servers.type_name();
    servers.as_table_like_mut().ok_or_else(|| EditError::NotAnObject {
        path: TOML_TABLE.to_owned(),
        found: format!("of type {found}"),
        file: source.clone(),
    })
}

/// Inserts a table, as an inline table if the servers are written in one line.
fn insert_toml(servers: &mut dyn TableLike, name: &str, item: Item) {
    let is_inline = servers.iter().any(|(_, entry)| entry.is_inline_table());
    let item = match item {
        Item::Table(table) if is_inline => Item::Value(table.into_inline_table().into()),
        other => other,
    };
    servers.insert(name, item);
}

fn to_toml_table(entry: &Value) -> Table {
    let members = entry.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.clone(), Item::Value(to_toml_value(value)))).collect()
}

fn to_toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => "".into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(to_toml_value).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.as_str(), to_toml_value(value)));
            toml_edit::Value::InlineTable(members.collect::<InlineTable>())
        }
    }
}
