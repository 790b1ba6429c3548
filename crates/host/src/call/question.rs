//! What a person is asked about a call, and what they may answer.

use mcparley_model::permission::Decision;
use mcparley_model::tool::DefinitionChange;
use mcparley_wire::peer::Boxed;
use serde::Serialize;
use serde_json::Value;

use crate::catalog::Entry;

/// What a person is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Question<'q> {
    /// The tool; its texts are the server's word.
    pub entry: &'q Entry,
    /// What it is to be called with, all of it.
    pub arguments: &'q Value,
    /// Why a person has to be asked.
    pub decision: &'q Decision,
    /// What is different about the tool since it was first met or last reviewed. Show it: whoever allowed the tool
    /// before has allowed another one (P6).
    pub change: Option<&'q DefinitionChange>,
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go ahead, this once.
    Allow,
    /// Go ahead, and ask no more for as long as the tool is what it is now. A rule is written there.
    Always(AlwaysScope),
    /// Do not; the text goes to the model.
    Deny(String),
}

/// Where a person's "always allow" is written. Neither the repository's files nor the administrator's are theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AlwaysScope {
    /// For this project, in its folder: `.claude/settings.local.json`.
    Local,
    /// For this project, outside of it: `projects` of `~/.claude.json`.
    Private,
    /// For every project: the user's settings.
    User,
}

/// Whoever can be asked for a permission.
pub trait Approver: Send + Sync + 'static {
    /// Asks. Dropping the future withdraws the question.
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer>;

    /// Whether a person answers. What they say is remembered, for mode `auto`.
    fn is_person(&self) -> bool {
        true
    }
}

/// The safe default: nobody is there, so the answer is no.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer> {
        let because =
            format!("it needs a person's permission ({}), and nobody can be asked", question.decision.why);
        Box::pin(std::future::ready(Answer::Deny(because)))
    }

    fn is_person(&self) -> bool {
        false
    }
}
