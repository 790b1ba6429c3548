//! Finds the declarations of servers in an app's text, each with its name and place.
//!
//! What a declaration says is read in [`super::dialect`]; here it is still plain JSON, whatever the file's
//! language was.

use serde_json::Value;

use super::inputs::Inputs;
use super::{App, ImportError, tables};
use crate::document::{Document, Kind, Node};
use crate::scope::{Origin, Source};

/// One server as the app has it.
pub(super) struct Declaration {
    pub(super) name: String,
    /// Where the name stands.
    pub(super) origin: Origin,
    pub(super) value: Value,
}

/// Everything in a text that is about servers.
#[derive(Default)]
pub(super) struct Declarations {
    /// In the order they are written, duplicates included.
    pub(super) servers: Vec<Declaration>,
    /// What the entries ask a person for.
    pub(super) inputs: Inputs,
    /// When there is such a list, only these run.
    allowed: Option<Vec<String>>,
    /// These do not.
    excluded: Vec<String>,
}

impl Declarations {
    /// Everything about servers in `text`, a file of `app`.
    pub(super) fn find(app: App, source: Source, text: &str) -> Result<Self, ImportError> {
        match app {
            App::Codex => Ok(Self { servers: tables::servers(&source, text)?, ..Self::default() }),
            App::ClaudeDesktop | App::Cursor | App::Windsurf | App::GeminiCli | App::Cline => {
                Self::in_json(app, source, text, &[&["mcpServers"]])
            }
            App::VsCode => Self::in_json(app, source, text, &[&["mcp", "servers"], &["servers"]]),
            App::OpenCode => Self::in_json(app, source, text, &[&["mcp"]]),
            App::Zed => Self::in_json(app, source, text, &[&["context_servers"]]),
        }
    }

    /// The field that keeps the server called `name` from running there, if there is one.
    pub(super) fn switched_off(&self, name: &str) -> Option<&'static str> {
        if self.excluded.iter().any(|excluded| excluded == name) {
            return Some("mcp.excluded");
        }
        let allowed = self.allowed.as_ref()?;
        (!allowed.iter().any(|allowed| allowed == name)).then_some("mcp.allowed")
    }

    fn in_json(app: App, source: Source, text: &str, paths: &[&[&str]]) -> Result<Self, ImportError> {
        let document = Document::parse(source, text).map_err(ImportError::Syntax)?;
        let Some(root) = document.root() else { return Ok(Self::default()) };
        object("the whole text", root)?;
        let mut found = Self { inputs: inputs(root), ..Self::default() };
        for path in paths {
            found.servers.extend(servers_at(root, path)?);
        }
        if app == App::GeminiCli {
            found.allowed = names_at(root, &["mcp", "allowed"]);
            found.excluded = names_at(root, &["mcp", "excluded"]).unwrap_or_default();
        }
        Ok(found)
    }
}

fn servers_at(root: Node<'_>, path: &[&str]) -> Result<Vec<Declaration>, ImportError> {
    let Some(servers) = at(root, path).filter(|node| node.kind() != Kind::Null) else {
        return Ok(Vec::new());
    };
    object(&format!("`{}`", path.join(".")), servers)?;
    let members = servers.as_object().into_iter().flatten();
    Ok(members
        .map(|member| Declaration {
            name: member.name.to_owned(),
            origin: member.origin(),
            value: member.value.to_json(),
        })
        .collect())
}

fn object(field: &str, node: Node<'_>) -> Result<(), ImportError> {
    match node.kind() {
        Kind::Object => Ok(()),
        found => Err(ImportError::Shape { field: field.to_owned(), found, origin: node.origin() }),
    }
}

fn inputs(root: Node<'_>) -> Inputs {
    let lists = [&["inputs"][..], &["mcp", "inputs"]];
    Inputs::new(lists.iter().filter_map(|path| at(root, path)).map(Node::to_json))
}

fn names_at(root: Node<'_>, path: &[&str]) -> Option<Vec<String>> {
    Some(at(root, path)?.as_array()?.filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

fn at<'d>(root: Node<'d>, path: &[&str]) -> Option<Node<'d>> {
    path.iter().try_fold(root, |node, name| node.get(name))
}
