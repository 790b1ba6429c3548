//! The permission rules of all scopes together, and the detection of dead rules.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::index::RuleIndex;
use super::rule::{PermissionRule, RuleKind};
use super::subject::{KnownServers, NormalizedSubject};
use super::target::RuleReading;
use crate::glob::Glob;
use crate::text;

/// All permission rules, grouped by kind and indexed.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// The rules: deny, ask, allow.
    rules: Vec<Arc<PermissionRule>>,
    /// The number of deny rules.
    denying: usize,
    /// The number of deny and ask rules.
    not_allowing: usize,
    index: RuleIndex,
}

impl RuleSet {
    /// Collects the rules of all scopes; their order only decides which of several is named as the reason.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = impl Into<Arc<PermissionRule>>>) -> Self {
        let mut rules: Vec<Arc<PermissionRule>> = rules.into_iter().map(Into::into).collect();
        rules.sort_by_key(|rule| (kind_rank(rule.kind()), rule.scope()));
        let before = |kind| rules.partition_point(|rule| kind_rank(rule.kind()) < kind_rank(kind));
        let (denying, not_allowing) = (before(RuleKind::Ask), before(RuleKind::Allow));
        Self { index: RuleIndex::new(&rules), rules, denying, not_allowing }
    }

    /// The rules of one kind, managed ones first.
    #[must_use]
    pub fn rules_of_kind(&self, kind: RuleKind) -> &[Arc<PermissionRule>] {
        let place = match kind {
            RuleKind::Deny => 0..self.denying,
            RuleKind::Ask => self.denying..self.not_allowing,
            RuleKind::Allow => self.not_allowing..self.rules.len(),
        };
        self.rules.get(place).unwrap_or_default()
    }

    /// All rules: deny, ask, allow.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<PermissionRule>> {
        self.rules.iter()
    }

    /// The rules that can match the subject and have a condition that holds, in the order of
    /// [`RuleSet::iter`].
    pub(super) fn candidate_rules(&self, subject: &NormalizedSubject<'_>) -> Vec<&Arc<PermissionRule>> {
        self.index.candidate_rules(subject, &self.rules)
    }

    /// Whether a rule has a condition on arguments. If none has, the same tool always gets the same
    /// decision.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.iter().any(|rule| rule.condition().is_some())
    }

    /// Finds the rules that cannot match any tool of the known servers, with the reason.
    ///
    /// Rules for built-in tools are left out: other programs read the same files.
    #[must_use]
    pub fn find_dead_rules(&self, known: &KnownServers) -> Vec<DeadRule> {
        let covers: Vec<RuleCover<'_>> =
            self.iter().filter_map(|rule| RuleCover::from_rule(rule, known)).collect();
        let dead = |rule: &Arc<PermissionRule>| {
            let why = find_dead_reason(rule, known).or_else(|| find_covering_rule(rule, known, &covers))?;
            Some(DeadRule { why, rule: Arc::clone(rule) })
        };
        self.iter().filter_map(dead).collect()
    }
}

/// The rank of a kind: the winning kind comes first.
fn kind_rank(kind: RuleKind) -> u8 {
    match kind {
        RuleKind::Deny => 0,
        RuleKind::Ask => 1,
        RuleKind::Allow => 2,
    }
}

fn find_dead_reason(rule: &PermissionRule, known: &KnownServers) -> Option<DeadReason> {
    let tools = rule.tool_pattern()?;
    let readings = tools.readings(known);
    match (rule.kind(), readings.len()) {
        (_, 0) => Some(DeadReason::UnknownServer { server: tools.first_server().to_owned() }),
        (RuleKind::Allow, 2..) if !tools.is_hashed() => Some(DeadReason::Ambiguous { readings }),
        (RuleKind::Allow | RuleKind::Ask | RuleKind::Deny, _) => None,
    }
}

/// A rule without a condition, and all tools it matches.
struct RuleCover<'r> {
    rule: &'r Arc<PermissionRule>,
    /// Patterns for server and tool.
    means: Vec<(Glob, Glob)>,
}

impl<'r> RuleCover<'r> {
    /// Builds the cover of a rule; `None` for an allow rule or a rule with a condition, which leaves calls
    /// to other rules.
    fn from_rule(rule: &'r Arc<PermissionRule>, known: &KnownServers) -> Option<Self> {
        if rule.condition().is_some() || rule.kind() == RuleKind::Allow {
            return None;
        }
        let everything = || vec![(Glob::new("*"), Glob::new("*"))];
        let pair = |reading: RuleReading| (Glob::new(&reading.server), Glob::new(&reading.tool));
        let means = if rule.matches_every_tool() {
            everything()
        } else {
            rule.readings(known).into_iter().map(pair).collect()
        };
        Some(Self { rule, means })
    }

    /// Whether the rule matches all tools of a reading. A star in the reading is treated as a character,
    /// which only a star matches.
    fn covers_reading(&self, reading: &RuleReading) -> bool {
        self.means.iter().any(|(server, tool)| server.matches(&reading.server) && tool.matches(&reading.tool))
    }
}

/// Finds a stronger rule that matches all tools of this rule.
fn find_covering_rule(
    rule: &Arc<PermissionRule>,
    known: &KnownServers,
    covers: &[RuleCover<'_>],
) -> Option<DeadReason> {
    let readings = if rule.matches_every_tool() {
        vec![RuleReading { server: "*".to_owned(), tool: "*".to_owned(), instead: None }]
    } else {
        rule.readings(known)
    };
    let is_stronger = |cover: &&RuleCover<'_>| kind_rank(cover.rule.kind()) < kind_rank(rule.kind());
    let covers_all =
        |cover: &&RuleCover<'_>| !readings.is_empty() && readings.iter().all(|it| cover.covers_reading(it));
    let cover = covers.iter().filter(is_stronger).find(covers_all)?;
    Some(DeadReason::Covered { by: Arc::clone(cover.rule) })
}

/// A rule that never takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadRule {
    /// The rule.
    pub rule: Arc<PermissionRule>,
    /// The reason why it never takes effect.
    pub why: DeadReason,
}

/// The reason why a rule never takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum DeadReason {
    /// No server has this name.
    UnknownServer {
        /// The name in the rule.
        server: String,
    },
    /// An allow rule with several possible readings.
    Ambiguous {
        /// The possible readings.
        readings: Vec<RuleReading>,
    },
    /// A stronger rule matches all of the same tools.
    Covered {
        /// The stronger rule.
        by: Arc<PermissionRule>,
    },
}

impl DeadRule {
    /// The stronger rule that covers this one, if that is the reason.
    #[must_use]
    pub fn covering_rule(&self) -> Option<&PermissionRule> {
        match &self.why {
            DeadReason::Covered { by } => Some(by),
            DeadReason::UnknownServer { .. } | DeadReason::Ambiguous { .. } => None,
        }
    }

    /// The suggested fix.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.why {
            DeadReason::Covered { .. } => "remove one of the two".to_owned(),
            DeadReason::UnknownServer { .. } => {
                "fix the server name in the rule, or remove the rule".to_owned()
            }
            DeadReason::Ambiguous { readings } => {
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
            DeadReason::UnknownServer { server } => {
                write!(
                    f,
                    "{} matches nothing: no server is called `{}`",
                    self.rule,
                    text::display_line(server)
                )
            }
            DeadReason::Covered { by } => write!(f, "{} never decides: {by} is stronger", self.rule),
            DeadReason::Ambiguous { readings } => {
                write!(f, "{} matches nothing, because it could mean", self.rule)?;
                for (index, RuleReading { server, tool, .. }) in readings.iter().enumerate() {
                    let before = if index == 0 { "" } else { " or" };
                    let (server, tool) = (text::display_line(server), text::display_line(tool));
                    write!(f, "{before} tool `{tool}` of server `{server}`")?;
                }
                Ok(())
            }
        }
    }
}
