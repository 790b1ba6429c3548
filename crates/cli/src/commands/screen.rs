//! `mcp` alone on a terminal: the screen of the servers.

use mcparley::HostBuilder;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley_console::screen::{self, ScreenOptions};

use super::CommandResult;
use crate::connectors;
use crate::context::{self, Context};
use crate::error::{UnavailableError, UsageError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(context: &Context, loaded: LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    if !context::is_on_terminal() {
        return Err(UsageError::NoTerminal.into());
    }
    let organization = connectors::find_organization(context, &loaded).unwrap_or_default();
    let options = ScreenOptions::new(out.has_colors()).with_browser(context::user_browser());
    let host = HostBuilder::new(&context.paths, loaded)
        .watch_files(&context.run_options)
        .organization(organization)
        .daemon(context.daemon())
        .without_session_hooks()
        .without_built_in_server()
        .start_with(StartPolicy::All)
        .entry_point("cli");
    runtime::run_with_host(host, async |host| {
        screen::run(host, options).await.map_err(UnavailableError::Screen)?;
        Ok(exit::OK)
    })
}
