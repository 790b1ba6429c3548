//! The approval store: one file outside of every project that says what the user approved in which folder (C7).
//!
//! No other program reads or rewrites it, it belongs to the user alone, and every change is locked, atomic and keeps
//! what it does not understand. What its entries mean is decided by `model::approval`.

use std::path::{Path, PathBuf};

use mcparley_model::approval::{Item, ItemKind};
use mcparley_model::edit::{EditError, Editor};
use mcparley_model::name::{ServerName, is_same_server};
use mcparley_model::signature::Definition;
use mcparley_platform::file::Creation;
use serde_json::Value;

use super::{ChangeError, Spot};
use crate::paths::Paths;

const APPROVED: &str = "approved";
const REJECTED: &str = "rejected";
const CLAUDE_CODE: &str = "claudeCode";

/// The part of the approval store that is about one project folder.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalStore {
    spot: Spot,
}

/// Approvals of Claude Code that were seen for the first time, and what they mean now.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstSight {
    /// What they approve.
    pub(crate) items: Vec<Item>,
    /// Whether Claude Code's trust in the folder is among them.
    pub(crate) trusts_folder: bool,
    /// The names it approved.
    pub(crate) names: Vec<String>,
}

impl FirstSight {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && !self.trusts_folder && self.names.is_empty()
    }
}

impl ApprovalStore {
    /// The store's part for the project of these paths.
    pub(crate) fn of(paths: &Paths) -> Self {
        let key = paths.project_key();
        Self { spot: Spot::new(paths.approvals.clone(), &["projects", &key], Creation::PRIVATE) }
    }

    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.spot.file
    }

    /// Approves items as they are; a rejection of them recorded here is taken back.
    pub(crate) fn approve(&self, items: &[Item]) -> Result<(), ChangeError> {
        if items.is_empty() {
            return Ok(());
        }
        let changed = self.spot.change(|editor, path| {
            items.iter().try_for_each(|item| {
                take_back(editor, path, item)?;
                add(editor, path, item)
            })
        });
        changed.map(|_| ())
    }

    /// Records what Claude Code approved, so that only what was seen now counts from now on.
    pub(crate) fn adopt(&self, seen: &FirstSight) -> Result<(), ChangeError> {
        let changed = self.spot.change(|editor, path| {
            seen.items.iter().try_for_each(|item| add(editor, path, item))?;
            let below = [path, &[CLAUDE_CODE]].concat();
            if seen.trusts_folder {
                editor.set(&below, "trusted", &Value::Bool(true))?;
            }
            seen.names.iter().try_for_each(|name| editor.add_to_list(&below, "servers", name))
        });
        changed.map(|_| ())
    }

    /// Rejects a server, whatever it is or becomes.
    pub(crate) fn reject_server(&self, name: &ServerName) -> Result<(), ChangeError> {
        let changed = self.spot.change(|editor, path| {
            editor.remove(&[path, &[APPROVED, ItemKind::Server.store_key()]].concat(), name.as_str())?;
            editor.add_to_list(&[path, &[REJECTED]].concat(), ItemKind::Server.store_key(), name.as_str())
        });
        changed.map(|_| ())
    }

    /// Rejects an item as it is.
    pub(crate) fn reject(&self, item: &Item) -> Result<(), ChangeError> {
        let content = item.content.to_string();
        let changed = self.spot.change(|editor, path| {
            let approved = [path, &[APPROVED, item.kind.store_key()]].concat();
            editor.remove_from_list(&approved, &item.name, |known| known == content)?;
            editor.add_to_list(&[path, &[REJECTED]].concat(), item.kind.store_key(), &content)
        });
        changed.map(|_| ())
    }

    /// Forgets the approvals of an item's kind and name, besides those of contents that the folder still has
    /// elsewhere: what is gone would be new if it came back.
    pub(crate) fn forget_approval(
        &self,
        kind: ItemKind,
        name: &str,
        remaining: &[Definition],
    ) -> Result<(), ChangeError> {
        let remaining: Vec<String> = remaining.iter().map(ToString::to_string).collect();
        self.spot.change_existing(|editor, path| {
            let below = [path, &[APPROVED, kind.store_key()]].concat();
            if remaining.is_empty() {
                return editor.remove(&below, name).map(drop);
            }
            let is_gone = |content: &str| !remaining.iter().any(|known| known == content);
            editor.remove_from_list(&below, name, is_gone).map(drop)
        })
    }

    /// Forgets approvals and rejections of this folder; tells whether there were any.
    ///
    /// What was seen of Claude Code's approvals stays: otherwise they would all count again at once.
    pub(crate) fn reset(&self) -> Result<bool, ChangeError> {
        self.spot.change_existing(|editor, path| {
            let approved = editor.remove(path, APPROVED)?;
            Ok(editor.remove(path, REJECTED)? || approved)
        })
    }
}

/// Records approval of an item that a command of ours has just written into `file`, where that lies in the project.
///
/// What the user tells us to write needs no second yes; a file outside of the project needs none at all.
pub(crate) fn approve_written(paths: &Paths, file: &Path, item: &Item) -> Result<(), ChangeError> {
    if !paths.is_in_project(file) {
        return Ok(());
    }
    ApprovalStore::of(paths).approve(std::slice::from_ref(item))
}

/// Records approval of items that a person looked at; gives the store's file.
///
/// # Errors
/// When the store cannot be written.
pub fn approve_items(paths: &Paths, items: &[Item]) -> Result<PathBuf, ChangeError> {
    let store = ApprovalStore::of(paths);
    store.approve(items)?;
    Ok(store.file().to_owned())
}

fn add(editor: &Editor, path: &[&str], item: &Item) -> Result<(), EditError> {
    let below = [path, &[APPROVED, item.kind.store_key()]].concat();
    editor.add_to_list(&below, &item.name, &item.content.to_string())
}

/// Takes a rejection back: of a server by its name, of anything else by its content.
fn take_back(editor: &Editor, path: &[&str], item: &Item) -> Result<(), EditError> {
    let content = item.content.to_string();
    let is_it = |known: &str| match item.kind {
        ItemKind::Server => is_same_server(known, &item.name),
        ItemKind::Variable | ItemKind::Rule | ItemKind::Hook => known == content,
    };
    editor.remove_from_list(&[path, &[REJECTED]].concat(), item.kind.store_key(), is_it).map(drop)
}
