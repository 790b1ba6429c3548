//! The permission question about a call, and its answers.

use mcparley_config::change::AlwaysAllowScope;
use mcparley_model::permission::Decision;
use mcparley_model::tool::DefinitionChange;
use mcparley_wire::peer::BoxedFuture;
use serde_json::Value;

use mcparley_catalog::CatalogEntry;

/// A permission question to the user.
#[derive(Debug)]
#[non_exhaustive]
pub struct PermissionQuestion<'q> {
    /// The tool; its texts come from the server and are untrusted.
    pub entry: &'q CatalogEntry,
    /// The arguments of the call, in full.
    pub arguments: &'q Value,
    /// The decision that requires the question, with its reason.
    pub decision: &'q Decision,
    /// The change of the tool's definition since it was first seen or last reviewed. Show it: an earlier
    /// permission was given to another definition.
    pub change: Option<&'q DefinitionChange>,
}

/// The user's answer to a permission question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// Allow this one call.
    Allow,
    /// Allow, and write a rule in this scope, so that no question is asked while the tool's definition is
    /// unchanged.
    Always(AlwaysAllowScope),
    /// Allow, and write a rule in this scope that allows every tool of the server. Where another server of a
    /// similar name would be allowed too, the rule is for this tool alone.
    AlwaysServer(AlwaysAllowScope),
    /// Deny; the text is given to the model.
    Deny(String),
}

/// The tools that an "always allow" rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlwaysAllowTarget {
    /// The tool of the call, while its definition is unchanged.
    Tool,
    /// Every tool of the tool's server.
    Server,
}

/// Asks the user for permission.
pub trait Approver: Send + Sync + 'static {
    /// Asks a question. Dropping the future withdraws it.
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer>;

    /// Whether the user answers. The user's answers are remembered, for mode `auto`.
    fn is_person(&self) -> bool {
        true
    }
}

/// The safe default: denies every question, because no user can be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyingApprover;

impl Approver for DenyingApprover {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        let because = format!(
            "it needs the user's permission ({}), and there is no user to ask",
            question.decision.why
        );
        Box::pin(std::future::ready(PermissionAnswer::Deny(because)))
    }

    fn is_person(&self) -> bool {
        false
    }
}
