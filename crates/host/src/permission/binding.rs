//! Rule bindings: decide whether an allow rule still applies to the current definition of a tool.
//!
//! | rule | applies |
//! |---|---|
//! | written by "always allow" | to the server and the tool it was given for, while the tool's definition is unchanged |
//! | typed by the user | to the server it was given for (its package in any release), while the tool's definition is the one first seen or last reviewed; always, where pins are off |

use std::sync::Arc;

use mcparley_model::permission::{PermissionRule, RuleKind, RuleSet, RuleValidity, ToolPin};

use mcparley_catalog::CatalogEntry;
use mcparley_config::trust::{EVERY_TOOL, RuleBinding, RuleBindings};

/// The allow rules that apply to only one definition of a tool.
#[derive(Debug)]
pub(super) struct BoundRules(Vec<(Arc<PermissionRule>, Vec<RuleBinding>)>);

impl BoundRules {
    pub(super) fn from_rules(rules: &RuleSet, ledger: &RuleBindings) -> Self {
        let bound = |rule: &Arc<PermissionRule>| {
            let file = rule.origin().source.path()?;
            let to: Vec<RuleBinding> = ledger.bindings_of(rule.text(), file).cloned().collect();
            (!to.is_empty()).then(|| (Arc::clone(rule), to))
        };
        Self(rules.rules_of_kind(RuleKind::Allow).iter().filter_map(bound).collect())
    }

    /// Whether the rule, which allows the tool, still applies to its current definition.
    pub(super) fn rule_validity(&self, rule: &PermissionRule, entry: &CatalogEntry) -> RuleValidity {
        let Some(trusted) = entry.trust() else { return RuleValidity::Valid };
        let is_same = trusted.change.is_none();
        let bindings = self.0.iter().find(|(bound, _)| std::ptr::eq(&raw const **bound, rule));
        let mut of_server = bindings.iter().flat_map(|(_, bindings)| bindings).filter(|binding| {
            let key = &trusted.key;
            binding.server == if binding.tool == EVERY_TOOL { key.identity() } else { key.as_str() }
        });
        let allows = |binding: &RuleBinding| match binding.tool.as_str() {
            EVERY_TOOL => is_same || trusted.pin == ToolPin::Off,
            tool => is_same && tool == entry.tool.name.as_str(),
        };
        match (bindings, of_server.next()) {
            (None, _) if is_same || trusted.pin == ToolPin::Off => RuleValidity::Valid,
            (None, _) => RuleValidity::ToolChanged,
            (Some(_), None) => RuleValidity::ServerReplaced,
            (Some(_), Some(first)) if allows(first) || of_server.any(allows) => RuleValidity::Valid,
            (Some(_), Some(_)) => RuleValidity::ToolChanged,
        }
    }
}
