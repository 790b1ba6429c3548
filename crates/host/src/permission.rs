//! Permissions: decides whether a call is permitted, by rules, mode, classifier or the user.
//!
//! | part | module |
//! |---|---|
//! | the decision from rules, mode and hooks' advice | `gate` |
//! | rules that apply to only one definition of a tool | `binding` |
//! | facts about a tool that are computed once | `tool_facts` |
//! | mode `auto` | `classify` |
//! | questions to the user, and their facts for other processes | `question`, `summary` |
//! | denied calls that wait for the user's permission | `pending` |

mod binding;
mod classify;
mod gate;
mod pending;
mod question;
mod summary;
mod tool_facts;

use mcparley_model::permission::{Decision, DecisionReason};

pub(crate) use classify::CommandClassifier;
pub use classify::{Classification, Classifier, ClassifierCase, HistoryClassifier};
pub use gate::PermissionGrant;
pub(crate) use gate::{PermissionDeciders, PermissionGate, PermissionRequest};
pub(crate) use pending::waits_for_permission;
pub use pending::{PendingCall, pending_calls};
pub use question::{AlwaysAllowTarget, Approver, DenyingApprover, PermissionAnswer, PermissionQuestion};
pub use summary::PermissionSummary;
pub(crate) use tool_facts::{ToolFacts, ToolFactsCache};

/// Whether the user has already consented to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// No consent: rules, mode and the [`Approver`] decide.
    #[default]
    Open,
    /// The user asked for exactly this call, so no further question is asked; deny rules still deny.
    Given,
    /// The user typed this call and can be asked: only an ask rule or a hook still asks; deny rules still
    /// deny.
    Typed,
}

impl Consent {
    /// Whether this consent answers the question of the decision.
    pub(crate) fn answers(self, decision: &Decision) -> bool {
        match self {
            Self::Open => false,
            Self::Given => true,
            Self::Typed => !matches!(decision.why, DecisionReason::Rule { .. } | DecisionReason::Hook { .. }),
        }
    }
}
