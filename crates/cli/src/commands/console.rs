//! `mcparley` without a command, on a terminal: the console.

use std::ffi::OsString;
use std::sync::Arc;

use anstream::{AutoStream, ColorChoice};
use mcparley::model::explain::Explain as _;
use mcparley_console::dialog::{SharedTerminal, TerminalDialogs};
use mcparley_console::repl::{self, ConsoleOptions};
use mcparley_console::screen::ScreenOptions;
use mcparley_conversation::ModelSampler;

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
    let mut context = Context::new(global)?;
    context.begin_session();
    let loaded = context.load()?;
    let mut warnings: Vec<String> = loaded
        .settings
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.origin, warning.text))
        .collect();
    let organization = connectors::find_organization(&context, &loaded).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        None
    });
    let colors = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let terminal = SharedTerminal::default();
    let dialogs = TerminalDialogs::new(terminal.clone(), context::user_browser(), colors);
    let model = context.model_client(&loaded, None);
    let client = model.as_ref().ok().and_then(Option::as_ref);
    let sampler = client.map(|client| ModelSampler::new(client.clone(), Arc::new(dialogs.clone())));
    let host = match (&model, &sampler) {
        // Without any configuration of a model, none can be chosen later.
        (Ok(None), _) => context.host_for_user(loaded, Some(dialogs)),
        (_, None) => context.host_for_model(loaded, Some(dialogs)),
        (_, Some(sampler)) => context.host_for_model(loaded, Some(dialogs)).sampler(sampler.clone()),
    };
    let model = model.unwrap_or_else(|error| {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        warnings.push(format!("no model is used: {error}{hint}"));
        None
    });
    let host = host.watch_files(&context.run_options).organization(organization).count_calls();
    let options = ConsoleOptions {
        paths: context.paths.clone(),
        program_options: words.to_vec(),
        colors,
        terminal,
        screen: ScreenOptions::new(colors).with_browser(context::user_browser()),
        warnings,
        model,
        sampler,
        find_model: Box::new(move |loaded, name| context.model_client(loaded, name)),
    };
    runtime::run_interactive(host, async |host| {
        repl::run(host, options).await.map_err(UnavailableError::Terminal)?;
        Ok(exit::OK)
    })
}
