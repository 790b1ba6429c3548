//! The rules that hold for one definition of a tool only: what "always allow" has written (P6).
//!
//! A rule in a settings file is text, and says nothing about what its tool was. Which of them were given for a
//! definition stands here. One that a person typed is bound to the server it was given for, or first seen with: another
//! server that later gets the same name does not inherit it.

use std::path::{Path, PathBuf};

use mcparley_model::limits::BOUND_RULES;
use serde::{Deserialize, Serialize};

/// The tool of a binding that holds for every tool of its server.
pub(crate) const EVERY_TOOL: &str = "*";

/// One file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// How often somebody has reviewed a tool: whoever follows this file learns of it.
    #[serde(default)]
    pub(super) reviews: u64,
    #[serde(default)]
    bound: Vec<Binding>,
}

/// A rule, where it stands, and what it holds for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Binding {
    /// The rule as it is written.
    pub(crate) rule: String,
    /// The file it stands in.
    pub(crate) file: PathBuf,
    /// The server's key; its identity where every tool is meant.
    pub(crate) server: String,
    /// The tool.
    pub(crate) tool: String,
}

impl Ledger {
    /// What the rule of this file holds for; nothing if it is not bound.
    pub(crate) fn of(&self, rule: &str, file: &Path) -> impl Iterator<Item = &Binding> {
        self.bound.iter().filter(move |binding| binding.rule == rule && binding.file == file)
    }

    /// Whether some rule is bound to a definition of this tool.
    pub(crate) fn has(&self, server: &str, tool: &str) -> bool {
        self.bound.iter().any(|binding| binding.server == server && binding.tool == tool)
    }

    /// Whether no more can be kept. A rule of which nothing is kept would count as typed, so it must not be written.
    pub(super) fn is_full(&self) -> bool {
        self.bound.len() >= BOUND_RULES
    }

    pub(super) fn bind(&mut self, binding: Binding) {
        if !self.bound.contains(&binding) {
            self.bound.push(binding);
        }
    }

    pub(super) fn unbind_tools(&mut self, rule: &str, file: &Path) {
        self.bound
            .retain(|binding| binding.rule != rule || binding.file != file || binding.tool == EVERY_TOOL);
    }

    pub(super) fn unbind(&mut self, rule: &str, file: &Path) {
        self.bound.retain(|binding| binding.rule != rule || binding.file != file);
    }
}
