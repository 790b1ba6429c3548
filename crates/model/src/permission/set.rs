//! The rules of all scopes together, and which of them are of no use.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::index::Index;
use super::rule::{Rule, RuleKind};
use super::subject::{KnownServers, Prepared};
use super::target::Reading;
use crate::glob::Glob;
use crate::text;

/// Every rule that holds, by kind.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// Deny, ask, allow.
    rules: Vec<Arc<Rule>>,
    /// How many deny.
    denying: usize,
    /// How many deny or ask.
    not_allowing: usize,
    index: Index,
}

impl RuleSet {
    /// Takes the rules of all scopes; their order only decides which of several is named as the reason.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = impl Into<Arc<Rule>>>) -> Self {
        let mut rules: Vec<Arc<Rule>> = rules.into_iter().map(Into::into).collect();
        rules.sort_by_key(|rule| (rank(rule.kind()), rule.scope()));
        let before = |kind| rules.partition_point(|rule| rank(rule.kind()) < rank(kind));
        let (denying, not_allowing) = (before(RuleKind::Ask), before(RuleKind::Allow));
        Self { index: Index::new(&rules), rules, denying, not_allowing }
    }

    /// The rules of one kind, managed ones first.
    #[must_use]
    pub fn of(&self, kind: RuleKind) -> &[Arc<Rule>] {
        let place = match kind {
            RuleKind::Deny => 0..self.denying,
            RuleKind::Ask => self.denying..self.not_allowing,
            RuleKind::Allow => self.not_allowing..self.rules.len(),
        };
        self.rules.get(place).unwrap_or_default()
    }

    /// Every rule: deny, ask, allow.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules.iter()
    }

    /// The rules that can mean the subject and whose condition holds, in the order of [`RuleSet::iter`].
    pub(super) fn candidates(&self, subject: &Prepared<'_>) -> Vec<&Arc<Rule>> {
        self.index.candidates(subject, &self.rules)
    }

    /// Whether a rule looks at arguments. Where none does, the same tool is always decided alike.
    #[must_use]
    pub fn looks_at_arguments(&self) -> bool {
        self.iter().any(|rule| rule.condition().is_some())
    }

    /// The rules that can match nothing of the known servers, each with the reason.
    ///
    /// Rules for built-in tools are left out: other programs read the same files.
    #[must_use]
    pub fn dead(&self, known: &KnownServers) -> Vec<DeadRule> {
        let covers: Vec<Cover<'_>> = self.iter().filter_map(|rule| Cover::of(rule, known)).collect();
        let dead = |rule: &Arc<Rule>| {
            let why = cause_of_death(rule, known).or_else(|| covered(rule, known, &covers))?;
            Some(DeadRule { why, rule: Arc::clone(rule) })
        };
        self.iter().filter_map(dead).collect()
    }
}

/// What wins comes first.
fn rank(kind: RuleKind) -> u8 {
    match kind {
        RuleKind::Deny => 0,
        RuleKind::Ask => 1,
        RuleKind::Allow => 2,
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

/// A rule without a condition, and everything it means.
struct Cover<'r> {
    rule: &'r Arc<Rule>,
    /// Patterns for server and tool.
    means: Vec<(Glob, Glob)>,
}

impl<'r> Cover<'r> {
    /// None for a rule that leaves something to others.
    fn of(rule: &'r Arc<Rule>, known: &KnownServers) -> Option<Self> {
        if rule.condition().is_some() || rule.kind() == RuleKind::Allow {
            return None;
        }
        let everything = || vec![(Glob::new("*"), Glob::new("*"))];
        let pair = |reading: Reading| (Glob::new(&reading.server), Glob::new(&reading.tool));
        let means = if rule.means_everything() {
            everything()
        } else {
            rule.readings(known).into_iter().map(pair).collect()
        };
        Some(Self { rule, means })
    }

    /// Whether it means all that a reading means. A star of the reading is a character like any other, which only a
    /// star fits.
    fn covers(&self, reading: &Reading) -> bool {
        self.means.iter().any(|(server, tool)| server.matches(&reading.server) && tool.matches(&reading.tool))
    }
}

/// The stronger rule that leaves nothing for this one.
fn covered(rule: &Arc<Rule>, known: &KnownServers, covers: &[Cover<'_>]) -> Option<Dead> {
    let readings = match rule.means_everything() {
        true => vec![Reading { server: "*".to_owned(), tool: "*".to_owned(), instead: None }],
        false => rule.readings(known),
    };
    let is_stronger = |cover: &&Cover<'_>| rank(cover.rule.kind()) < rank(rule.kind());
    let covers_all = |cover: &&Cover<'_>| !readings.is_empty() && readings.iter().all(|it| cover.covers(it));
    let cover = covers.iter().filter(is_stronger).find(covers_all)?;
    Some(Dead::Covered { by: Arc::clone(cover.rule) })
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
    /// A stronger rule means all of the same tools.
    Covered {
        /// The stronger rule.
        by: Arc<Rule>,
    },
}

impl DeadRule {
    /// The rule that leaves nothing for this one, if one does.
    #[must_use]
    pub fn by(&self) -> Option<&Rule> {
        match &self.why {
            Dead::Covered { by } => Some(by),
            Dead::UnknownServer { .. } | Dead::Ambiguous { .. } => None,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.why {
            Dead::Covered { .. } => "remove one of the two".to_owned(),
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
            Dead::Covered { by } => write!(f, "{} never decides: {by} is stronger", self.rule),
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
