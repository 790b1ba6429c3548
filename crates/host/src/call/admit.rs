//! Decides whether a call may happen: what hooks said, rules and mode first, then a person (P1).

use std::sync::Arc;

use mcparley_model::permission::{
    Advice, Decider, Decision, KnownServers, Mode, RuleSet, Subject, Verdict, Why, decide, decide_built_in,
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

/// That a call may happen, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission {
    /// What hooks, rules and mode decided; when that was to ask, [`Admission::by`] says who answered.
    pub decision: Decision,
    /// Who had the last word.
    pub by: Decider,
}

impl Admission {
    /// Whether a person was asked. That takes time, and things change meanwhile.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.by == Decider::Person
    }
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

    /// Whether the call may happen. What a hook said about it (`advice`) is heard here and nowhere else.
    pub(super) async fn admit(
        &self,
        bound: &Bound,
        call: &Call,
        advice: Option<&Advice>,
    ) -> Result<Admission, CallError> {
        let entry = bound.entry.as_ref();
        let decided = if self.by_arguments {
            self.decide(entry, call)
        } else {
            entry.decision(call.consent, || self.decide(entry, call)).clone()
        };
        let decision = match advice {
            Some(advice) => decided.advised(advice, self.mode_for(call.consent)),
            None => decided,
        };
        match decision.verdict {
            Verdict::Allow => Ok(Admission { by: decision.decider(), decision }),
            Verdict::Ask if call.consent == Consent::Given => {
                Ok(Admission { by: Decider::Consent, decision })
            }
            Verdict::Ask => self.ask(entry, call, decision).await,
            Verdict::Deny => {
                let message = format!("it is denied by {}", decision.why);
                Err(denied(entry, decision, message))
            }
        }
    }

    async fn ask(&self, entry: &Entry, call: &Call, decision: Decision) -> Result<Admission, CallError> {
        let question = Question { entry, arguments: &call.arguments, decision: &decision };
        let approver = call.person.as_ref().map_or(&self.approver, |person| &person.approver);
        match approver.ask(question).await {
            Answer::Allow => Ok(Admission { by: Decider::Person, decision }),
            Answer::Deny(message) => Err(denied(entry, decision, message)),
        }
    }

    /// Whether no call of the tool can happen, whatever its arguments: then a model need not be shown it (P3).
    pub(crate) fn denies_outright(&self, entry: &Entry) -> bool {
        let rules = |decision: &Decision| {
            decision.verdict == Verdict::Deny && matches!(decision.why, Why::Rule { .. })
        };
        rules(&self.judge(entry, None, Mode::BypassPermissions))
    }

    fn decide(&self, entry: &Entry, call: &Call) -> Decision {
        self.judge(entry, Some(&call.arguments), self.mode_for(call.consent))
    }

    fn mode_for(&self, consent: Consent) -> Mode {
        match (consent, self.mode) {
            // A person stands behind it, so the mode has nobody to ask and nothing to guess.
            (Consent::Given, Mode::DontAsk | Mode::Auto | Mode::Default | Mode::AcceptEdits) => {
                Mode::BypassPermissions
            }
            (Consent::Given | Consent::Open, mode) => mode,
        }
    }

    fn judge(&self, entry: &Entry, arguments: Option<&Value>, mode: Mode) -> Decision {
        let read_only = entry.tool.hints.read_only;
        let subject = |server| Subject {
            server,
            tool: &entry.tool.name,
            public: Some(&entry.name),
            arguments,
            read_only,
        };
        match &entry.provider {
            Provider::Server(server) => decide(&subject(server), &self.rules, mode, &self.known),
            Provider::Host(tool) if tool.needs_permission() => {
                decide_built_in(tool.as_str(), read_only, &self.rules, mode)
            }
            Provider::Host(tool) => {
                let mode = Mode::BypassPermissions;
                decide_built_in(tool.as_str(), read_only, &self.rules, mode).without_asking()
            }
            // It needs no permission (A5), but who denies everything of a server wants no sign-in to it either.
            Provider::SignIn { server, .. } => {
                decide(&subject(server), &self.rules, Mode::BypassPermissions, &self.known).without_asking()
            }
        }
    }
}

fn denied(entry: &Entry, decision: Decision, message: String) -> CallError {
    CallError::Denied { tool: entry.name.clone(), decision: Box::new(decision), message }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("mode", &self.mode).finish_non_exhaustive()
    }
}
