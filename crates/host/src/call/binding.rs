//! Decides whether a rule that allows a tool still holds, now that the tool is what it is (P6, H09).
//!
//! | the rule | holds |
//! |---|---|
//! | written by "always allow" | for the server and the tool it was given for, as long as the tool is what it was then |
//! | typed by somebody | for the server it was given for, as long as the tool is what it was when it was first met or last reviewed; always, where pins are off |

use std::sync::Arc;

use mcparley_model::permission::{Pin, Rule, RuleKind, RuleSet};

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

    pub(super) fn hold(&self, rule: &Rule, entry: &Entry) -> bool {
        let Some(trusted) = entry.trusted() else { return true };
        let is_same = trusted.change.is_none();
        match self.0.iter().find(|(bound, _)| std::ptr::eq(&raw const **bound, rule)) {
            Some((_, to)) => {
                let is_it = |to: &Binding| match to.tool.as_str() {
                    EVERY_TOOL => is_same || trusted.pin == Pin::Off,
                    tool => is_same && tool == entry.tool.name.as_str(),
                };
                to.iter().any(|to| to.server == trusted.key.as_str() && is_it(to))
            }
            None => is_same || trusted.pin == Pin::Off,
        }
    }
}
