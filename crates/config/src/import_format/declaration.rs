//! Finds the server declarations in an app's file, each with its name and place.
//!
//! The values are plain JSON here, from both JSON and TOML files. Their fields are converted in
//! [`super::dialect`].

use serde_json::Value;

use super::inputs::EditorInputs;
use super::{App, ImportError, tables};
use mcparley_model::document::{JsonDocument, JsonKind, Node};
use mcparley_model::scope::{ConfigOrigin, Source};

/// One server declaration of another app.
pub(super) struct ForeignDeclaration {
    pub(super) name: String,
    /// The place of the name.
    pub(super) origin: ConfigOrigin,
    pub(super) value: Value,
}

/// The server declarations of one file, and the settings about them.
#[derive(Default)]
pub(super) struct ForeignDeclarations {
    /// The declarations in the order of the file, duplicates included.
    pub(super) servers: Vec<ForeignDeclaration>,
    /// The inputs that an editor asks the user for.
    pub(super) inputs: EditorInputs,
    /// The allow-list of server names; absent means all.
    allowed: Option<Vec<String>>,
    /// The deny-list of server names.
    excluded: Vec<String>,
}

impl ForeignDeclarations {
    /// Finds the declarations in `text`, a file of `app`.
    pub(super) fn find_in_text(app: App, source: Source, text: &str) -> Result<Self, ImportError> {
        match app {
            App::Codex => Ok(Self { servers: tables::parse_toml_servers(&source, text)?, ..Self::default() }),
            App::ClaudeDesktop
            | App::Cursor
            | App::Windsurf
            | App::GeminiCli
            | App::Cline
            | App::QwenCode => Self::find_in_json(app, source, text, &[&["mcpServers"]]),
            App::VsCode => Self::find_in_json(app, source, text, &[&["mcp", "servers"], &["servers"]]),
            App::OpenCode => Self::find_in_json(app, source, text, &[&["mcp"]]),
            App::Zed => Self::find_in_json(app, source, text, &[&["context_servers"]]),
        }
    }

    /// The field that disables the server `name` in the app, if one does.
    pub(super) fn disabling_field(&self, name: &str) -> Option<&'static str> {
        if self.excluded.iter().any(|excluded| excluded == name) {
            return Some("mcp.excluded");
        }
        let allowed = self.allowed.as_ref()?;
        (!allowed.iter().any(|allowed| allowed == name)).then_some("mcp.allowed")
    }

    fn find_in_json(app: App, source: Source, text: &str, paths: &[&[&str]]) -> Result<Self, ImportError> {
        let document = JsonDocument::parse(source, text).map_err(ImportError::Syntax)?;
        let Some(root) = document.root() else { return Ok(Self::default()) };
        expect_object("the whole text", root)?;
        let mut found = Self { inputs: read_inputs(root), ..Self::default() };
        for path in paths {
            found.servers.extend(servers_at(root, path)?);
        }
        if matches!(app, App::GeminiCli | App::QwenCode) {
            found.allowed = names_at(root, &["mcp", "allowed"]);
            found.excluded = names_at(root, &["mcp", "excluded"]).unwrap_or_default();
        }
        Ok(found)
    }
}

fn servers_at(root: Node<'_>, path: &[&str]) -> Result<Vec<ForeignDeclaration>, ImportError> {
    let Some(servers) = node_at(root, path).filter(|node| node.kind() != JsonKind::Null) else {
        return Ok(Vec::new());
    };
    expect_object(&format!("`{}`", path.join(".")), servers)?;
    let members = servers.as_object().into_iter().flatten();
    Ok(members
        .map(|member| ForeignDeclaration {
            name: member.name.to_owned(),
            origin: member.origin(),
            value: member.value.to_json(),
        })
        .collect())
}

fn expect_object(field: &str, node: Node<'_>) -> Result<(), ImportError> {
    match node.kind() {
        JsonKind::Object => Ok(()),
        found => Err(ImportError::Shape { field: field.to_owned(), found, origin: node.origin() }),
    }
}

fn read_inputs(root: Node<'_>) -> EditorInputs {
    let lists = [&["inputs"][..], &["mcp", "inputs"]];
    EditorInputs::new(lists.iter().filter_map(|path| node_at(root, path)).map(Node::to_json))
}

fn names_at(root: Node<'_>, path: &[&str]) -> Option<Vec<String>> {
    Some(node_at(root, path)?.as_array()?.filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

fn node_at<'d>(root: Node<'d>, path: &[&str]) -> Option<Node<'d>> {
    path.iter().try_fold(root, |node, name| node.get(name))
}
