//! Decides which tools are never shown, because a rule denies them whatever their arguments are.
//!
//! Only what a model sees follows from it. A call is judged by itself, when it is made.

use std::sync::Arc;

use mcparley_model::permission::{
    KnownServers, Mode, Rule, RuleKind, RuleSet, Subject, Verdict, decide, decide_built_in,
};

use super::{Entry, Provider};

/// The deny rules of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials {
    rules: Arc<RuleSet>,
}

impl Denials {
    /// Those among `rules`.
    pub(crate) fn of(rules: &[Arc<Rule>]) -> Self {
        let deny = rules.iter().filter(|rule| rule.kind() == RuleKind::Deny).cloned();
        Self { rules: Arc::new(RuleSet::new(deny)) }
    }

    /// Whether one of them means every call of the tool.
    pub(super) fn cover(&self, entry: &Entry) -> bool {
        if self.rules.iter().next().is_none() {
            return false;
        }
        // Modes change while a host lives, and what a model was shown does not: only rules take a tool away.
        let mode = Mode::BypassPermissions;
        let decision = match &entry.provider {
            Provider::Server(server) | Provider::SignIn { server, .. } => {
                // Without arguments no rule with a condition matches.
                let subject = Subject {
                    server,
                    tool: &entry.tool.name,
                    public: Some(&entry.name),
                    arguments: None,
                    read_only: entry.tool.hints.read_only,
                };
                decide(&subject, &self.rules, mode, &KnownServers::default())
            }
            Provider::Host(tool) => decide_built_in(tool.as_str(), true, &self.rules, mode),
        };
        decision.verdict == Verdict::Deny
    }
}
