//! `mcparley` without a command, on a terminal: the console.

use std::ffi::OsString;

use anstream::{AutoStream, ColorChoice};
use mcparley_console::dialog::{SharedTerminal, TerminalDialogs};
use mcparley_console::repl::{self, ConsoleOptions};
use mcparley_console::screen::ScreenOptions;

use super::CommandResult;
use crate::args::GlobalOptions;
use crate::connectors;
use crate::context::{self, Context};
use crate::error::UnavailableError;
use crate::exit;
use crate::runtime;

/// Runs the console. `words` are the global options as typed, for the commands that the console runs.
///
/// The caller must not hold the lock of standard output: the line editor writes from its own thread.
pub(crate) fn run(global: &GlobalOptions, words: &[OsString]) -> CommandResult {
    let context = Context::new(global)?;
    let loaded = context.load()?;
    let mut warnings: Vec<String> = loaded
        .settings
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.origin, warning.text))
        .collect();
    let organisation = connectors::find_organization(&context, &loaded).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        None
    });
    let colors = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let terminal = SharedTerminal::default();
    let dialogs = TerminalDialogs::new(terminal.clone(), context::user_browser(), colors);
    let host = context.host_for_user(loaded, Some(dialogs));
    let host = host.watch_files(&context.run_options).organization(organisation).count_calls();
    let options = ConsoleOptions {
        paths: context.paths,
        program_options: words.to_vec(),
        colors,
        terminal,
        screen: ScreenOptions::new(colors).with_browser(context::user_browser()),
        warnings,
        model: None,
    };
    runtime::run_interactive(host, async |host| {
        repl::run(host, options).await.map_err(UnavailableError::Terminal)?;
        Ok(exit::OK)
    })
}
