//! Decides whether a hook may run.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Hook, HookEvent, HookSet};
use crate::approval::Interactivity;
use crate::scope::ConfigOrigin;
use crate::settings::SettingsLayer;
use crate::signature::DefinitionHash;

/// The status of a hook: whether it runs, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum HookStatus {
    /// The hook runs.
    Ready,
    /// The hook is in the project's folder, and the user has not approved its content.
    NeedsApproval,
    /// The user rejected the hook.
    Rejected {
        /// The location of the rejection.
        by: ConfigOrigin,
    },
    /// Settings disable the hook.
    Disabled {
        /// The location of the setting.
        by: ConfigOrigin,
    },
    /// An equal hook is defined in a file that is read earlier.
    Duplicate,
}

impl HookStatus {
    /// The status in one or two words.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NeedsApproval => "needs approval",
            Self::Rejected { .. } => "rejected",
            Self::Disabled { .. } => "disabled",
            Self::Duplicate => "duplicate",
        }
    }
}

impl fmt::Display for HookStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("it runs"),
            Self::NeedsApproval => f.write_str("comes with the project and was not approved as it is now"),
            Self::Rejected { by } => write!(f, "rejected in {by}"),
            Self::Disabled { by } => write!(f, "switched off in {by}"),
            Self::Duplicate => f.write_str("the same hook is in another file, and runs once"),
        }
    }
}

/// A hook and its status.
#[derive(Clone, Debug, Serialize)]
pub struct HookWithStatus {
    /// The hook.
    #[serde(flatten)]
    pub hook: Arc<Hook>,
    /// The status of the hook.
    #[serde(rename = "standing")]
    pub status: HookStatus,
}

impl HookSet {
    /// All hooks with their status, in the order they were read.
    #[must_use]
    pub fn hooks_with_status(&self, session: Interactivity) -> Vec<HookWithStatus> {
        let mut running: Vec<DefinitionHash> = Vec::new();
        let judged = self.all.iter().map(|hook| {
            let (status, definition) = (self.hook_status(hook, session), hook.definition_hash());
            let status = match status {
                HookStatus::Ready if running.contains(&definition) => HookStatus::Duplicate,
                HookStatus::Ready
                | HookStatus::NeedsApproval
                | HookStatus::Rejected { .. }
                | HookStatus::Disabled { .. }
                | HookStatus::Duplicate => status,
            };
            if status == HookStatus::Ready {
                running.push(definition);
            }
            HookWithStatus { hook: Arc::clone(hook), status }
        });
        judged.collect()
    }

    /// The hooks that run.
    #[must_use]
    pub fn ready_hooks(&self, session: Interactivity) -> Vec<Arc<Hook>> {
        let judged = self.hooks_with_status(session).into_iter();
        judged.filter(|judged| judged.status == HookStatus::Ready).map(|judged| judged.hook).collect()
    }

    /// Whether a hook for this event runs.
    #[must_use]
    pub fn has_ready_hook(&self, event: HookEvent, session: Interactivity) -> bool {
        self.all
            .iter()
            .any(|hook| hook.event == event && self.hook_status(hook, session) == HookStatus::Ready)
    }

    fn hook_status(&self, hook: &Hook, session: Interactivity) -> HookStatus {
        if let Some(by) = self.disabling_origin(hook) {
            return HookStatus::Disabled { by: by.clone() };
        }
        // Only a project's hooks can be rejected: a file in the project folder must not disable hooks that
        // guard the user's calls.
        if !hook.needs_approval() {
            return HookStatus::Ready;
        }
        let definition = hook.definition_hash().to_string();
        if let Some((_, by)) = self.rejected.iter().find(|(rejected, _)| *rejected == definition) {
            return HookStatus::Rejected { by: by.clone() };
        }
        let is_asked_for = session == Interactivity::HeadlessWithProject;
        if is_asked_for || self.approved.contains(&definition) {
            HookStatus::Ready
        } else {
            HookStatus::NeedsApproval
        }
    }

    /// The setting that disables the hook. Only the administrator can disable the administrator's hooks.
    fn disabling_origin(&self, hook: &Hook) -> Option<&ConfigOrigin> {
        let is_managed = hook.layer == SettingsLayer::Managed;
        let off = self.disabled_by.iter().find(|(layer, _)| *layer == SettingsLayer::Managed || !is_managed);
        off.map(|(_, by)| by).or(self.managed_only.as_ref().filter(|_| !is_managed))
    }
}
