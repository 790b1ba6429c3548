//! Puts into force what a person has decided about a tool, for this host and all its agents.

use std::path::Path;
use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::{Rule, RuleKind, RuleScope};
use mcparley_model::scope::{Origin, Source};

use super::Host;
use crate::call::AlwaysScope;
use crate::change::ChangeError;
use crate::trust::Trust;

impl Host {
    /// Accepts a tool as it is now: rules that allowed it hold again, and one that was withheld is offered (H09).
    ///
    /// # Errors
    /// When the server does not offer the tool, or what is accepted cannot be written down.
    pub async fn accept_tool(&self, server: &ServerName, tool: &ToolName) -> Result<(), ChangeError> {
        let missing =
            || ChangeError::NoSuchTool { server: server.to_string(), tool: tool.as_str().to_owned() };
        let connection = self.connection(server).ok_or_else(missing)?;
        let surface = connection.state().surface;
        let found = surface.tools.iter().find(|known| known.name == *tool).cloned().ok_or_else(missing)?;
        let (trust, server) = (self.trust(), server.clone());
        let key = trust.judge(&connection.config).key;
        let writing = crate::task::aside(move || trust.accept(&key, &server, &found));
        let written = writing.await;
        written.unwrap_or_else(|| Err(ChangeError::NothingDone { file: std::path::PathBuf::new() }))?;
        let top = self.top();
        top.apply(top.loaded());
        Ok(())
    }

    /// What is accepted about the tools of its servers.
    pub(crate) fn trust(&self) -> Arc<Trust> {
        Arc::clone(self.roster().starter().surroundings.trust())
    }

    /// Puts a rule into force that was just written.
    pub(crate) async fn grant(&self, rule: &str, file: &Path, scope: AlwaysScope) {
        let top = self.top();
        if top.sources().is_some() {
            top.reload().await;
            return;
        }
        let origin = Origin::whole(Source::file(file));
        let scope = match scope {
            AlwaysScope::Local | AlwaysScope::Private => RuleScope::Local,
            AlwaysScope::User => RuleScope::User,
        };
        if let Ok(rule) = Rule::parse(RuleKind::Allow, rule, origin, scope) {
            let mut loaded = (*top.loaded()).clone();
            loaded.settings.rules.push(Arc::new(rule));
            top.apply(Arc::new(loaded));
        }
    }

    /// The host that everybody shares servers with, in the end.
    fn top(&self) -> Self {
        let mut host = self.clone();
        while let Some(shared) = &host.inner.shared {
            host = shared.host.clone();
        }
        host
    }
}
