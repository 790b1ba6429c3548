//! Checks the permission of a call with the permission gate, and remembers the user's answer.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decider, HookAdvice, PermissionVerdict};
use mcparley_platform::thread::run_blocking;

use super::bind::BoundTool;
use super::requested_call::Call;
use crate::call_error::CallError;
use crate::host::Host;
use crate::permission::{
    AlwaysAllowTarget, PendingCall, PermissionGrant, PermissionRequest, waits_for_permission,
};
use mcparley_catalog::CatalogEntry;
use mcparley_config::Paths;
use mcparley_config::change::AlwaysAllowScope;
use mcparley_config::change::{self, ChangeError, WrittenRule};
use mcparley_config::trust::{EVERY_TOOL, RuleBinding, ToolAnswer, TrustStore};
use mcparley_model::trust::ToolTrust;

impl Host {
    /// Checks whether the call is permitted. `advice` is the decision of a hook about it.
    pub(super) async fn check_permission(
        &self,
        bound: &BoundTool,
        call: &Call,
        advice: Option<&HookAdvice>,
    ) -> Result<PermissionGrant, CallError> {
        let roster = self.roster();
        let request = PermissionRequest {
            entry: &bound.entry,
            facts: &bound.facts,
            arguments: &call.arguments,
            consent: call.consent,
            approver: call.context.as_ref().map(|context| &context.approver),
        };
        let admitted = roster.gate.authorize_call(request, advice).await;
        let answer = match &admitted {
            Ok(admission) if admission.by == Decider::Person => Some(true),
            Err(CallError::Denied { decision, .. }) if decision.verdict == PermissionVerdict::Ask => {
                Some(false)
            }
            Ok(_) | Err(_) => None,
        };
        let has_person = roster.gate.has_person(request);
        if let Some(allowed) = answer.filter(|_| has_person) {
            // Boxed: this rare, large future would enlarge the future of every call.
            Box::pin(self.remember_answer(&bound.entry, allowed)).await;
        }
        if let Err(CallError::Denied { tool, decision, .. }) = &admitted
            && waits_for_permission(decision, has_person)
        {
            let pending = PendingCall::new(tool.as_str(), decision, roster.paths());
            if let Some(connection) = &bound.connection {
                connection
                    .log()
                    .add_trouble(&format!("call denied; run `{}` to allow it", pending.allow_command()));
            }
            self.announce_denied_call(pending.clone());
            let paths = Arc::clone(roster.paths());
            // File writes may be slow, and calls share a thread.
            let _kept =
                tokio::task::spawn_blocking(move || pending.append_to_file(paths.pending.as_deref())).await;
        }
        if let Ok(PermissionGrant { always: Some((target, scope)), .. }) = admitted
            && let Err(error) = Box::pin(self.write_always_allow(&bound.entry, target, scope)).await
            && let Some(connection) = &bound.connection
        {
            connection.log().add_trouble(&format!("could not save \"always allow\": {error}"));
        }
        admitted
    }

    /// Remembers the user's answer for the tool's current definition.
    async fn remember_answer(&self, entry: &Arc<CatalogEntry>, allowed: bool) {
        let (Some(server), Some(trusted)) = (entry.server(), entry.trust()) else { return };
        let said = ToolAnswer { definition: entry.tool.definition_digest().to_string(), allowed };
        let (trust, key) = (self.tool_trust(), trusted.key.clone());
        let (server, tool) = (server.clone(), entry.tool.name.clone());
        let noting = run_blocking(move || trust.record_answer(&key, &server, &tool, said));
        // If the write fails, the user is asked once more.
        let _unwritten = noting.await;
    }

    /// Writes an allow rule for a tool of a server, bound to the tool's current definition.
    ///
    /// # Errors
    /// When the entry is not a server's tool, or the rule cannot be written.
    pub async fn always_allow(
        &self,
        entry: &Arc<CatalogEntry>,
        scope: AlwaysAllowScope,
    ) -> Result<WrittenRule, ChangeError> {
        self.write_always_allow(entry, AlwaysAllowTarget::Tool, scope).await
    }

    /// Writes an allow rule for every tool of a tool's server, bound to that server: another server that gets
    /// its name later does not inherit the rule. The tool's current definition counts as reviewed.
    ///
    /// # Errors
    /// When the entry is not a server's tool, or the rule cannot be written.
    pub async fn always_allow_server(
        &self,
        entry: &Arc<CatalogEntry>,
        scope: AlwaysAllowScope,
    ) -> Result<WrittenRule, ChangeError> {
        self.write_always_allow(entry, AlwaysAllowTarget::Server, scope).await
    }

    async fn write_always_allow(
        &self,
        entry: &Arc<CatalogEntry>,
        target: AlwaysAllowTarget,
        scope: AlwaysAllowScope,
    ) -> Result<WrittenRule, ChangeError> {
        let (Some(server), Some(trusted)) = (entry.server(), entry.trust()) else {
            return Err(ChangeError::NoSuchTool { server: String::new(), tool: entry.name.to_string() });
        };
        let roster = self.roster();
        let key = &trusted.key;
        let of_server = match target {
            AlwaysAllowTarget::Tool => None,
            AlwaysAllowTarget::Server => roster.gate.server_rule_for(entry, server),
        };
        let (rule, bound_server, bound_tool) = match of_server {
            Some(rule) => (rule, key.identity(), EVERY_TOOL),
            None => (roster.gate.rule_for(entry, server), key.as_str(), entry.tool.name.as_str()),
        };
        let always = AlwaysAllowRule {
            trust: self.tool_trust(),
            rule,
            bound_server: bound_server.to_owned(),
            bound_tool: bound_tool.to_owned(),
            server: server.clone(),
            trusted: trusted.clone(),
            entry: Arc::clone(entry),
        };
        let (paths, rule) = (Arc::clone(roster.paths()), always.rule.clone());
        // Runs in a task of its own, so that it finishes once begun: a rule without its binding would hold
        // for any definition the tool gets later.
        let writing = run_blocking(move || always.write_rule(&paths, scope));
        let file = writing.await.unwrap_or_else(|| Err(ChangeError::NothingDone { file: PathBuf::new() }))?;
        self.activate_rule(&rule, &file, scope).await;
        Ok(WrittenRule { rule, file, is_old: false })
    }
}

/// An "always allow" rule that is about to be written.
struct AlwaysAllowRule {
    trust: Arc<TrustStore>,
    rule: String,
    /// The server and the tool that the rule is bound to.
    bound_server: String,
    bound_tool: String,
    server: ServerName,
    trusted: ToolTrust,
    entry: Arc<CatalogEntry>,
}

impl AlwaysAllowRule {
    /// Writes the binding, then the rule: a rule without its binding would hold for any definition the tool
    /// gets later.
    fn write_rule(&self, paths: &Paths, scope: AlwaysAllowScope) -> Result<PathBuf, ChangeError> {
        let file = change::always_allow_file(paths, scope);
        let key = &self.trusted.key;
        self.trust.accept_tool(key, &self.server, &self.entry.tool)?;
        self.trust.bind_rules(vec![RuleBinding {
            rule: self.rule.clone(),
            file: file.clone(),
            server: self.bound_server.clone(),
            tool: self.bound_tool.clone(),
        }])?;
        change::write_always_allow_rule(paths, scope, &self.rule)?;
        Ok(file)
    }
}
