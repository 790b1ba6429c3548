//! Bindings of permission rules to tools and servers, as written by "always allow".
//!
//! A rule in a settings file is text and does not record the tool definition it was given for; this file
//! does. A rule that the user typed is bound to the server it was given for, or first seen with: another
//! server that later gets the same name does not inherit it.

use std::path::{Path, PathBuf};

use mcparley_model::limits::BOUND_RULES;
use serde::{Deserialize, Serialize};

/// The tool name of a binding that holds for every tool of its server.
pub const EVERY_TOOL: &str = "*";

/// The content of `rules.json`: every bound rule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RuleBindings {
    /// The number of tool reviews so far. It changes the file, so that hosts that watch it notice a review.
    #[serde(default)]
    pub(super) reviews: u64,
    #[serde(default)]
    bound: Vec<RuleBinding>,
}

/// A permission rule, its file, and the server and tool it holds for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleBinding {
    /// The rule as it is written.
    pub rule: String,
    /// The settings file that contains the rule.
    pub file: PathBuf,
    /// The trust key of the server; its identity for [`EVERY_TOOL`].
    pub server: String,
    /// The tool.
    pub tool: String,
}

impl RuleBindings {
    /// The bindings of a rule in this file; empty if it is not bound.
    pub fn bindings_of(&self, rule: &str, file: &Path) -> impl Iterator<Item = &RuleBinding> {
        self.bound.iter().filter(move |binding| binding.rule == rule && binding.file == file)
    }

    /// Whether some rule is bound to a definition of this tool.
    pub fn has_binding(&self, server: &str, tool: &str) -> bool {
        self.bound.iter().any(|binding| binding.server == server && binding.tool == tool)
    }

    /// Whether the limit of bindings is reached.
    ///
    /// A rule without its binding would count as typed by the user, so it must not be written.
    pub(super) fn is_full(&self) -> bool {
        self.bound.len() >= BOUND_RULES
    }

    pub(super) fn add_binding(&mut self, binding: RuleBinding) {
        if !self.bound.contains(&binding) {
            self.bound.push(binding);
        }
    }

    pub(super) fn remove_rule_tools(&mut self, rule: &str, file: &Path) {
        self.bound
            .retain(|binding| binding.rule != rule || binding.file != file || binding.tool == EVERY_TOOL);
    }

    pub(super) fn remove_rule(&mut self, rule: &str, file: &Path) {
        self.bound.retain(|binding| binding.rule != rule || binding.file != file);
    }
}
