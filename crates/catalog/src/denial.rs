//! Deny rules of the catalog: tools for which every call is denied, for any arguments, are never shown.
//!
//! This affects only a model's list. Each call is checked by itself when it is made.

use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::{
    KnownServers, PermissionMode, PermissionSubject, PermissionVerdict, RuleSet, decide_built_in,
    denies_every_call,
};
use mcparley_model::settings::MergedSettings;

use crate::entry::{CatalogEntry, ToolProvider};

/// The deny rules and the permission mode of a host.
#[derive(Clone, Debug)]
pub struct CatalogDenials {
    rules: Arc<RuleSet>,
    mode: PermissionMode,
    known: Arc<KnownServers>,
}

impl Default for CatalogDenials {
    fn default() -> Self {
        Self { rules: Arc::default(), mode: PermissionMode::BypassPermissions, known: Arc::default() }
    }
}

impl CatalogDenials {
    /// The deny rules from settings, for servers of these names.
    ///
    /// Mode `dontAsk` counts. Mode `plan` does not, since the user leaves it in the middle of a conversation.
    #[must_use]
    pub fn new(settings: &MergedSettings, servers: impl IntoIterator<Item = ServerName>) -> Self {
        Self {
            rules: Arc::new(RuleSet::new(settings.rules.iter().cloned())),
            mode: match settings.mode.as_ref().map(|mode| mode.value) {
                Some(PermissionMode::DontAsk) => PermissionMode::DontAsk,
                _ => PermissionMode::BypassPermissions,
            },
            known: Arc::new(KnownServers::new(servers)),
        }
    }

    /// Whether every call of the tool is denied.
    pub(crate) fn denies_entry(&self, entry: &CatalogEntry) -> bool {
        match &entry.provider {
            ToolProvider::Server(server) => self.deny_every_call(entry, server, self.mode),
            ToolProvider::SignIn { server, .. } => {
                self.deny_every_call(entry, server, PermissionMode::BypassPermissions)
            }
            ToolProvider::Host(tool) => {
                let mode =
                    if tool.needs_permission() { self.mode } else { PermissionMode::BypassPermissions };
                decide_built_in(tool.as_str(), true, &self.rules, mode).verdict == PermissionVerdict::Deny
            }
        }
    }

    /// Whether a rule denies every tool of a server, of any name.
    pub(crate) fn denies_server(&self, server: &ServerName) -> bool {
        // No server can have a tool of this name, so only rules about the whole server match it.
        let tool = ToolName::new("\u{0}");
        let subject =
            PermissionSubject { server, tool: &tool, public: None, arguments: None, read_only: false };
        denies_every_call(&subject, &self.rules, PermissionMode::BypassPermissions, &self.known)
    }

    fn deny_every_call(&self, entry: &CatalogEntry, server: &ServerName, mode: PermissionMode) -> bool {
        let subject = PermissionSubject {
            server,
            tool: &entry.tool.name,
            public: Some(&entry.name),
            arguments: None,
            read_only: entry.tool.hints.read_only,
        };
        denies_every_call(&subject, &self.rules, mode, &self.known)
    }
}
