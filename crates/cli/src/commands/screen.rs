//! `mcp` alone on a terminal: the screen of the servers.

use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley_console::dialog::{SharedTerminal, TerminalDialogs};
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
    // The screen holds the terminal, so no dialog opens. With dialogs the servers are offered what the console
    // and `call` offer them, and show the same tools.
    let terminal = SharedTerminal::default();
    let dialogs = TerminalDialogs::new(terminal.clone(), context::user_browser(), out.has_colors());
    let host = context
        .host_for_user(loaded, Some(dialogs))
        .watch_files(&context.run_options)
        .organization(organization)
        .without_built_in_server()
        .count_calls()
        .start_with(StartPolicy::All);
    let mut turn = None;
    runtime::run_with_host(host, async |host| {
        turn = Some(terminal.hold().await);
        screen::run(host, options).await.map_err(UnavailableError::Screen)?;
        Ok(exit::OK)
    })
}
