//! Decides whether a call may happen: what hooks said, rules and mode first, then a person (P1).

use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::{
    Advice, Decider, Decision, KnownServers, Mode, Rule, RuleSet, Subject, Verdict, Why, decide,
    decide_built_in, decide_where, rule_text,
};
use serde_json::Value;

use super::binding::Bindings;
use super::classify::{Case, Classifier, Opinion};
use super::error::CallError;
use super::question::{AlwaysScope, Answer, Approver, Question};
use super::wish::{Call, Consent};
use crate::catalog::{Entry, Provider};
use crate::trust::Trust;

/// That a call may happen, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission {
    /// What hooks, rules and mode decided; when that was to ask, [`Admission::by`] says who answered.
    pub decision: Decision,
    /// Who had the last word.
    pub by: Decider,
    /// Where a person wants it written that the tool is always allowed.
    pub always: Option<AlwaysScope>,
}

impl Admission {
    fn new(decision: Decision, by: Decider) -> Self {
        Self { decision, by, always: None }
    }

    /// Whether a person was asked. That takes time, and things change meanwhile.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.by == Decider::Person
    }
}

/// A name that no rule means unless it means every tool.
const NO_TOOL: &str = "-";

/// What calls are judged by.
pub(crate) struct Gate {
    rules: RuleSet,
    /// Whether the rules look at arguments; if not, each tool is decided once.
    by_arguments: bool,
    mode: Mode,
    known: KnownServers,
    trust: Arc<Trust>,
    bindings: Bindings,
    asks: Asks,
}

/// Whoever is asked where rules leave it open.
#[derive(Clone)]
pub(crate) struct Asks {
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) classifier: Arc<dyn Classifier>,
}

impl Gate {
    pub(crate) fn new(
        rules: RuleSet,
        mode: Mode,
        known: KnownServers,
        trust: Arc<Trust>,
        asks: Asks,
    ) -> Self {
        let bindings = Bindings::of(&rules, &trust.ledger());
        Self { by_arguments: rules.looks_at_arguments(), rules, mode, known, trust, bindings, asks }
    }

    /// Whether the call may happen. What a hook said about it (`advice`) is heard here and nowhere else.
    pub(super) async fn admit(
        &self,
        entry: &Entry,
        call: &Call,
        advice: Option<&Advice>,
    ) -> Result<Admission, CallError> {
        let mut decision = self.decided(entry, call);
        if let Some(advice) = advice {
            decision = decision.advised(advice, self.mode_for(call.consent));
        }
        if decision.is_left_to_classifier() && entry.change().is_none() {
            decision = self.classify(entry, call).await;
        }
        match decision.verdict {
            Verdict::Allow => Ok(Admission::new(decision.clone(), decision.decider())),
            Verdict::Ask if call.consent == Consent::Given => Ok(Admission::new(decision, Decider::Consent)),
            Verdict::Ask => self.ask(entry, call, decision).await,
            Verdict::Deny => {
                let message = format!("it is denied by {}", decision.why);
                Err(denied(entry, decision, message))
            }
        }
    }

    /// What rules and mode say.
    fn decided(&self, entry: &Entry, call: &Call) -> Decision {
        let decide = || self.judge_in(self.mode_for(call.consent), entry, Some(&call.arguments));
        if self.by_arguments { decide() } else { entry.decision(call.consent, decide).clone() }
    }

    async fn classify(&self, entry: &Entry, call: &Call) -> Decision {
        let was_allowed = entry.trusted().is_some_and(|trusted| {
            self.trust.was_allowed(&trusted.key, &entry.tool.name, entry.definition())
        });
        let case = Case { entry, arguments: &call.arguments, was_allowed };
        let Opinion { verdict, reason } = self.asks.classifier.classify(case).await;
        Decision { verdict, why: Why::Classifier { reason } }
    }

    async fn ask(&self, entry: &Entry, call: &Call, decision: Decision) -> Result<Admission, CallError> {
        let change = entry.change();
        let question = Question { entry, arguments: &call.arguments, decision: &decision, change };
        let by = Decider::Person;
        match self.approver(call).ask(question).await {
            Answer::Allow => Ok(Admission::new(decision, by)),
            Answer::Always(scope) => Ok(Admission { always: Some(scope), ..Admission::new(decision, by) }),
            Answer::Deny(message) => Err(denied(entry, decision, message)),
        }
    }

    /// Whether a person is asked where one has to be.
    pub(super) fn has_person(&self, call: &Call) -> bool {
        self.approver(call).is_person()
    }

    /// Who is asked about this call.
    fn approver<'g>(&'g self, call: &'g Call) -> &'g Arc<dyn Approver> {
        call.person.as_ref().map_or(&self.asks.approver, |person| &person.approver)
    }

    /// The text of a rule that means this tool of a server and no other.
    pub(super) fn rule_for(&self, entry: &Entry, server: &ServerName) -> String {
        rule_text(&subject(entry, server, None), &self.known)
    }

    /// What denies everything of a server, and so what it offers besides tools too (P3, H21). A rule for some of its tools
    /// does not.
    pub(crate) fn denies_all_of(&self, server: &ServerName) -> Option<Decision> {
        let tool = ToolName::new(NO_TOOL);
        let subject = Subject { server, tool: &tool, public: None, arguments: None, read_only: true };
        let decision = decide(&subject, &self.rules, Mode::BypassPermissions, &self.known);
        (decision.verdict == Verdict::Deny).then_some(decision)
    }

    fn mode_for(&self, consent: Consent) -> Mode {
        match (consent, self.mode) {
            // A person stands behind it, so the mode has nobody to ask and nothing to guess.
            (
                Consent::Given,
                Mode::DontAsk | Mode::Auto | Mode::Default | Mode::AcceptEdits | Mode::Client,
            ) => Mode::BypassPermissions,
            (Consent::Given | Consent::Open, mode) => mode,
        }
    }

    /// What rules and mode say about a call of a model.
    pub(crate) fn judge(&self, entry: &Entry, arguments: Option<&Value>) -> Decision {
        self.judge_in(self.mode, entry, arguments)
    }

    fn judge_in(&self, mode: Mode, entry: &Entry, arguments: Option<&Value>) -> Decision {
        match &entry.provider {
            Provider::Server(server) => {
                let validity = |rule: &Rule| self.bindings.validity(rule, entry);
                let subject = subject(entry, server, arguments);
                let decision = decide_where(&subject, &self.rules, mode, &self.known, validity);
                if entry.change().is_some() { decision.for_changed_tool() } else { decision }
            }
            Provider::Host(tool) if tool.needs_permission() => {
                decide_built_in(tool.as_str(), entry.tool.hints.read_only, &self.rules, mode)
            }
            Provider::Host(tool) => {
                let (mode, read_only) = (Mode::BypassPermissions, entry.tool.hints.read_only);
                decide_built_in(tool.as_str(), read_only, &self.rules, mode).without_asking()
            }
            // It needs no permission (A5), but who denies everything of a server wants no sign-in to it either.
            Provider::SignIn { server, .. } => {
                let subject = subject(entry, server, arguments);
                decide(&subject, &self.rules, Mode::BypassPermissions, &self.known).without_asking()
            }
        }
    }
}

fn subject<'e>(entry: &'e Entry, server: &'e ServerName, arguments: Option<&'e Value>) -> Subject<'e> {
    Subject {
        server,
        tool: &entry.tool.name,
        public: Some(&entry.name),
        arguments,
        read_only: entry.tool.hints.read_only,
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
