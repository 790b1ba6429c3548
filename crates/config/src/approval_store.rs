//! Approval store: one file outside of every project with the user's approvals and rejections per project
//! folder.
//!
//! No other program reads or rewrites the file, and only the user may access it. Every edit is an atomic
//! write under an advisory lock and keeps unknown fields. The meaning of the entries is decided by
//! `model::approval`.

use std::path::{Path, PathBuf};

use crate::json_editor::{EditError, JsonEditor};
use mcparley_model::approval::{ApprovalItem, ItemKind};
use mcparley_model::name::{ServerName, is_same_server};
use mcparley_model::signature::DefinitionHash;
use mcparley_platform::file::Creation;
use serde_json::Value;

use crate::change_error::ChangeError;
use crate::edit_target::EditTarget;
use crate::paths::Paths;

const APPROVED: &str = "approved";
const REJECTED: &str = "rejected";
const CLAUDE_CODE: &str = "claudeCode";

/// The part of the approval store for one project folder.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalStore {
    target: EditTarget,
}

/// Approvals of Claude Code that were seen for the first time, bound to the current definitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstSeenApprovals {
    /// The approved items.
    pub(crate) items: Vec<ApprovalItem>,
    /// Whether Claude Code trusts the folder.
    pub(crate) trusts_folder: bool,
    /// The server names that Claude Code approved.
    pub(crate) names: Vec<String>,
}

impl FirstSeenApprovals {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && !self.trusts_folder && self.names.is_empty()
    }
}

impl ApprovalStore {
    /// Opens the part for the project of these paths.
    pub(crate) fn for_project(paths: &Paths) -> Self {
        let key = paths.project_key();
        Self { target: EditTarget::new(paths.approvals.clone(), &["projects", &key], Creation::PRIVATE) }
    }

    /// The file of the store.
    pub(crate) fn file(&self) -> &Path {
        &self.target.file
    }

    /// Records approvals of items as they are now, and removes recorded rejections of them.
    pub(crate) fn record_approvals(&self, items: &[ApprovalItem]) -> Result<(), ChangeError> {
        if items.is_empty() {
            return Ok(());
        }
        let changed = self.target.edit_file(|editor, path| {
            items.iter().try_for_each(|item| {
                remove_rejection(editor, path, item)?;
                add_approval(editor, path, item)
            })
        });
        changed.map(|_| ())
    }

    /// Records the approvals of Claude Code, so that later changes of the folder need a new approval.
    pub(crate) fn adopt_approvals(&self, seen: &FirstSeenApprovals) -> Result<(), ChangeError> {
        let changed = self.target.edit_file(|editor, path| {
            seen.items.iter().try_for_each(|item| add_approval(editor, path, item))?;
            let below = [path, &[CLAUDE_CODE]].concat();
            if seen.trusts_folder {
                editor.set_member(&below, "trusted", &Value::Bool(true))?;
            }
            seen.names.iter().try_for_each(|name| editor.add_to_list(&below, "servers", name))
        });
        changed.map(|_| ())
    }

    /// Rejects a server by name, for its current and any later definition.
    pub(crate) fn reject_server(&self, name: &ServerName) -> Result<(), ChangeError> {
        let changed = self.target.edit_file(|editor, path| {
            editor
                .remove_member(&[path, &[APPROVED, ItemKind::Server.store_key()]].concat(), name.as_str())?;
            editor.add_to_list(&[path, &[REJECTED]].concat(), ItemKind::Server.store_key(), name.as_str())
        });
        changed.map(|_| ())
    }

    /// Rejects an item as it is now.
    pub(crate) fn reject_item(&self, item: &ApprovalItem) -> Result<(), ChangeError> {
        let content = item.content.to_string();
        let changed = self.target.edit_file(|editor, path| {
            let approved = [path, &[APPROVED, item.kind.store_key()]].concat();
            editor.remove_from_list(&approved, &item.name, |known| known == content)?;
            editor.add_to_list(&[path, &[REJECTED]].concat(), item.kind.store_key(), &content)
        });
        changed.map(|_| ())
    }

    /// Forgets the approvals of an item's kind and name, except for the `remaining` definitions.
    ///
    /// Those are still elsewhere in the folder. A definition that is gone would be new if it came back.
    pub(crate) fn forget_approval(
        &self,
        kind: ItemKind,
        name: &str,
        remaining: &[DefinitionHash],
    ) -> Result<(), ChangeError> {
        let remaining: Vec<String> = remaining.iter().map(ToString::to_string).collect();
        self.target.edit_existing_file(|editor, path| {
            let below = [path, &[APPROVED, kind.store_key()]].concat();
            if remaining.is_empty() {
                return editor.remove_member(&below, name).map(drop);
            }
            let is_gone = |content: &str| !remaining.iter().any(|known| known == content);
            editor.remove_from_list(&below, name, is_gone).map(drop)
        })
    }

    /// Forgets approvals and rejections of this folder; returns whether there were any.
    ///
    /// The record of Claude Code's approvals stays: otherwise they would all be adopted again at once.
    pub(crate) fn clear_choices(&self) -> Result<bool, ChangeError> {
        self.target.edit_existing_file(|editor, path| {
            let approved = editor.remove_member(path, APPROVED)?;
            Ok(editor.remove_member(path, REJECTED)? || approved)
        })
    }
}

/// Approves an item that a command of ours has just written into `file`, if that file is in the project.
///
/// The user asked for the write, so no second approval is needed. A file outside of the project needs none at
/// all.
pub(crate) fn approve_written(paths: &Paths, file: &Path, item: &ApprovalItem) -> Result<(), ChangeError> {
    if !paths.is_in_project(file) {
        return Ok(());
    }
    ApprovalStore::for_project(paths).record_approvals(std::slice::from_ref(item))
}

/// Approves items that the user looked at; returns the file of the store.
///
/// # Errors
/// When the store cannot be written.
pub fn approve_items(paths: &Paths, items: &[ApprovalItem]) -> Result<PathBuf, ChangeError> {
    let store = ApprovalStore::for_project(paths);
    store.record_approvals(items)?;
    Ok(store.file().to_owned())
}

/// Rejects items that the user looked at: a server by its name, any other item as it is now. Returns the file
/// of the store.
///
/// # Errors
/// When the store cannot be written.
pub fn reject_items(paths: &Paths, items: &[ApprovalItem]) -> Result<PathBuf, ChangeError> {
    let store = ApprovalStore::for_project(paths);
    for item in items {
        match item.kind {
            ItemKind::Server => store.reject_server(&ServerName::new(&item.name))?,
            ItemKind::Variable | ItemKind::Rule | ItemKind::Hook => store.reject_item(item)?,
        }
    }
    Ok(store.file().to_owned())
}

fn add_approval(editor: &JsonEditor, path: &[&str], item: &ApprovalItem) -> Result<(), EditError> {
    let below = [path, &[APPROVED, item.kind.store_key()]].concat();
    editor.add_to_list(&below, &item.name, &item.content.to_string())
}

/// Removes a rejection: of a server by its name, of any other item by its content.
fn remove_rejection(editor: &JsonEditor, path: &[&str], item: &ApprovalItem) -> Result<(), EditError> {
    let content = item.content.to_string();
    let is_it = |known: &str| match item.kind {
        ItemKind::Server => is_same_server(known, &item.name),
        ItemKind::Variable | ItemKind::Rule | ItemKind::Hook => known == content,
    };
    editor.remove_from_list(&[path, &[REJECTED]].concat(), item.kind.store_key(), is_it).map(drop)
}
