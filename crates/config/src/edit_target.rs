//! Edit target: the file, and the JSON object in it, that an edit changes.
//!
//! Every edit goes through [`mcparley_platform::file::update`] and `json_editor`, so it is an atomic write
//! under an advisory lock, and the rest of the file stays unchanged.

use std::path::{Path, PathBuf};

use crate::json_editor::{EditError, JsonEditor};
use mcparley_model::document::JsonDocument;
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::{Scope, Source};
use mcparley_platform::file::{self, Creation, UpdateOutcome};
use serde::Serialize;

use crate::change_error::ChangeError;
use crate::paths::Paths;

/// The scopes that the user may write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteScope {
    /// For this user, in this project.
    Local,
    /// For this user, in every project.
    User,
    /// For all users of the project.
    Project,
}

/// The choice between the two files of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileChoice {
    /// `~/.claude.json`, which lies outside of every repository and which Claude Code reads.
    #[default]
    ClaudeJson,
    /// The settings file.
    Settings,
}

impl WriteScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Local, Self::User, Self::Project];

    /// The same scope as plans name it.
    #[must_use]
    pub fn scope(self) -> Scope {
        match self {
            Self::Local => Scope::Local,
            Self::User => Scope::User,
            Self::Project => Scope::Project,
        }
    }

    /// The name of the scope on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.scope().as_str()
    }
}

/// A JSON object in a file that holds servers or choices of the user.
#[derive(Clone, Debug)]
pub(crate) struct EditTarget {
    pub(crate) file: PathBuf,
    /// The path of keys from the root of the file to the object.
    pub(crate) path: Vec<String>,
    pub(crate) creation: Creation,
}

impl EditTarget {
    pub(crate) fn new(file: PathBuf, path: &[&str], creation: Creation) -> Self {
        Self { file, path: path.iter().map(|&part| part.to_owned()).collect(), creation }
    }

    /// The object that holds the servers of a scope, in the chosen file.
    pub(crate) fn for_servers(paths: &Paths, scope: WriteScope, choice: FileChoice) -> Self {
        let key = paths.project_key();
        match (scope, choice) {
            (WriteScope::Project, _) => {
                Self::new(paths.cwd.join(".mcp.json"), &["mcpServers"], Creation::SHARED)
            }
            (WriteScope::User, FileChoice::Settings) => {
                Self::new(paths.user_settings(), &["mcpServers"], Creation::PRIVATE)
            }
            (WriteScope::User, FileChoice::ClaudeJson) => {
                Self::new(paths.claude.json.clone(), &["mcpServers"], Creation::PRIVATE)
            }
            (WriteScope::Local, FileChoice::Settings) => {
                // The folder belongs to the project, the file to the user.
                let creation = Creation { dir_mode: Creation::SHARED.dir_mode, ..Creation::PRIVATE };
                Self::new(paths.local_settings(), &["mcpServers"], creation)
            }
            (WriteScope::Local, FileChoice::ClaudeJson) => {
                Self::new(paths.claude.json.clone(), &["projects", &key, "mcpServers"], Creation::PRIVATE)
            }
        }
    }

    /// The object that holds the user's choices about this project.
    ///
    /// It lies outside of the project, where the project cannot write.
    pub(crate) fn for_private_choices(paths: &Paths) -> Self {
        Self::new(paths.claude.json.clone(), &["projects", &paths.project_key()], Creation::PRIVATE)
    }

    /// The object that holds the user's choices for every project.
    pub(crate) fn for_user_choices(paths: &Paths) -> Self {
        Self::new(paths.user_settings(), &[], Creation::PRIVATE)
    }

    pub(crate) fn for_local_choices(paths: &Paths) -> Self {
        Self::new(paths.local_settings(), &[], Creation::PRIVATE)
    }

    pub(crate) fn path_parts(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// Whether the object has a server of this name. A file that cannot be read has none.
    pub(crate) fn has_server(&self, name: &str) -> bool {
        let Ok(Some(text)) = file::read_text(&self.file, CONFIG_FILE_BYTES) else { return false };
        let Ok(document) = JsonDocument::parse(Source::from_path(self.file.as_path()), &text.text) else {
            return false;
        };
        let found = self.path.iter().try_fold(document.root(), |node, part| node.map(|node| node.get(part)));
        found.flatten().and_then(|servers| servers.get(name)).is_some()
    }

    /// Edits the file. It is not written when `change` fails or changes no text.
    pub(crate) fn edit_file<T>(
        &self,
        change: impl FnOnce(&JsonEditor, &[&str]) -> Result<T, EditError>,
    ) -> Result<(T, UpdateOutcome), ChangeError> {
        let mut outcome = None;
        let updated = file::update_file(&self.file, self.creation, CONFIG_FILE_BYTES, |text| {
            let editor = JsonEditor::open(Source::from_path(self.file.as_path()), text)?;
            outcome = Some(change(&editor, &self.path_parts())?);
            Ok::<_, EditError>(editor.edited_text())
        })?;
        match outcome {
            Some(outcome) => Ok((outcome, updated)),
            None => Err(ChangeError::NothingDone { file: self.file.clone() }),
        }
    }

    /// Edits the file only if it exists: a removal must not create it.
    pub(crate) fn edit_existing_file<T: Default>(
        &self,
        change: impl FnOnce(&JsonEditor, &[&str]) -> Result<T, EditError>,
    ) -> Result<T, ChangeError> {
        if !path_exists(&self.file) {
            return Ok(T::default());
        }
        self.edit_file(change).map(|(outcome, _)| outcome)
    }
}

pub(crate) fn path_exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
