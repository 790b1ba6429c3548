//! Shared steps of the listing commands, which start only servers whose lists are not cached.

use mcparley::Host;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::host::HostServer;
use mcparley::model::name::ServerName;

use super::{CommandResult, usable};
use crate::context::Context;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use crate::runtime;

/// The server to list, or all, and whether to ignore the cache.
pub(super) struct ListingRequest<'a> {
    pub(super) server: Option<&'a str>,
    pub(super) refresh: bool,
}

impl ListingRequest<'_> {
    fn servers_to_start(&self) -> StartPolicy {
        match (self.server.map(|server| vec![ServerName::new(server)]), self.refresh) {
            (None, true) => StartPolicy::All,
            (None, false) => StartPolicy::AsNeeded,
            (Some(servers), true) => StartPolicy::Only(servers),
            (Some(servers), false) => StartPolicy::Among(servers),
        }
    }

    /// The named server, which must work; `None` if no server was named.
    pub(super) fn require_usable_server(
        &self,
        loaded: &LoadedConfig,
        servers: &[HostServer],
        out: &mut TerminalOutput,
    ) -> Result<Option<ServerName>, CommandError> {
        let Some(name) = self.server else { return Ok(None) };
        let server = usable::find_server(loaded, servers, name, out)?;
        usable::require_usable(servers, &server, out)?;
        Ok(Some(server))
    }
}

/// Starts a host, waits for the servers that are not cached, and calls `show`.
pub(super) fn run_listing(
    wanted: &ListingRequest<'_>,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
    show: impl FnOnce(&Host, &[HostServer], &mut TerminalOutput) -> CommandResult,
) -> CommandResult {
    let host = context.host_for_model(loaded.clone(), out.dialogs()).start_with(wanted.servers_to_start());
    let host = if wanted.refresh { host } else { host.skip_known_failures() };
    runtime::run_with_host(host, async |host| {
        if let Some(name) = wanted.server {
            usable::find_server(loaded, &host.servers(), name, out)?;
        }
        let servers = usable::wait_until_settled(host, out).await;
        show(host, &servers, out)
    })
}
