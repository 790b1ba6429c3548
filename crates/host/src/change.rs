//! Changes configuration files for a person: which file, which key, and what must hold before.
//!
//! Every change goes through [`mcparley_platform::file::update`] and `model::edit`, so it is atomic,
//! locked, and leaves everything else in the file as it is (C14).

mod approval;
mod choice;
mod error;
mod exclude;
mod hook;
mod identity;
mod reconnect;
mod rule;
mod server;
mod tools;
mod waiting;

use std::path::{Path, PathBuf};

use mcparley_model::document::Document;
use mcparley_model::edit::{EditError, Editor};
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::{Scope, Source};
use mcparley_platform::file::{self, Creation, Updated};
use serde::Serialize;

use crate::paths::Paths;

pub use approval::approve_items;
pub(crate) use approval::{ApprovalStore, FirstSight};
pub use choice::{Chosen, Switched, approve, disable, enable, reject, reset_project_choices};
pub use error::ChangeError;
pub use exclude::Exclusion;
pub use hook::{ChosenHook, approve_hook, pending_hooks, reject_hook};
pub use identity::{forget_identity_provider, name_identity_provider};
pub use reconnect::request_reconnect;
pub(crate) use rule::bind_typed_rules;
pub use rule::{RemovedRule, WrittenRule, add_rule, bind_to_servers, is_bound, remove_rule};
pub(crate) use rule::{always_file, write_always};
pub use server::{Added, Exposure, NewServer, Removed, add, remove};
pub use tools::{SwitchedTools, disable_tools, enable_tools};
pub use waiting::Waiting;

/// The scopes a person may write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteScope {
    /// This user, in this project.
    Local,
    /// This user, everywhere.
    User,
    /// Everyone who works on the project.
    Project,
}

/// Which of the two files of a scope to write to (C4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileChoice {
    /// `~/.claude.json`: it lies outside of every repository, and Claude Code reads it.
    #[default]
    ClaudeJson,
    /// The settings file.
    Settings,
}

impl WriteScope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Local, Self::User, Self::Project];

    /// The scope as plans know it.
    #[must_use]
    pub fn scope(self) -> Scope {
        match self {
            Self::Local => Scope::Local,
            Self::User => Scope::User,
            Self::Project => Scope::Project,
        }
    }

    /// The word the command line takes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.scope().as_str()
    }
}

/// A spot in a file where servers or choices stand.
#[derive(Clone, Debug)]
struct Spot {
    file: PathBuf,
    /// The way to the object, from the file's root.
    path: Vec<String>,
    creation: Creation,
}

impl Spot {
    fn new(file: PathBuf, path: &[&str], creation: Creation) -> Self {
        Self { file, path: path.iter().map(|&part| part.to_owned()).collect(), creation }
    }

    /// Where servers of a scope stand, in the file chosen.
    fn servers(paths: &Paths, scope: WriteScope, choice: FileChoice) -> Self {
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
                // The folder is the project's, the file is the user's.
                let creation = Creation { dir_mode: Creation::SHARED.dir_mode, ..Creation::PRIVATE };
                Self::new(paths.local_settings(), &["mcpServers"], creation)
            }
            (WriteScope::Local, FileChoice::ClaudeJson) => {
                Self::new(paths.claude.json.clone(), &["projects", &key, "mcpServers"], Creation::PRIVATE)
            }
        }
    }

    /// Where the user's choices about this project stand: outside of it, where it cannot write (C7).
    fn private_choices(paths: &Paths) -> Self {
        Self::new(paths.claude.json.clone(), &["projects", &paths.project_key()], Creation::PRIVATE)
    }

    /// Where the user's choices for everywhere stand.
    fn user_choices(paths: &Paths) -> Self {
        Self::new(paths.user_settings(), &[], Creation::PRIVATE)
    }

    fn local_choices(paths: &Paths) -> Self {
        Self::new(paths.local_settings(), &[], Creation::PRIVATE)
    }

    fn path(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// Whether a server of this name stands here. A file that cannot be read holds nothing for us.
    fn has(&self, name: &str) -> bool {
        let Ok(Some(text)) = file::read(&self.file, CONFIG_FILE_BYTES) else { return false };
        let Ok(document) = Document::parse(Source::file(self.file.as_path()), &text.text) else {
            return false;
        };
        let found = self.path.iter().try_fold(document.root(), |node, part| node.map(|node| node.get(part)));
        found.flatten().and_then(|servers| servers.get(name)).is_some()
    }

    /// Changes the file. Nothing is written when `change` refuses or changes nothing.
    fn change<T>(
        &self,
        change: impl FnOnce(&Editor, &[&str]) -> Result<T, EditError>,
    ) -> Result<(T, Updated), ChangeError> {
        let mut outcome = None;
        let updated = file::update(&self.file, self.creation, CONFIG_FILE_BYTES, |text| {
            let editor = Editor::open(Source::file(self.file.as_path()), text)?;
            outcome = Some(change(&editor, &self.path())?);
            Ok::<_, EditError>(editor.finish())
        })?;
        match outcome {
            Some(outcome) => Ok((outcome, updated)),
            None => Err(ChangeError::NothingDone { file: self.file.clone() }),
        }
    }

    /// Changes the file only if it is there: taking something away must not create it.
    fn change_existing<T: Default>(
        &self,
        change: impl FnOnce(&Editor, &[&str]) -> Result<T, EditError>,
    ) -> Result<T, ChangeError> {
        if !exists(&self.file) {
            return Ok(T::default());
        }
        self.change(change).map(|(outcome, _)| outcome)
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
