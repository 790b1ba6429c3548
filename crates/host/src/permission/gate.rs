//! The permission gate: decides about a call by hooks' advice, rules and mode, then by asking the user.

use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::{
    Decider, Decision, DecisionReason, HookAdvice, KnownServers, PermissionMode, PermissionRule,
    PermissionSubject, PermissionVerdict, RuleSet, decide_built_in, decide_call, decide_call_with_validity,
    exact_rule_text, server_rule_text,
};
use serde_json::Value;

use super::Consent;
use super::binding::BoundRules;
use super::classify::{Classification, Classifier, ClassifierCase};
use super::question::{AlwaysAllowTarget, Approver, PermissionAnswer, PermissionQuestion};
use super::tool_facts::ToolFacts;
use crate::call_error::CallError;
use mcparley_catalog::{CatalogEntry, ToolProvider};
use mcparley_config::change::AlwaysAllowScope;
use mcparley_config::trust::TrustStore;

/// The permission of a call, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionGrant {
    /// The decision of hooks, rules and mode. If it was to ask, [`PermissionGrant::by`] names the decider
    /// that answered.
    pub decision: Decision,
    /// The decider that had the last word.
    pub by: Decider,
    /// The "always allow" rule that the user wants, if any.
    pub always: Option<(AlwaysAllowTarget, AlwaysAllowScope)>,
}

impl PermissionGrant {
    fn new(decision: Decision, by: Decider) -> Self {
        Self { decision, by, always: None }
    }

    /// Whether the user was asked. That takes time in which the tool may change.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.by == Decider::Person
    }
}

/// A tool name that matches only rules for all tools of a server.
const NO_TOOL: &str = "-";

/// The rules, the mode and the deciders that calls are checked with.
pub(crate) struct PermissionGate {
    rules: RuleSet,
    /// Whether some rule matches arguments; if not, the decision about a tool is cached.
    by_arguments: bool,
    mode: PermissionMode,
    known: KnownServers,
    trust: Arc<TrustStore>,
    bindings: BoundRules,
    deciders: PermissionDeciders,
}

/// A call that needs permission.
#[derive(Clone, Copy)]
pub(crate) struct PermissionRequest<'c> {
    /// The tool.
    pub(crate) entry: &'c CatalogEntry,
    /// Cached facts about the tool.
    pub(crate) facts: &'c ToolFacts,
    /// The arguments.
    pub(crate) arguments: &'c Value,
    /// Whether the user has already consented.
    pub(crate) consent: Consent,
    /// The approver of the call's own client; `None` for the host's.
    pub(crate) approver: Option<&'c Arc<dyn Approver>>,
}

/// The approver and the classifier, which decide where rules do not.
#[derive(Clone)]
pub(crate) struct PermissionDeciders {
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) classifier: Arc<dyn Classifier>,
}

impl PermissionGate {
    pub(crate) fn new(
        rules: RuleSet,
        mode: PermissionMode,
        known: KnownServers,
        trust: Arc<TrustStore>,
        deciders: PermissionDeciders,
    ) -> Self {
        let bindings = BoundRules::from_rules(&rules, &trust.rule_bindings());
        Self { by_arguments: rules.has_conditions(), rules, mode, known, trust, bindings, deciders }
    }

    /// Decides whether the call is permitted. The decision of a hook (`advice`) takes effect here and only
    /// here.
    pub(crate) async fn authorize_call(
        &self,
        call: PermissionRequest<'_>,
        advice: Option<&HookAdvice>,
    ) -> Result<PermissionGrant, CallError> {
        let entry = call.entry;
        let mut decision = self.decide_call(call);
        if let Some(advice) = advice {
            decision = decision.apply_advice(advice, self.mode_for(call.consent));
        }
        if decision.is_left_to_classifier() && entry.definition_change().is_none() {
            decision = self.classify_call(call).await;
        }
        match decision.verdict {
            PermissionVerdict::Allow => Ok(PermissionGrant::new(decision.clone(), decision.decider())),
            PermissionVerdict::Ask if call.consent.answers(&decision) => {
                Ok(PermissionGrant::new(decision, Decider::Consent))
            }
            PermissionVerdict::Ask => self.ask_approver(call, decision).await,
            PermissionVerdict::Deny => {
                let message = format!("it is denied by {}", decision.why);
                Err(denied_error(entry, decision, message))
            }
        }
    }

    /// The decision of rules and mode.
    fn decide_call(&self, call: PermissionRequest<'_>) -> Decision {
        let decide = || self.decide_in_mode(self.mode_for(call.consent), call.entry, Some(call.arguments));
        if self.by_arguments { decide() } else { call.facts.cached_decision(call.consent, decide).clone() }
    }

    async fn classify_call(
        &self,
        PermissionRequest { entry, facts, arguments, .. }: PermissionRequest<'_>,
    ) -> Decision {
        let was_allowed = entry.trust().is_some_and(|trust| {
            self.trust.was_allowed(&trust.key, &entry.tool.name, facts.definition_digest(entry))
        });
        let case = ClassifierCase { entry, arguments, was_allowed };
        let Classification { verdict, reason } = self.deciders.classifier.classify_call(case).await;
        Decision { verdict, why: DecisionReason::Classifier { reason } }
    }

    async fn ask_approver(
        &self,
        call: PermissionRequest<'_>,
        decision: Decision,
    ) -> Result<PermissionGrant, CallError> {
        let PermissionRequest { entry, arguments, .. } = call;
        let question =
            PermissionQuestion { entry, arguments, decision: &decision, change: entry.definition_change() };
        let allowed = PermissionGrant::new(decision.clone(), Decider::Person);
        match self.approver_for(call).ask_permission(question).await {
            PermissionAnswer::Allow => Ok(allowed),
            PermissionAnswer::Always(scope) => {
                Ok(PermissionGrant { always: Some((AlwaysAllowTarget::Tool, scope)), ..allowed })
            }
            PermissionAnswer::AlwaysServer(scope) => {
                Ok(PermissionGrant { always: Some((AlwaysAllowTarget::Server, scope)), ..allowed })
            }
            PermissionAnswer::Deny(message) => Err(denied_error(entry, decision, message)),
        }
    }

    /// Whether the user, and not a program, answers questions about this call.
    pub(crate) fn has_person(&self, call: PermissionRequest<'_>) -> bool {
        self.approver_for(call).is_person()
    }

    /// The approver of the call's context, or else the host's own.
    fn approver_for<'g>(&'g self, call: PermissionRequest<'g>) -> &'g Arc<dyn Approver> {
        call.approver.unwrap_or(&self.deciders.approver)
    }

    /// The text of a rule that matches exactly this tool of a server.
    pub(crate) fn rule_for(&self, entry: &CatalogEntry, server: &ServerName) -> String {
        exact_rule_text(&rule_subject(entry, server, None), &self.known)
    }

    /// The text of a rule that matches exactly the tools of this tool's server, if there is one.
    pub(crate) fn server_rule_for(&self, entry: &CatalogEntry, server: &ServerName) -> Option<String> {
        server_rule_text(&rule_subject(entry, server, None), &self.known)
    }

    /// The decision that denies all tools of a server, which then denies its resources too. A rule for some
    /// of its tools does not.
    pub(crate) fn denial_of_server(&self, server: &ServerName) -> Option<Decision> {
        let tool = ToolName::new(NO_TOOL);
        let subject =
            PermissionSubject { server, tool: &tool, public: None, arguments: None, read_only: true };
        let decision = decide_call(&subject, &self.rules, PermissionMode::BypassPermissions, &self.known);
        (decision.verdict == PermissionVerdict::Deny).then_some(decision)
    }

    fn mode_for(&self, consent: Consent) -> PermissionMode {
        match (consent, self.mode) {
            // The user asked for this call, so the mode has no question left to ask or to guess.
            (
                Consent::Given | Consent::Typed,
                PermissionMode::DontAsk
                | PermissionMode::Auto
                | PermissionMode::Default
                | PermissionMode::AcceptEdits
                | PermissionMode::Client,
            ) => PermissionMode::BypassPermissions,
            (Consent::Given | Consent::Typed | Consent::Open, mode) => mode,
        }
    }

    /// The decision of rules and mode about a call by a model.
    pub(crate) fn decide_for_model(&self, entry: &CatalogEntry, arguments: Option<&Value>) -> Decision {
        self.decide_in_mode(self.mode, entry, arguments)
    }

    fn decide_in_mode(
        &self,
        mode: PermissionMode,
        entry: &CatalogEntry,
        arguments: Option<&Value>,
    ) -> Decision {
        match &entry.provider {
            ToolProvider::Server(server) => {
                let validity = |rule: &PermissionRule| self.bindings.rule_validity(rule, entry);
                let subject = rule_subject(entry, server, arguments);
                let decision = decide_call_with_validity(&subject, &self.rules, mode, &self.known, validity);
                if entry.definition_change().is_some() { decision.for_changed_tool() } else { decision }
            }
            ToolProvider::Host(tool) if tool.needs_permission() => {
                decide_built_in(tool.as_str(), entry.tool.hints.read_only, &self.rules, mode)
            }
            ToolProvider::Host(tool) => {
                let (mode, read_only) = (PermissionMode::BypassPermissions, entry.tool.hints.read_only);
                decide_built_in(tool.as_str(), read_only, &self.rules, mode).without_asking()
            }
            // Sign-in tools need no permission, but a rule that denies all tools of a server denies the
            // sign-in to it too.
            ToolProvider::SignIn { server, .. } => {
                let subject = rule_subject(entry, server, arguments);
                decide_call(&subject, &self.rules, PermissionMode::BypassPermissions, &self.known)
                    .without_asking()
            }
        }
    }
}

fn rule_subject<'e>(
    entry: &'e CatalogEntry,
    server: &'e ServerName,
    arguments: Option<&'e Value>,
) -> PermissionSubject<'e> {
    PermissionSubject {
        server,
        tool: &entry.tool.name,
        public: Some(&entry.name),
        arguments,
        read_only: entry.tool.hints.read_only,
    }
}

fn denied_error(entry: &CatalogEntry, decision: Decision, message: String) -> CallError {
    CallError::Denied { tool: entry.name.clone(), decision: Box::new(decision), message }
}

impl std::fmt::Debug for PermissionGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("mode", &self.mode).finish_non_exhaustive()
    }
}
