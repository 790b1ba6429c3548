//! One file per command: arguments → report → output.

mod add;
mod agents;
mod auth;
mod budget;
mod call;
mod choose;
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
mod search;
mod serve;
mod skills;
mod state;
mod tools;
mod trust;
mod usable;
mod wait_ready;
mod waiting;

use mcparley::Loaded;

use crate::args::{AgentsArgs, Cli, Command, FileArg, McpCommand, OwnScopeArg, ScopeArg, SeenBy};
use crate::complete;
use crate::connectors;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::{self, Code};
use crate::out::Out;

type Done = Result<Code, CommandError>;

/// Runs the command.
pub(crate) fn run(cli: &Cli, out: &mut Out) -> Done {
    let command = match &cli.command {
        Command::Mcp { command } | Command::Direct(command) => command,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            complete::register(*shell, &mut script).map_err(|error| CommandError::Unavailable {
                message: format!("the completion script cannot be made: {error}"),
                hint: None,
            })?;
            out.line(String::from_utf8_lossy(&script));
            return Ok(exit::OK);
        }
    };
    let mut context = Context::new(&cli.global)?;
    let mut loaded = context.load()?;
    if connectors::are_wanted(command, &loaded) {
        loaded = connectors::added(&mut context, loaded)?;
    }
    if let Some((by, server)) = view(command) {
        loaded = agents::seen(by, server.as_slice(), &context, loaded, out)?;
    }
    dispatch(command, &context, loaded, out)
}

fn dispatch(command: &McpCommand, context: &Context, loaded: Loaded, out: &mut Out) -> Done {
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
        McpCommand::Serve(args) => serve::run(args, context, &loaded, out),
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
        McpCommand::Plan(args) => plan::run(args, &loaded, out),
        McpCommand::Agents(AgentsArgs {}) => agents::run(context, &loaded, out),
        McpCommand::Enable(args) => choose::enable(args, context, &loaded, out),
        McpCommand::Disable(args) => choose::disable(args, context, &loaded, out),
        McpCommand::Trust(args) => trust::run(args, context, out),
        McpCommand::Approve(args) => choose::approve(args, context, &loaded, out),
        McpCommand::Reject(args) => choose::reject(args, context, &loaded, out),
        McpCommand::ResetProjectChoices => choose::reset(context, out),
        McpCommand::Pending => pending::run(context, &loaded, out),
        McpCommand::Import(args) => import::run(args, context, &loaded, out),
        McpCommand::Hooks { command } => hooks::run(command, context, &loaded, out),
        McpCommand::Permissions { command } => permissions::run(command, context, &loaded, out),
    }
}

/// Whose view of the servers a command has, where it can be an agent's, and the server it names.
fn view(command: &McpCommand) -> Option<(&SeenBy, Option<&str>)> {
    match command {
        McpCommand::Get(args) => Some((&args.seen_by, Some(&args.name))),
        McpCommand::Tools(args) => Some((&args.seen_by, None)),
        McpCommand::Search(args) => Some((&args.seen_by, None)),
        McpCommand::Budget(args) => Some((&args.seen_by, None)),
        McpCommand::Call(args) => Some((&args.seen_by, None)),
        McpCommand::Resources(args) => Some((&args.seen_by, None)),
        McpCommand::Read(args) => Some((&args.seen_by, None)),
        McpCommand::Skills(args) => Some((&args.seen_by, None)),
        McpCommand::Prompts(args) => Some((&args.seen_by, None)),
        McpCommand::Prompt(args) => Some((&args.seen_by, None)),
        McpCommand::State(args) => Some((&args.seen_by, None)),
        McpCommand::Plan(args) => Some((&args.seen_by, None)),
        McpCommand::Add(_)
        | McpCommand::AddJson(_)
        | McpCommand::Remove(_)
        | McpCommand::List(_)
        | McpCommand::Serve(_)
        | McpCommand::WaitReady(_)
        | McpCommand::Reconnect(_)
        | McpCommand::Login(_)
        | McpCommand::Logout(_)
        | McpCommand::Auth { .. }
        | McpCommand::Logs(_)
        | McpCommand::Doctor(_)
        | McpCommand::Agents(_)
        | McpCommand::Enable(_)
        | McpCommand::Disable(_)
        | McpCommand::Trust(_)
        | McpCommand::Approve(_)
        | McpCommand::Reject(_)
        | McpCommand::ResetProjectChoices
        | McpCommand::Pending
        | McpCommand::Import(_)
        | McpCommand::Hooks { .. }
        | McpCommand::Permissions { .. } => None,
    }
}

/// Tells what could not be read; nothing that is missing is missing silently.
fn tell_problems(loaded: &Loaded, out: &mut Out) {
    for problem in &loaded.problems {
        out.problem(problem);
    }
    for warning in &loaded.settings.warnings {
        out.warn(&format!("{}: {}", warning.origin, warning.text));
    }
    if !loaded.left_out.is_empty() && out.verbose > 0 {
        let words: Vec<&str> = loaded.left_out.iter().map(|source| source.as_str()).collect();
        out.say(format!("not read, because of --setting-sources: {}", words.join(", ")));
    }
}

/// The code for a run whose managed files are broken, whatever else it printed.
fn code_of(loaded: &Loaded) -> Code {
    if loaded.managed_problem.is_some() { exit::BLOCKED } else { exit::OK }
}

impl From<ScopeArg> for mcparley::change::WriteScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Local => Self::Local,
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
        }
    }
}

impl From<OwnScopeArg> for mcparley::change::WriteScope {
    fn from(scope: OwnScopeArg) -> Self {
        match scope {
            OwnScopeArg::Local => Self::Local,
            OwnScopeArg::User => Self::User,
        }
    }
}

impl From<FileArg> for mcparley::change::FileChoice {
    fn from(file: FileArg) -> Self {
        match file {
            FileArg::ClaudeJson => Self::ClaudeJson,
            FileArg::Settings => Self::Settings,
        }
    }
}
