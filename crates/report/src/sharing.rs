//! Notes about sharing: why clients of a local server may get processes of their own.

use std::path::Path;

use mcparley::config::LoadedConfig;
use mcparley::config::plan::PlannedServer;
use mcparley::model::name::ServerName;
use mcparley::pool::share::explain_sharing;
use mcparley::pool::share::traits::TraitStore;

/// Explains for each server what keeps its clients apart, where clients share servers at all.
#[derive(Debug)]
pub struct SharingNotes(Option<TraitStore>);

impl SharingNotes {
    /// Notes for a user of the daemon, with the traits of servers in this folder.
    #[must_use]
    pub fn for_daemon(traits: Option<&Path>) -> Self {
        Self(Some(TraitStore::new(traits)))
    }

    /// No notes: every client starts its own servers.
    #[must_use]
    pub fn without_daemon() -> Self {
        Self(None)
    }

    /// The notes about a server, each a sentence without its subject; empty if all clients share one process.
    #[must_use]
    pub fn explain_server(&self, server: &PlannedServer) -> Vec<String> {
        let (Some(traits), Some(config)) = (&self.0, &server.config) else { return Vec::new() };
        explain_sharing(config, traits).iter().map(ToString::to_string).collect()
    }

    /// The notes about the server that runs under this name.
    #[must_use]
    pub fn explain_running(&self, loaded: &LoadedConfig, name: &ServerName) -> Vec<String> {
        let running = loaded.plan.ready_servers().find(|server| server.name == *name);
        running.map(|server| self.explain_server(server)).unwrap_or_default()
    }
}
