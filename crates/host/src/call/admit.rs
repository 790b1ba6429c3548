//! Decides whether a call may happen: rules and mode first, then a person (P1).

use std::sync::Arc;

use mcparley_model::permission::{
    Decision, KnownServers, Mode, RuleSet, Subject, Verdict, decide, decide_built_in,
};
use mcparley_wire::peer::Boxed;
use serde_json::Value;

use super::bind::Bound;
use super::error::CallError;
use super::wish::{Call, Consent};
use crate::catalog::{Entry, Provider};

/// What a person is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Question<'q> {
    /// The tool; its texts are the server's word.
    pub entry: &'q Entry,
    /// What it is to be called with.
    pub arguments: &'q Value,
    /// Why a person has to be asked.
    pub decision: &'q Decision,
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go ahead, this once.
    Allow,
    /// Do not; the text goes to the model.
    Deny(String),
}

/// Whoever can be asked for a permission.
pub trait Approver: Send + Sync + 'static {
    /// Asks. Dropping the future withdraws the question.
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer>;
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
}

/// Who was asked before a call was permitted. A person takes time, and things change meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nobody,
    Person,
}

/// What calls are judged by.
pub(crate) struct Gate {
    rules: RuleSet,
    /// Whether the rules look at arguments; if not, each tool is decided once.
    by_arguments: bool,
    mode: Mode,
    known: KnownServers,
    approver: Arc<dyn Approver>,
}

impl Gate {
    pub(crate) fn new(rules: RuleSet, mode: Mode, known: KnownServers, approver: Arc<dyn Approver>) -> Self {
        Self { by_arguments: rules.looks_at_arguments(), rules, mode, known, approver }
    }

    pub(super) async fn admit(&self, bound: &Bound, call: &Call) -> Result<Asked, CallError> {
        let decision = if self.by_arguments {
            &self.decide(bound, call)
        } else {
            bound.entry.decision(call.consent, || self.decide(bound, call))
        };
        let denied = |message: String| CallError::Denied {
            tool: bound.entry.name.clone(),
            decision: Box::new(decision.clone()),
            message,
        };
        match decision.verdict {
            Verdict::Allow => Ok(Asked::Nobody),
            Verdict::Ask if call.consent == Consent::Given => Ok(Asked::Nobody),
            Verdict::Ask => {
                let (entry, arguments) = (bound.entry.as_ref(), &call.arguments);
                match self.approver.ask(Question { entry, arguments, decision }).await {
                    Answer::Allow => Ok(Asked::Person),
                    Answer::Deny(message) => Err(denied(message)),
                }
            }
            Verdict::Deny => Err(denied(format!("it is denied by {}", decision.why))),
        }
    }

    fn decide(&self, bound: &Bound, call: &Call) -> Decision {
        let entry = &bound.entry;
        let read_only = entry.tool.hints.read_only;
        let mode = match (call.consent, self.mode) {
            // A person stands behind it, so the mode has nobody to ask and nothing to guess.
            (Consent::Given, Mode::DontAsk | Mode::Auto | Mode::Default | Mode::AcceptEdits) => {
                Mode::BypassPermissions
            }
            (Consent::Given | Consent::Open, mode) => mode,
        };
        let subject = |server| Subject {
            server,
            tool: &entry.tool.name,
            public: Some(&entry.name),
            arguments: Some(&call.arguments),
            read_only,
        };
        match &entry.provider {
            Provider::Server(server) => decide(&subject(server), &self.rules, mode, &self.known),
            Provider::Host(tool) => decide_built_in(tool.as_str(), read_only, &self.rules, mode),
            // It needs no permission (A5), but who denies everything of a server wants no sign-in to it either.
            Provider::SignIn { server, .. } => {
                decide(&subject(server), &self.rules, Mode::BypassPermissions, &self.known).without_asking()
            }
        }
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("mode", &self.mode).finish_non_exhaustive()
    }
}
