//! Decides whether a rule that allows a tool still holds, now that the tool is what it is (P6, H09).
//!
//! | the rule | holds |
//! |---|---|
//! | written by "always allow" | for the server and the tool it was given for, as long as the tool is what it was then |
//! | typed by a person | for the server it was given for (its package in any release), as long as the tool is what it was when it was first met or last reviewed; always, where pins are off |

use std::sync::Arc;

use mcparley_model::permission::{Pin, Rule, RuleKind, RuleSet, RuleValidity};

use crate::catalog::Entry;
use crate::trust::{Binding, EVERY_TOOL, Ledger};

/// The rules that hold for one definition only.
#[derive(Debug)]
pub(super) struct Bindings(Vec<(Arc<Rule>, Vec<Binding>)>);

impl Bindings {
    pub(super) fn of(rules: &RuleSet, ledger: &Ledger) -> Self {
        let bound = |rule: &Arc<Rule>| {
            let file = rule.origin().source.path()?;
            let to: Vec<Binding> = ledger.of(rule.text(), file).cloned().collect();
            (!to.is_empty()).then(|| (Arc::clone(rule), to))
        };
        Self(rules.of(RuleKind::Allow).iter().filter_map(bound).collect())
    }

    /// Whether the rule, which allows the tool, still holds for it.
    pub(super) fn validity(&self, rule: &Rule, entry: &Entry) -> RuleValidity {
        let Some(trusted) = entry.trusted() else { return RuleValidity::Valid };
        let is_same = trusted.change.is_none();
        let bindings = self.0.iter().find(|(bound, _)| std::ptr::eq(&raw const **bound, rule));
        let mut of_server = bindings.iter().flat_map(|(_, bindings)| bindings).filter(|binding| {
            let key = &trusted.key;
            binding.server == if binding.tool == EVERY_TOOL { key.identity() } else { key.as_str() }
        });
        let allows = |binding: &Binding| match binding.tool.as_str() {
            EVERY_TOOL => is_same || trusted.pin == Pin::Off,
            tool => is_same && tool == entry.tool.name.as_str(),
        };
        match (bindings, of_server.next()) {
            (None, _) if is_same || trusted.pin == Pin::Off => RuleValidity::Valid,
            (None, _) => RuleValidity::ToolChanged,
            (Some(_), None) => RuleValidity::ServerReplaced,
            (Some(_), Some(first)) if allows(first) || of_server.any(allows) => RuleValidity::Valid,
            (Some(_), Some(_)) => RuleValidity::ToolChanged,
        }
    }
}
