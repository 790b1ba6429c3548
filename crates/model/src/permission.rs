//! Decides whether a tool may be called: allow it, ask the user, or deny it.
//!
//! Deny beats ask beats allow, in every combination of scopes; the mode decides where no rule does.
//! [`PermissionRule`] defines which calls a rule matches, and `policy` decides whether a server may exist
//! at all.

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

pub use advice::HookAdvice;
pub use mode::{PermissionMode, PermissionModeError};
pub use pin::ToolPin;
pub use rule::{
    PermissionRule, RuleError, RuleFault, RuleKind, RuleScope, exact_rule_text, server_rule_text,
};
pub use set::{DeadReason, DeadRule, RuleSet};
pub use subject::{KnownServers, PermissionSubject};
pub use target::RuleReading;

/// The permission verdict about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionVerdict {
    /// The call is made.
    Allow,
    /// The user is asked.
    Ask,
    /// The call is denied.
    Deny,
}

/// A permission verdict and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The verdict.
    pub verdict: PermissionVerdict,
    /// The reason for the verdict.
    pub why: DecisionReason,
}

impl Decision {
    /// The decision for operations that are allowed unless they are denied: the user is not asked.
    #[must_use]
    pub fn without_asking(self) -> Self {
        match self.verdict {
            PermissionVerdict::Allow | PermissionVerdict::Ask => {
                Self { verdict: PermissionVerdict::Allow, why: self.why }
            }
            PermissionVerdict::Deny => self,
        }
    }

    /// Whether no rule took part in the decision, and the mode did not deny the call.
    fn is_decided_without_rule(&self) -> bool {
        match self.why {
            DecisionReason::Mode { .. } => self.verdict != PermissionVerdict::Deny,
            DecisionReason::NobodyToAsk { rule: None } => true,
            DecisionReason::NobodyToAsk { rule: Some(_) }
            | DecisionReason::Rule { .. }
            | DecisionReason::Classifier { .. }
            | DecisionReason::Changed { .. }
            | DecisionReason::ServerReplaced { .. }
            | DecisionReason::Unreviewed
            | DecisionReason::Hook { .. } => false,
        }
    }

    /// The decision for a tool with a definition that changed since it was reviewed: mode `client` asks the
    /// user.
    #[must_use]
    pub fn for_changed_tool(self) -> Self {
        let is_left_to_client = self.verdict == PermissionVerdict::Allow
            && self.why == (DecisionReason::Mode { mode: PermissionMode::Client });
        if is_left_to_client {
            Self { verdict: PermissionVerdict::Ask, why: DecisionReason::Unreviewed }
        } else {
            self
        }
    }

    /// Whether only mode `auto` asks: then a classifier decides, if one is configured.
    #[must_use]
    pub fn is_left_to_classifier(&self) -> bool {
        self.verdict == PermissionVerdict::Ask
            && self.why == (DecisionReason::Mode { mode: PermissionMode::Auto })
    }

    /// The decider of the call; a question is decided by the user.
    #[must_use]
    pub fn decider(&self) -> Decider {
        match (self.verdict, &self.why) {
            (PermissionVerdict::Ask, _) => Decider::Person,
            (PermissionVerdict::Allow | PermissionVerdict::Deny, why) => match why {
                DecisionReason::Rule { .. } => Decider::Rule,
                DecisionReason::Mode { .. }
                | DecisionReason::NobodyToAsk { .. }
                | DecisionReason::Changed { .. }
                | DecisionReason::ServerReplaced { .. }
                | DecisionReason::Unreviewed => Decider::Mode,
                DecisionReason::Classifier { .. } => Decider::Classifier,
                DecisionReason::Hook { .. } => Decider::Hook,
            },
        }
    }
}

/// The reason for a permission decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "camelCase")]
pub enum DecisionReason {
    /// A rule decided.
    Rule {
        /// The rule.
        rule: Arc<PermissionRule>,
    },
    /// The mode decided, since no rule did.
    Mode {
        /// The mode.
        mode: PermissionMode,
    },
    /// The classifier of mode `auto` decided.
    Classifier {
        /// The classifier's reason.
        reason: String,
    },
    /// Mode `dontAsk`, where the user would have been asked.
    NobodyToAsk {
        /// The rule that asks; `None` if the default does.
        rule: Option<Arc<PermissionRule>>,
    },
    /// A rule that allows the tool as it was defined before, not as it is now.
    Changed {
        /// The rule.
        rule: Arc<PermissionRule>,
    },
    /// A rule that was given for another server of the same name.
    ServerReplaced {
        /// The rule.
        rule: Arc<PermissionRule>,
    },
    /// Mode `client`, where the tool's definition has changed since it was first seen or last reviewed: the
    /// client's own consent was given to another definition.
    Unreviewed,
    /// A hook that ran before the rules.
    Hook {
        /// The hook's advice.
        #[serde(flatten)]
        advice: HookAdvice,
    },
}

/// The party that made the final decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Decider {
    /// A rule.
    Rule,
    /// The mode.
    Mode,
    /// The classifier of mode `auto`.
    Classifier,
    /// A hook.
    Hook,
    /// The user, or the missing user where one had to be asked.
    Person,
    /// The user, by asking for exactly this call.
    Consent,
}

/// Decides about a call of a server's tool.
///
/// A tool's own read-only hint never turns a question into permission; it only keeps mode `plan` from
/// denying the call outright.
#[must_use]
pub fn decide_call(
    subject: &PermissionSubject<'_>,
    rules: &RuleSet,
    mode: PermissionMode,
    known: &KnownServers,
) -> Decision {
    decide_call_with_validity(subject, rules, mode, known, |_| RuleValidity::Valid)
}

/// Whether an allow rule is still valid for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleValidity {
    /// The rule is valid.
    Valid,
    /// The tool's definition has changed since the rule was added.
    ToolChanged,
    /// The rule was added for another server of the same name.
    ServerReplaced,
}

/// Decides about a call where some allow rules are invalid: their tool has changed, or their server was
/// replaced.
///
/// Where only such a rule would have allowed the call, the user is asked again, and a classifier is not
/// consulted.
#[must_use]
pub fn decide_call_with_validity(
    subject: &PermissionSubject<'_>,
    rules: &RuleSet,
    mode: PermissionMode,
    known: &KnownServers,
    validity: impl Fn(&PermissionRule) -> RuleValidity,
) -> Decision {
    let prepared = subject.to_normalized();
    let candidates = rules.candidate_rules(&prepared);
    let means = |rule: &PermissionRule| rule.matches_normalized(&prepared, known);
    let matching = |kind| candidates.iter().copied().filter(move |rule| rule.kind() == kind && means(rule));
    let first = |kind| match kind {
        RuleKind::Allow => matching(kind).find(|rule| validity(rule) == RuleValidity::Valid),
        RuleKind::Ask | RuleKind::Deny => matching(kind).next(),
    };
    let decision = apply_rules(first, mode, subject.read_only);
    if !decision.is_decided_without_rule() {
        return decision;
    }
    let verdict = match mode {
        PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::Plan
        | PermissionMode::Auto
        | PermissionMode::Client => PermissionVerdict::Ask,
        PermissionMode::DontAsk => PermissionVerdict::Deny,
        PermissionMode::BypassPermissions => return decision,
    };
    let Some(rule) = matching(RuleKind::Allow).next() else { return decision };
    let (reason, rule) = (validity(rule), Arc::clone(rule));
    let why = match reason {
        RuleValidity::Valid => return decision,
        RuleValidity::ToolChanged => DecisionReason::Changed { rule },
        RuleValidity::ServerReplaced => DecisionReason::ServerReplaced { rule },
    };
    Decision { verdict, why }
}

/// Whether every call of a server's tool is denied for any arguments, by a rule or by a mode that never
/// asks. Such a tool need not be listed.
#[must_use]
pub fn denies_every_call(
    subject: &PermissionSubject<'_>,
    rules: &RuleSet,
    mode: PermissionMode,
    known: &KnownServers,
) -> bool {
    // Without arguments no rule with a condition matches.
    let subject = PermissionSubject { arguments: None, ..*subject };
    let Decision { verdict, why } = decide_call(&subject, rules, mode, known);
    let is_allowed_by_arguments = || {
        let prepared = subject.to_normalized();
        let conditional =
            rules.rules_of_kind(RuleKind::Allow).iter().filter(|rule| rule.condition().is_some());
        conditional.into_iter().any(|rule| rule.matches_normalized(&prepared, known))
    };
    verdict == PermissionVerdict::Deny
        && !(why == DecisionReason::NobodyToAsk { rule: None } && is_allowed_by_arguments())
}

/// Decides about a call of one of the host's own tools, such as `ToolSearch`.
#[must_use]
pub fn decide_built_in(name: &str, read_only: bool, rules: &RuleSet, mode: PermissionMode) -> Decision {
    let first = |kind| rules.rules_of_kind(kind).iter().find(|rule| rule.matches_built_in(name));
    apply_rules(first, mode, read_only)
}

fn apply_rules<'r>(
    first: impl Fn(RuleKind) -> Option<&'r Arc<PermissionRule>>,
    mode: PermissionMode,
    read_only: bool,
) -> Decision {
    if let Some(rule) = first(RuleKind::Deny) {
        return rule_decision(PermissionVerdict::Deny, rule);
    }
    if mode == PermissionMode::Plan && !read_only {
        return Decision { verdict: PermissionVerdict::Deny, why: DecisionReason::Mode { mode } };
    }
    if let Some(rule) = first(RuleKind::Ask) {
        return match mode {
            PermissionMode::DontAsk => Decision {
                verdict: PermissionVerdict::Deny,
                why: DecisionReason::NobodyToAsk { rule: Some(Arc::clone(rule)) },
            },
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::BypassPermissions
            | PermissionMode::Auto
            | PermissionMode::Client => rule_decision(PermissionVerdict::Ask, rule),
        };
    }
    if let Some(rule) = first(RuleKind::Allow) {
        return rule_decision(PermissionVerdict::Allow, rule);
    }
    mode_decision(mode)
}

fn rule_decision(verdict: PermissionVerdict, rule: &Arc<PermissionRule>) -> Decision {
    Decision { verdict, why: DecisionReason::Rule { rule: Arc::clone(rule) } }
}

fn mode_decision(mode: PermissionMode) -> Decision {
    let (verdict, why) = match mode {
        PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::Plan
        | PermissionMode::Auto => (PermissionVerdict::Ask, DecisionReason::Mode { mode }),
        PermissionMode::BypassPermissions | PermissionMode::Client => {
            (PermissionVerdict::Allow, DecisionReason::Mode { mode })
        }
        PermissionMode::DontAsk => (PermissionVerdict::Deny, DecisionReason::NobodyToAsk { rule: None }),
    };
    Decision { verdict, why }
}

impl fmt::Display for PermissionVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

impl fmt::Display for DecisionReason {
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
            Self::Hook { advice: HookAdvice { hook, reason: None, .. } } => write!(f, "hook `{hook}`"),
            Self::Hook { advice: HookAdvice { hook, reason: Some(reason), .. } } => {
                write!(f, "hook `{hook}`: {reason}")
            }
        }
    }
}
