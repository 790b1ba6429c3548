//! Decides which tools are never shown, because every call of them is denied whatever its arguments are (N14).
//!
//! Only what a model sees follows from it. A call is judged by itself, when it is made.

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::permission::{
    KnownServers, Mode, RuleSet, Subject, Verdict, decide_built_in, denies_every_call,
};
use mcparley_model::settings::Settings;

use super::{Entry, Provider};

/// The rules and the mode of a host.
#[derive(Clone, Debug)]
pub(crate) struct Denials {
    rules: Arc<RuleSet>,
    mode: Mode,
    known: Arc<KnownServers>,
}

impl Default for Denials {
    fn default() -> Self {
        Self { rules: Arc::default(), mode: Mode::BypassPermissions, known: Arc::default() }
    }
}

impl Denials {
    /// Follows from settings, among servers of these names. Mode `dontAsk` counts; mode `plan` does not, since a person
    /// leaves it in the middle of a conversation.
    pub(crate) fn new(settings: &Settings, servers: impl IntoIterator<Item = ServerName>) -> Self {
        Self {
            rules: Arc::new(RuleSet::new(settings.rules.iter().cloned())),
            mode: match settings.mode.as_ref().map(|mode| mode.value) {
                Some(Mode::DontAsk) => Mode::DontAsk,
                _ => Mode::BypassPermissions,
            },
            known: Arc::new(KnownServers::new(servers)),
        }
    }

    /// Whether every call of the tool is denied.
    pub(super) fn cover(&self, entry: &Entry) -> bool {
        match &entry.provider {
            Provider::Server(server) => self.deny_every_call(entry, server, self.mode),
            Provider::SignIn { server, .. } => self.deny_every_call(entry, server, Mode::BypassPermissions),
            Provider::Host(tool) => {
                let mode = if tool.needs_permission() { self.mode } else { Mode::BypassPermissions };
                decide_built_in(tool.as_str(), true, &self.rules, mode).verdict == Verdict::Deny
            }
        }
    }

    fn deny_every_call(&self, entry: &Entry, server: &ServerName, mode: Mode) -> bool {
        let subject = Subject {
            server,
            tool: &entry.tool.name,
            public: Some(&entry.name),
            arguments: None,
            read_only: entry.tool.hints.read_only,
        };
        denies_every_call(&subject, &self.rules, mode, &self.known)
    }
}
