//! Decides whether a hook may run.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Event, Hook, Hooks};
use crate::approval::Session;
use crate::scope::Origin;
use crate::settings::Layer;
use crate::signature::Definition;

/// What becomes of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum HookStanding {
    /// It runs.
    Ready,
    /// It lies in the project's folder, and the user has not let it run as it is.
    NeedsApproval,
    /// The user said no.
    Rejected {
        /// Where.
        by: Origin,
    },
    /// Settings switch it off.
    Disabled {
        /// Where.
        by: Origin,
    },
    /// The same stands in a file that is read before.
    Duplicate,
}

impl HookStanding {
    /// One or two words.
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

impl fmt::Display for HookStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("it runs"),
            Self::NeedsApproval => f.write_str("comes with the project and was not approved as it is now"),
            Self::Rejected { by } => write!(f, "rejected in {by}"),
            Self::Disabled { by } => write!(f, "switched off in {by}"),
            Self::Duplicate => f.write_str("the same stands in another file, and runs once"),
        }
    }
}

/// A hook, and what becomes of it.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The hook.
    #[serde(flatten)]
    pub hook: Arc<Hook>,
    /// What becomes of it.
    pub standing: HookStanding,
}

impl Hooks {
    /// Every hook and what becomes of it, in the order they were read.
    #[must_use]
    pub fn judged(&self, session: Session) -> Vec<Judged> {
        let mut running: Vec<Definition> = Vec::new();
        let judged = self.all.iter().map(|hook| {
            let (standing, definition) = (self.standing(hook, session), hook.definition());
            let standing = match standing {
                HookStanding::Ready if running.contains(&definition) => HookStanding::Duplicate,
                HookStanding::Ready
                | HookStanding::NeedsApproval
                | HookStanding::Rejected { .. }
                | HookStanding::Disabled { .. }
                | HookStanding::Duplicate => standing,
            };
            if standing == HookStanding::Ready {
                running.push(definition);
            }
            Judged { hook: Arc::clone(hook), standing }
        });
        judged.collect()
    }

    /// The hooks that run.
    #[must_use]
    pub fn ready(&self, session: Session) -> Vec<Arc<Hook>> {
        let judged = self.judged(session).into_iter();
        judged.filter(|judged| judged.standing == HookStanding::Ready).map(|judged| judged.hook).collect()
    }

    /// Whether a hook for this event runs.
    #[must_use]
    pub fn has(&self, event: Event, session: Session) -> bool {
        self.all.iter().any(|hook| hook.event == event && self.standing(hook, session) == HookStanding::Ready)
    }

    fn standing(&self, hook: &Hook, session: Session) -> HookStanding {
        if let Some(by) = self.switched_off(hook) {
            return HookStanding::Disabled { by: by.clone() };
        }
        // A no is for what a project brings: what guards the user's calls cannot be rejected by a file in its folder.
        if !hook.needs_approval() {
            return HookStanding::Ready;
        }
        let definition = hook.definition().to_string();
        if let Some((_, by)) = self.rejected.iter().find(|(rejected, _)| *rejected == definition) {
            return HookStanding::Rejected { by: by.clone() };
        }
        let is_asked_for = session == Session::HeadlessWithProject;
        match is_asked_for || self.approved.contains(&definition) {
            true => HookStanding::Ready,
            false => HookStanding::NeedsApproval,
        }
    }

    /// What switches the hook off. Only the administrator switches off what the administrator wants.
    fn switched_off(&self, hook: &Hook) -> Option<&Origin> {
        let is_managed = hook.layer == Layer::Managed;
        let off = self.off.iter().find(|(layer, _)| *layer == Layer::Managed || !is_managed);
        off.map(|(_, by)| by).or(self.managed_only.as_ref().filter(|_| !is_managed))
    }
}
