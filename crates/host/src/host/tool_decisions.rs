//! Applies the user's decisions about tools, for this host and all its agents.

use std::path::Path;
use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::{Decision, PermissionRule, RuleKind, RuleScope};
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_platform::thread::run_blocking;

use mcparley_catalog::CatalogEntry;
use serde_json::Value;

use super::Host;
use mcparley_config::change::AlwaysAllowScope;
use mcparley_config::change::ChangeError;
use mcparley_config::trust::TrustStore;

impl Host {
    /// Accepts a tool's current definition: rules that allowed the tool apply again, and a withheld tool is
    /// offered.
    ///
    /// # Errors
    /// When the server does not offer the tool, or the decision cannot be saved.
    pub async fn accept_tool(&self, server: &ServerName, tool: &ToolName) -> Result<(), ChangeError> {
        let missing =
            || ChangeError::NoSuchTool { server: server.to_string(), tool: tool.as_str().to_owned() };
        let connection = self.connection(server).ok_or_else(missing)?;
        let surface = connection.state().surface;
        let found = surface.tools.iter().find(|known| known.name == *tool).cloned().ok_or_else(missing)?;
        let (trust, server) = (self.tool_trust(), server.clone());
        let key = trust.checker_for(&connection.config).key;
        let writing = run_blocking(move || trust.accept_tool(&key, &server, &found));
        let written = writing.await;
        written.unwrap_or_else(|| Err(ChangeError::NothingDone { file: std::path::PathBuf::new() }))?;
        let top = self.root_host();
        top.apply_plan(top.loaded_config());
        Ok(())
    }

    /// The decision of rules and mode about a call of this tool. Without arguments, rules that match
    /// arguments do not count.
    #[must_use]
    pub fn decide_permission(&self, entry: &CatalogEntry, arguments: Option<&Value>) -> Decision {
        self.roster().gate.decide_for_model(entry, arguments)
    }

    /// The store of accepted tool definitions.
    pub(crate) fn tool_trust(&self) -> Arc<TrustStore> {
        Arc::clone(&self.roster().starter().context.caches.trust)
    }

    /// Puts a rule into force that was just written.
    pub(crate) async fn activate_rule(&self, rule: &str, file: &Path, scope: AlwaysAllowScope) {
        let top = self.root_host();
        if top.config_sources().is_some() {
            top.reload().await;
            return;
        }
        let origin = ConfigOrigin::for_source(Source::from_path(file));
        let scope = match scope {
            AlwaysAllowScope::Local | AlwaysAllowScope::Private => RuleScope::Local,
            AlwaysAllowScope::User => RuleScope::User,
        };
        if let Ok(rule) = PermissionRule::parse(RuleKind::Allow, rule, origin, scope) {
            let mut loaded = (*top.loaded_config()).clone();
            loaded.settings.rules.push(Arc::new(rule));
            top.apply_plan(Arc::new(loaded));
        }
    }

    /// The root host: the one at the end of the chain of shared hosts.
    fn root_host(&self) -> Self {
        let mut host = self.clone();
        while let Some(shared) = &host.inner.shared {
            host = shared.host.clone();
        }
        host
    }
}
