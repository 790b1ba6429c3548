//! Combines a hook's advice with the decision of the rules.
//!
//! | advice | effect |
//! |---|---|
//! | allow | the user is not asked where only the mode asks; ask and deny rules and mode `plan` still hold |
//! | ask | an allowed call is asked about; in mode `dontAsk` it is denied |
//! | deny | the call is denied |
//!
//! So no program can talk a call past a rule.

use serde::Serialize;

use super::{Decision, DecisionReason, PermissionMode, PermissionVerdict};

/// A hook's advice about a call, given before the rules are evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookAdvice {
    /// The advised verdict.
    pub verdict: PermissionVerdict,
    /// The hook's display name.
    pub hook: String,
    /// The hook's own reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Decision {
    /// Applies a hook's advice to this decision.
    #[must_use]
    pub fn apply_advice(self, advice: &HookAdvice, mode: PermissionMode) -> Self {
        let with = |verdict| Self { verdict, why: DecisionReason::Hook { advice: advice.clone() } };
        match (advice.verdict, self.verdict) {
            (_, PermissionVerdict::Deny) if !self.is_decided_without_rule() => self,
            (PermissionVerdict::Deny, _) => with(PermissionVerdict::Deny),
            (PermissionVerdict::Allow, _) if self.is_decided_without_rule() => with(PermissionVerdict::Allow),
            (PermissionVerdict::Ask, PermissionVerdict::Allow | PermissionVerdict::Deny) => match mode {
                PermissionMode::DontAsk => with(PermissionVerdict::Deny),
                PermissionMode::Default
                | PermissionMode::AcceptEdits
                | PermissionMode::Plan
                | PermissionMode::BypassPermissions
                | PermissionMode::Auto
                | PermissionMode::Client => with(PermissionVerdict::Ask),
            },
            (PermissionVerdict::Allow | PermissionVerdict::Ask, _) => self,
        }
    }
}
