//! Classifiers: decide in mode `auto` about calls that no rule decides.
//!
//! Hints come from an untrusted server, so by themselves they permit no call: the user must have allowed the
//! tool's current definition before.
//!
//! | the user allowed this definition before | marked read-only | marked closed-world | decision |
//! |---|---|---|---|
//! | yes | yes | yes | allow |
//! | no | any | any | ask the user |
//! | yes | no | any | ask the user |
//! | yes | yes | no | ask the user |
//!
//! A tool whose definition has changed is never classified; the user is asked.

mod command;

use mcparley_model::permission::PermissionVerdict;
use mcparley_wire::peer::BoxedFuture;
use serde_json::Value;

use mcparley_catalog::CatalogEntry;

pub(crate) use command::CommandClassifier;

/// A call that no rule decides.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClassifierCase<'c> {
    /// The tool; its texts and hints come from the server and are untrusted.
    pub entry: &'c CatalogEntry,
    /// The arguments of the call.
    pub arguments: &'c Value,
    /// Whether the user, when last asked, allowed the tool's current definition.
    pub was_allowed: bool,
}

/// The decision of a classifier, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// Allow, ask or deny.
    pub verdict: PermissionVerdict,
    /// The reason, for the user.
    pub reason: String,
}

/// Decides about calls in mode `auto`.
pub trait Classifier: Send + Sync + 'static {
    /// Decides about one call.
    fn classify_call<'c>(&'c self, case: ClassifierCase<'c>) -> BoxedFuture<'c, Classification>;
}

/// The default classifier: decides by the tool's hints and the user's earlier answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistoryClassifier;

impl Classifier for HistoryClassifier {
    fn classify_call<'c>(&'c self, case: ClassifierCase<'c>) -> BoxedFuture<'c, Classification> {
        Box::pin(std::future::ready(classify_by_history(&case)))
    }
}

fn classify_by_history(case: &ClassifierCase<'_>) -> Classification {
    let hints = case.entry.tool.hints;
    let ask = |reason: &str| Classification { verdict: PermissionVerdict::Ask, reason: reason.to_owned() };
    match (case.was_allowed, hints.read_only, hints.open_world) {
        (false, _, _) => ask("the user has not allowed the tool before, as it is now"),
        (true, false, _) => ask("the tool is not marked read-only"),
        (true, true, true) => ask("the tool is not marked as limited to its own data"),
        (true, true, false) => Classification {
            verdict: PermissionVerdict::Allow,
            reason: "the user has allowed the tool before, and it is marked as only reading its own data"
                .to_owned(),
        },
    }
}
