//! Asks the gate about a call, and keeps what a person answered (P6).

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::permission::{Advice, Decider, Verdict};

use super::admit::Admission;
use super::bind::Bound;
use super::error::CallError;
use super::pending::{PendingCall, waits_for_permission};
use super::question::AlwaysScope;
use super::wish::Call;
use crate::catalog::Entry;
use crate::change::{self, ChangeError, WrittenRule};
use crate::host::Host;
use crate::paths::Paths;
use crate::trust::{Binding, Said, Trust, Trusted};

impl Host {
    /// Whether the call may happen. `advice` is what a hook said about it.
    pub(super) async fn permitted(
        &self,
        bound: &Bound,
        call: &Call,
        advice: Option<&Advice>,
    ) -> Result<Admission, CallError> {
        let roster = self.roster();
        let admitted = roster.gate.admit(&bound.entry, call, advice).await;
        let answer = match &admitted {
            Ok(admission) if admission.by == Decider::Person => Some(true),
            Err(CallError::Denied { decision, .. }) if decision.verdict == Verdict::Ask => Some(false),
            Ok(_) | Err(_) => None,
        };
        if let Some(allowed) = answer.filter(|_| roster.gate.has_person(call)) {
            // Rare and large: it would make every call's future as large.
            Box::pin(self.note(&bound.entry, allowed)).await;
        }
        if let Err(CallError::Denied { tool, decision, .. }) = &admitted
            && waits_for_permission(decision)
        {
            let pending = PendingCall::new(tool.as_str(), decision, roster.paths());
            if let Some(connection) = &bound.connection {
                connection.log().trouble(&format!("a call was denied; `{}` allows it", pending.command()));
            }
            self.tell_denied(pending.clone());
            let paths = Arc::clone(roster.paths());
            // Files are slow at times, and calls share a thread.
            let _kept = tokio::task::spawn_blocking(move || pending.keep(paths.pending.as_deref())).await;
        }
        if let Ok(Admission { always: Some(scope), .. }) = admitted
            && let Err(error) = Box::pin(self.always_allow(&bound.entry, scope)).await
            && let Some(connection) = &bound.connection
        {
            connection.log().trouble(&format!("\"always allow\" could not be kept: {error}"));
        }
        admitted
    }

    /// Remembers what a person said about the tool as it is now.
    async fn note(&self, entry: &Arc<Entry>, allowed: bool) {
        let (Some(server), Some(trusted)) = (entry.server(), entry.trusted()) else { return };
        let said = Said { definition: entry.definition().to_string(), allowed };
        let (trust, key) = (self.trust(), trusted.key.clone());
        let (server, tool) = (server.clone(), entry.tool.name.clone());
        let noting = crate::task::aside(move || trust.note(&key, &server, &tool, said));
        // Without it a person is asked once more.
        let _unwritten = noting.await;
    }

    /// Writes down that a tool of a server is always allowed, for as long as it is what it is now (P6).
    ///
    /// # Errors
    /// When it is no server's tool, or the rule cannot be written.
    pub async fn always_allow(
        &self,
        entry: &Arc<Entry>,
        scope: AlwaysScope,
    ) -> Result<WrittenRule, ChangeError> {
        let (Some(server), Some(trusted)) = (entry.server(), entry.trusted()) else {
            return Err(ChangeError::NoSuchTool { server: String::new(), tool: entry.name.to_string() });
        };
        let roster = self.roster();
        let always = Always {
            trust: self.trust(),
            rule: roster.gate.rule_for(entry, server),
            server: server.clone(),
            trusted: trusted.clone(),
            entry: Arc::clone(entry),
        };
        let (paths, rule) = (Arc::clone(roster.paths()), always.rule.clone());
        // Begun, it is finished: half of it would be a rule that holds for whatever the tool becomes.
        let writing = crate::task::aside(move || always.write(&paths, scope));
        let file = writing.await.unwrap_or_else(|| Err(ChangeError::NothingDone { file: PathBuf::new() }))?;
        self.grant(&rule, &file, scope).await;
        Ok(WrittenRule { rule, file, is_old: false })
    }
}

/// A rule of "always allow" that is about to be written.
struct Always {
    trust: Arc<Trust>,
    rule: String,
    server: ServerName,
    trusted: Trusted,
    entry: Arc<Entry>,
}

impl Always {
    /// The rule comes last: without the rest it would hold for whatever the tool becomes.
    fn write(&self, paths: &Paths, scope: AlwaysScope) -> Result<PathBuf, ChangeError> {
        let file = change::always_file(paths, scope);
        let key = &self.trusted.key;
        self.trust.accept(key, &self.server, &self.entry.tool)?;
        self.trust.bind(vec![Binding {
            rule: self.rule.clone(),
            file: file.clone(),
            server: key.to_string(),
            tool: self.entry.tool.name.as_str().to_owned(),
        }])?;
        change::write_always(paths, scope, &self.rule)?;
        Ok(file)
    }
}
