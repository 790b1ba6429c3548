//! The commands, one file each: arguments → report → output.

mod add;
mod agents;
mod ask;
mod auth;
mod budget;
mod call;
mod connect;
pub(crate) mod console;
mod daemon;
mod doctor;
mod get;
mod hooks;
mod import;
mod list;
mod listing;
mod login;
mod logout;
mod logs;
mod pending;
mod permissions;
mod plan;
mod prompt;
mod prompts;
mod read;
mod reconnect;
mod remove;
mod resources;
mod screen;
mod search;
mod serve;
mod server_choice;
mod skills;
mod state;
mod tasks;
mod tools;
mod trust;
mod ui;
mod usable;
mod wait_ready;
mod waiting;

use mcparley::config::LoadedConfig;
use mcparley::search::SearchVectorsError;

use crate::args::{AgentsArgs, Cli, HelpPage, McpCommand, RootCommand, ScreenArgs};
use crate::complete;
use crate::connectors;
use crate::context::Context;
use crate::error::{CommandError, UnavailableError, UsageError};
use crate::exit::{self, NamedExitCode};
use crate::out::TerminalOutput;

type CommandResult = Result<NamedExitCode, CommandError>;

/// Runs the command of a parsed command line.
pub(crate) fn run(cli: &mut Cli, out: &mut TerminalOutput) -> CommandResult {
    let command = match &mut cli.command {
        RootCommand::Mcp { command } | RootCommand::Direct(command) => command,
        RootCommand::Completions { shell } => {
            let mut script = Vec::new();
            complete::write_registration(*shell, &mut script).map_err(UnavailableError::CompletionScript)?;
            out.print_line(String::from_utf8_lossy(&script));
            return Ok(exit::OK);
        }
        RootCommand::Help(args) => {
            out.print_text(&HelpPage::from_words(&args.words).map_err(UsageError::HelpPage)?.0);
            return Ok(exit::OK);
        }
    };
    let mut context = Context::new(&cli.global)?;
    let needs = command.needs();
    context.run_options.fallback_mode = needs.fallback_mode;
    context.run_options.offered_tools = needs.offered_tools.to_vec();
    if matches!(
        command,
        McpCommand::Serve(_) | McpCommand::Ui(_) | McpCommand::Screen(_) | McpCommand::Ask(_)
    ) {
        context.begin_session();
    }
    let mut loaded = context.load()?;
    command.split_tool_path(&loaded);
    let needs = command.needs();
    if connectors::are_needed(&needs.connectors, &loaded) {
        loaded = connectors::add_connectors(&mut context, loaded)?;
    }
    if let Some(view) = &needs.view {
        loaded = agents::load_agent_view(view, &context, loaded, out)?;
    }
    dispatch_command(command, &context, loaded, out)
}

fn dispatch_command(
    command: &McpCommand,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    match command {
        McpCommand::Add(args) => add::run(args, context, &loaded, out),
        McpCommand::AddJson(args) => add::run_json(args, context, &loaded, out),
        McpCommand::Remove(args) => remove::run(args, context, &loaded, out),
        McpCommand::Get(args) => get::run(args, context, &loaded, out),
        McpCommand::List(args) => list::run(args, context, &loaded, out),
        McpCommand::Tools(args) => tools::run(args, context, &loaded, out),
        McpCommand::Search(args) => search::run(args, context, &loaded, out),
        McpCommand::Budget(args) => budget::run(args, context, &loaded, out),
        McpCommand::Call(args) => call::run(args, context, loaded, out),
        McpCommand::Screen(ScreenArgs {}) => screen::run(context, loaded, out),
        McpCommand::Ask(args) => ask::run(args, context, loaded, out),
        McpCommand::Serve(args) => serve::run(args, context, &loaded, out),
        McpCommand::Ui(args) => ui::run(args, context, loaded, out),
        McpCommand::Resources(args) => resources::run(args, context, &loaded, out),
        McpCommand::Read(args) => read::run(args, context, loaded, out),
        McpCommand::Skills(args) => skills::run(args, context, &loaded, out),
        McpCommand::Prompts(args) => prompts::run(args, context, &loaded, out),
        McpCommand::Prompt(args) => prompt::run(args, context, loaded, out),
        McpCommand::WaitReady(args) => wait_ready::run(args, context, loaded, out),
        McpCommand::Reconnect(args) => reconnect::run(args, context, &loaded, out),
        McpCommand::State(_) => state::run(context, loaded, out),
        McpCommand::Login(args) => login::run(args, context, &loaded, out),
        McpCommand::Logout(args) => logout::run(args, context, &loaded, out),
        McpCommand::Auth { command } => auth::run(command, context, &loaded, out),
        McpCommand::Logs(args) => logs::run(args, context, &loaded, out),
        McpCommand::Doctor(args) => doctor::run(args, context, &loaded, out),
        McpCommand::Plan(args) => plan::run(args, context, &loaded, out),
        McpCommand::Agents(AgentsArgs {}) => agents::run(context, &loaded, out),
        McpCommand::Enable(args) => server_choice::run_enable(args, context, &loaded, out),
        McpCommand::Disable(args) => server_choice::run_disable(args, context, &loaded, out),
        McpCommand::Trust(args) => trust::run(args, context, out),
        McpCommand::Approve(args) => server_choice::run_approve(args, context, &loaded, out),
        McpCommand::Reject(args) => server_choice::run_reject(args, context, &loaded, out),
        McpCommand::ResetProjectChoices => server_choice::run_reset(context, out),
        McpCommand::Daemon { command } => daemon::run(command, context, out),
        McpCommand::Pending(args) => pending::run(args, context, &loaded, out),
        McpCommand::Tasks(args) => tasks::run(args, &context.daemon_paths, out),
        McpCommand::Import(args) => import::run(args, context, &loaded, out),
        McpCommand::Connect(args) => connect::run(args, context, &loaded, out),
        McpCommand::Hooks { command } => hooks::run(command, context, &loaded, out),
        McpCommand::Permissions { command } => permissions::run(command, context, &loaded, out),
    }
}

/// Prints the files that could not be read, and warnings, so that no configuration is missing silently.
fn print_problems(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    for problem in &loaded.problems {
        out.report_problem(problem);
    }
    for warning in &loaded.settings.warnings {
        out.warn(&format!("{}: {}", warning.origin, warning.text));
    }
    if !loaded.left_out.is_empty() && out.verbose > 0 {
        let words: Vec<&str> = loaded.left_out.iter().map(|source| source.as_str()).collect();
        out.print_message(format!("not read because of `--setting-sources`: {}", words.join(", ")));
    }
}

/// Warns if there are word vectors for tool search that cannot be used.
fn warn_unusable_vectors(unusable: Option<SearchVectorsError>, out: &mut TerminalOutput) {
    if let Some(unusable) = unusable {
        out.warn(&unusable.to_string());
        if let Some(hint) = unusable.hint() {
            out.hint(&hint);
        }
    }
}

/// The exit code of a command that printed its report: blocked if a managed file is broken, otherwise
/// success.
fn base_exit_code(loaded: &LoadedConfig) -> NamedExitCode {
    if loaded.managed_problem.is_some() { exit::BLOCKED } else { exit::OK }
}
