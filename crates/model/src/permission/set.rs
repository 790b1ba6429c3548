//! The rules of all scopes together, and which of them are of no use.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::rule::{Rule, RuleKind};
use super::subject::KnownServers;
use super::target::Reading;
use crate::text;

/// Every rule that holds, by kind.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    allow: Vec<Arc<Rule>>,
    ask: Vec<Arc<Rule>>,
    deny: Vec<Arc<Rule>>,
}

impl RuleSet {
    /// Takes the rules of all scopes; their order only decides which of several is named as the reason.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = impl Into<Arc<Rule>>>) -> Self {
        let mut sorted: Vec<Arc<Rule>> = rules.into_iter().map(Into::into).collect();
        sorted.sort_by_key(|rule| rule.scope());
        let of = |kind| sorted.iter().filter(|rule| rule.kind() == kind).cloned().collect();
        Self { allow: of(RuleKind::Allow), ask: of(RuleKind::Ask), deny: of(RuleKind::Deny) }
    }

    /// The rules of one kind, managed ones first.
    #[must_use]
    pub fn of(&self, kind: RuleKind) -> &[Arc<Rule>] {
        match kind {
            RuleKind::Allow => &self.allow,
            RuleKind::Ask => &self.ask,
            RuleKind::Deny => &self.deny,
        }
    }

    /// Every rule: deny, ask, allow.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.deny.iter().chain(&self.ask).chain(&self.allow)
    }

    /// Whether a rule looks at arguments. Where none does, the same tool is always decided alike.
    #[must_use]
    pub fn looks_at_arguments(&self) -> bool {
        self.iter().any(|rule| rule.has_condition())
    }

    /// The rules that can match nothing of the known servers, each with the reason.
    ///
    /// Rules for built-in tools are left out: other programs read the same files.
    #[must_use]
    pub fn dead(&self, known: &KnownServers) -> Vec<DeadRule> {
        let dead =
            |rule: &Arc<Rule>| Some(DeadRule { why: cause_of_death(rule, known)?, rule: Arc::clone(rule) });
        self.iter().filter_map(dead).collect()
    }
}

fn cause_of_death(rule: &Rule, known: &KnownServers) -> Option<Dead> {
    let tools = rule.tools()?;
    let readings = tools.readings(known);
    match (rule.kind(), readings.len()) {
        (_, 0) => Some(Dead::UnknownServer { server: tools.first_server().to_owned() }),
        (RuleKind::Allow, 2..) if !tools.is_hashed() => Some(Dead::Ambiguous { readings }),
        (RuleKind::Allow | RuleKind::Ask | RuleKind::Deny, _) => None,
    }
}

/// A rule that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadRule {
    /// The rule.
    pub rule: Arc<Rule>,
    /// Why it matches nothing.
    pub why: Dead,
}

/// Why a rule matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum Dead {
    /// No server is called so.
    UnknownServer {
        /// What the rule calls it.
        server: String,
    },
    /// An allow rule that could mean several things.
    Ambiguous {
        /// What it could mean.
        readings: Vec<Reading>,
    },
}

impl DeadRule {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.why {
            Dead::UnknownServer { .. } => "mend the server's name in the rule, or remove the rule".to_owned(),
            Dead::Ambiguous { readings } => {
                let instead: Vec<_> = readings
                    .iter()
                    .filter_map(|reading| Some(format!("`{}`", reading.instead.as_ref()?)))
                    .collect();
                if instead.is_empty() {
                    "allow the tools one by one by their public names, or rename a server".to_owned()
                } else {
                    format!("write {}", instead.join(" or "))
                }
            }
        }
    }
}

impl fmt::Display for DeadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Dead::UnknownServer { server } => {
                write!(f, "{} matches nothing: no server is called `{}`", self.rule, text::display(server))
            }
            Dead::Ambiguous { readings } => {
                write!(f, "{} matches nothing, because it could mean", self.rule)?;
                for (index, Reading { server, tool, .. }) in readings.iter().enumerate() {
                    let before = if index == 0 { "" } else { " or" };
                    let (server, tool) = (text::display(server), text::display(tool));
                    write!(f, "{before} tool `{tool}` of server `{server}`")?;
                }
                Ok(())
            }
        }
    }
}
