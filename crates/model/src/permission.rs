//! Decides whether a tool may be called: allow it, ask a person, or deny it.
//!
//! Deny beats ask beats allow, whatever the scopes; the mode decides where no rule does. What a rule means
//! is decided by [`Rule`], and whether a server may exist at all by [`crate::policy`].

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

mod advice;
mod index;
mod mode;
mod number;
mod pin;
mod prefixes;
mod rule;
mod set;
mod subject;
mod target;
#[cfg(test)]
mod tests;

pub use advice::Advice;
pub use mode::{Mode, ModeError};
pub use pin::Pin;
pub use rule::{Fault, Rule, RuleError, RuleKind, RuleScope, rule_text};
pub use set::{Dead, DeadRule, RuleSet};
pub use subject::{KnownServers, Subject};
pub use target::Reading;

/// What is to happen with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It goes ahead.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not happen.
    Deny,
}

/// A verdict and what led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// What is to happen.
    pub verdict: Verdict,
    /// What decided it.
    pub why: Why,
}

impl Decision {
    /// The same for what is allowed unless it is denied: nobody is asked.
    #[must_use]
    pub fn without_asking(self) -> Self {
        match self.verdict {
            Verdict::Allow | Verdict::Ask => Self { verdict: Verdict::Allow, why: self.why },
            Verdict::Deny => self,
        }
    }

    /// Whether no rule had a say, and the mode nothing against it.
    fn is_without_rule(&self) -> bool {
        match self.why {
            Why::Mode { .. } => self.verdict != Verdict::Deny,
            Why::NobodyToAsk { rule: None } => true,
            Why::NobodyToAsk { rule: Some(_) }
            | Why::Rule { .. }
            | Why::Classifier { .. }
            | Why::Changed { .. }
            | Why::ServerReplaced { .. }
            | Why::Unreviewed
            | Why::Hook { .. } => false,
        }
    }

    /// The same for a tool whose definition has changed since it was reviewed: mode `client` asks a person about it.
    #[must_use]
    pub fn for_changed_tool(self) -> Self {
        let is_left_to_client =
            self.verdict == Verdict::Allow && self.why == (Why::Mode { mode: Mode::Client });
        if is_left_to_client { Self { verdict: Verdict::Ask, why: Why::Unreviewed } } else { self }
    }

    /// Whether only mode `auto` asks: then a classifier decides, where there is one.
    #[must_use]
    pub fn is_left_to_classifier(&self) -> bool {
        self.verdict == Verdict::Ask && self.why == (Why::Mode { mode: Mode::Auto })
    }

    /// Who has the last word: what is to be asked is a person's matter.
    #[must_use]
    pub fn decider(&self) -> Decider {
        match (self.verdict, &self.why) {
            (Verdict::Ask, _) => Decider::Person,
            (Verdict::Allow | Verdict::Deny, why) => match why {
                Why::Rule { .. } => Decider::Rule,
                Why::Mode { .. }
                | Why::NobodyToAsk { .. }
                | Why::Changed { .. }
                | Why::ServerReplaced { .. }
                | Why::Unreviewed => Decider::Mode,
                Why::Classifier { .. } => Decider::Classifier,
                Why::Hook { .. } => Decider::Hook,
            },
        }
    }
}

/// What decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "camelCase")]
pub enum Why {
    /// A rule.
    Rule {
        /// The rule.
        rule: Arc<Rule>,
    },
    /// The mode, since no rule did.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// What decides in mode `auto`.
    Classifier {
        /// What it says.
        reason: String,
    },
    /// Mode `dontAsk` where a person would have been asked.
    NobodyToAsk {
        /// The rule that asks; without one the default does.
        rule: Option<Arc<Rule>>,
    },
    /// A rule that allows the tool as it was, and not as it is.
    Changed {
        /// The rule.
        rule: Arc<Rule>,
    },
    /// A rule that was given for another server of the same name.
    ServerReplaced {
        /// The rule.
        rule: Arc<Rule>,
    },
    /// Mode `client` where the tool's definition has changed since it was first seen or last reviewed: the client's own
    /// consent was given to another tool.
    Unreviewed,
    /// A hook that spoke before the rules.
    Hook {
        /// What it said.
        #[serde(flatten)]
        advice: Advice,
    },
}

/// Who had the last word about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Decider {
    /// A rule.
    Rule,
    /// The mode.
    Mode,
    /// What decides in mode `auto`.
    Classifier,
    /// A hook.
    Hook,
    /// A person who was asked, or nobody where one was to be asked.
    Person,
    /// A person who asked for exactly this call.
    Consent,
}

/// Decides about a call of a server's tool.
///
/// That a tool calls itself read-only never turns a question into permission; it only keeps mode `plan`
/// from denying outright.
#[must_use]
pub fn decide(subject: &Subject<'_>, rules: &RuleSet, mode: Mode, known: &KnownServers) -> Decision {
    decide_where(subject, rules, mode, known, |_| RuleValidity::Valid)
}

/// Whether an allow rule still holds for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleValidity {
    /// It holds.
    Valid,
    /// The tool's definition has changed since the rule was given.
    ToolChanged,
    /// The rule was given for another server of the same name.
    ServerReplaced,
}

/// Decides about a call where some allow rules do not hold: their tool has changed, or their server was replaced.
///
/// Where only such a rule would have allowed it, a person is asked again, whatever a classifier would say.
#[must_use]
pub fn decide_where(
    subject: &Subject<'_>,
    rules: &RuleSet,
    mode: Mode,
    known: &KnownServers,
    validity: impl Fn(&Rule) -> RuleValidity,
) -> Decision {
    let prepared = subject.prepare();
    let candidates = rules.candidates(&prepared);
    let means = |rule: &Rule| rule.means_prepared(&prepared, known);
    let matching = |kind| candidates.iter().copied().filter(move |rule| rule.kind() == kind && means(rule));
    let first = |kind| match kind {
        RuleKind::Allow => matching(kind).find(|rule| validity(rule) == RuleValidity::Valid),
        RuleKind::Ask | RuleKind::Deny => matching(kind).next(),
    };
    let decision = settle(first, mode, subject.read_only);
    if !decision.is_without_rule() {
        return decision;
    }
    let verdict = match mode {
        Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::Auto | Mode::Client => Verdict::Ask,
        Mode::DontAsk => Verdict::Deny,
        Mode::BypassPermissions => return decision,
    };
    let Some(rule) = matching(RuleKind::Allow).next() else { return decision };
    let (reason, rule) = (validity(rule), Arc::clone(rule));
    let why = match reason {
        RuleValidity::Valid => return decision,
        RuleValidity::ToolChanged => Why::Changed { rule },
        RuleValidity::ServerReplaced => Why::ServerReplaced { rule },
    };
    Decision { verdict, why }
}

/// Whether every call of a server's tool is denied, whatever its arguments are: by a rule, or by a mode that asks nobody
/// (N14). Such a tool need not be listed.
#[must_use]
pub fn denies_every_call(subject: &Subject<'_>, rules: &RuleSet, mode: Mode, known: &KnownServers) -> bool {
    // Without arguments no rule with a condition matches.
    let subject = Subject { arguments: None, ..*subject };
    let Decision { verdict, why } = decide(&subject, rules, mode, known);
    let is_allowed_by_arguments = || {
        let prepared = subject.prepare();
        let conditional = rules.of(RuleKind::Allow).iter().filter(|rule| rule.condition().is_some());
        conditional.into_iter().any(|rule| rule.means_prepared(&prepared, known))
    };
    verdict == Verdict::Deny && !(why == Why::NobodyToAsk { rule: None } && is_allowed_by_arguments())
}

/// Decides about a call of one of the host's own tools, such as `ToolSearch`.
#[must_use]
pub fn decide_built_in(name: &str, read_only: bool, rules: &RuleSet, mode: Mode) -> Decision {
    let first = |kind| rules.of(kind).iter().find(|rule| rule.matches_built_in(name));
    settle(first, mode, read_only)
}

fn settle<'r>(first: impl Fn(RuleKind) -> Option<&'r Arc<Rule>>, mode: Mode, read_only: bool) -> Decision {
    if let Some(rule) = first(RuleKind::Deny) {
        return by_rule(Verdict::Deny, rule);
    }
    if mode == Mode::Plan && !read_only {
        return Decision { verdict: Verdict::Deny, why: Why::Mode { mode } };
    }
    if let Some(rule) = first(RuleKind::Ask) {
        return match mode {
            Mode::DontAsk => {
                Decision { verdict: Verdict::Deny, why: Why::NobodyToAsk { rule: Some(Arc::clone(rule)) } }
            }
            Mode::Default
            | Mode::AcceptEdits
            | Mode::Plan
            | Mode::BypassPermissions
            | Mode::Auto
            | Mode::Client => by_rule(Verdict::Ask, rule),
        };
    }
    if let Some(rule) = first(RuleKind::Allow) {
        return by_rule(Verdict::Allow, rule);
    }
    without_rule(mode)
}

fn by_rule(verdict: Verdict, rule: &Arc<Rule>) -> Decision {
    Decision { verdict, why: Why::Rule { rule: Arc::clone(rule) } }
}

fn without_rule(mode: Mode) -> Decision {
    let (verdict, why) = match mode {
        Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::Auto => (Verdict::Ask, Why::Mode { mode }),
        Mode::BypassPermissions | Mode::Client => (Verdict::Allow, Why::Mode { mode }),
        Mode::DontAsk => (Verdict::Deny, Why::NobodyToAsk { rule: None }),
    };
    Decision { verdict, why }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { rule } => rule.fmt(f),
            Self::Mode { mode } => write!(f, "mode `{mode}`, since no rule decides"),
            Self::Classifier { reason } => write!(f, "mode `auto`: {reason}"),
            Self::NobodyToAsk { rule: Some(rule) } => write!(f, "mode `dontAsk`, and {rule}"),
            Self::NobodyToAsk { rule: None } => f.write_str("mode `dontAsk`, since no rule decides"),
            Self::Changed { rule } => {
                write!(f, "{rule}, but the tool has changed since")
            }
            Self::ServerReplaced { rule } => {
                write!(f, "{rule}, but it was given for another server of that name")
            }
            Self::Unreviewed => {
                f.write_str("mode `client`: the tool has changed since it was first seen or last reviewed")
            }
            Self::Hook { advice: Advice { hook, reason: None, .. } } => write!(f, "hook `{hook}`"),
            Self::Hook { advice: Advice { hook, reason: Some(reason), .. } } => {
                write!(f, "hook `{hook}`: {reason}")
            }
        }
    }
}
