//! Shell completion of server names, agents, hooks, open questions, and of tools from the cache.

mod tools;

use std::io::Write;
use std::process::ExitCode;

use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::config::TransportKind;
use mcparley::model::text::is_shell_word;

use crate::args::{self, CompletionSource, GlobalOptions, ShellArg};
use crate::context::{self, Context};

/// The environment variable that a shell sets to request completions.
const ASKED_BY: &str = "COMPLETE";

/// Prints completions if a shell requested them; `None` for any other run.
pub(crate) fn answer_shell() -> Option<ExitCode> {
    let cwd = context::working_directory();
    match CompleteEnv::with_factory(|| attach_completers(args::root_command()))
        .var(ASKED_BY)
        .try_complete(std::env::args_os(), cwd.as_deref())
    {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        Err(error) => Some(crate::out::print_usage(&error)),
    }
}

/// Writes the script that registers the completions in a shell.
pub(crate) fn write_registration(shell: ShellArg, to: &mut dyn Write) -> std::io::Result<()> {
    let name = match shell {
        ShellArg::Bash => "bash",
        ShellArg::Elvish => "elvish",
        ShellArg::Fish => "fish",
        ShellArg::Powershell => "powershell",
        ShellArg::Zsh => "zsh",
    };
    match Shells::builtins().completer(name) {
        Some(completer) => completer.write_registration(ASKED_BY, "mcparley", "mcparley", "mcparley", to),
        None => Err(std::io::ErrorKind::Unsupported.into()),
    }
}

/// Attaches completers to all marked arguments of the command and its subcommands.
fn attach_completers(command: clap::Command) -> clap::Command {
    command.mut_args(attach_completer).mut_subcommands(attach_completers)
}

fn attach_completer(argument: clap::Arg) -> clap::Arg {
    let Some(source) = argument.get::<CompletionSource>().copied() else { return argument };
    match source {
        CompletionSource::Servers => argument.add(ArgValueCandidates::new(complete_servers)),
        CompletionSource::RemoteServers => argument.add(ArgValueCandidates::new(complete_remote_servers)),
        CompletionSource::PendingServers => argument.add(ArgValueCandidates::new(complete_pending_servers)),
        CompletionSource::PendingHooks => argument.add(ArgValueCandidates::new(complete_pending_hooks)),
        CompletionSource::PendingQuestions => {
            argument.add(ArgValueCandidates::new(complete_pending_questions))
        }
        CompletionSource::Agents => argument.add(ArgValueCandidates::new(complete_agents)),
        CompletionSource::CallTargets => argument.add(ArgValueCompleter::new(tools::complete_call_target)),
        CompletionSource::Tools => argument.add(ArgValueCompleter::new(tools::complete_tool)),
        CompletionSource::CallWords => argument.add(ArgValueCompleter::new(tools::complete_call_words)),
    }
}

/// Completes the names of all configured servers.
fn complete_servers() -> Vec<CompletionCandidate> {
    server_candidates(|_| true)
}

/// Completes the names of servers that a user can sign in to.
fn complete_remote_servers() -> Vec<CompletionCandidate> {
    server_candidates(|server| {
        matches!(server.kind, Some(TransportKind::Http | TransportKind::Sse | TransportKind::Ws))
    })
}

/// Completes the definitions of hooks that need approval.
fn complete_pending_hooks() -> Vec<CompletionCandidate> {
    let loaded = Context::new(&GlobalOptions::default()).and_then(|context| context.load());
    let definitions =
        loaded.map(|loaded| mcparley::config::change::pending_hooks(&loaded)).unwrap_or_default();
    definitions.into_iter().map(CompletionCandidate::new).collect()
}

/// Completes the ids of the open questions of running gateways.
fn complete_pending_questions() -> Vec<CompletionCandidate> {
    let Ok(context) = Context::new(&GlobalOptions::default()) else { return Vec::new() };
    let survey = mcparley_gateway::control::open_questions(&context.control_folder(), false);
    let questions = survey.map(|survey| survey.questions).unwrap_or_default().into_iter();
    let ids = questions.map(|question| question.id).filter(|id| is_shell_word(id));
    ids.map(CompletionCandidate::new).collect()
}

/// Completes the names of servers that need approval.
fn complete_pending_servers() -> Vec<CompletionCandidate> {
    server_candidates(|server| matches!(server.status, PlanStatus::NeedsApproval(_)))
}

/// Completes the names of all agents.
fn complete_agents() -> Vec<CompletionCandidate> {
    let Ok(context) = Context::new(&GlobalOptions::default()) else { return Vec::new() };
    let found = mcparley::config::load_agents(&context.paths, &context.run_options);
    let names = found.specs.into_iter().map(|spec| spec.name).filter(|name| is_shell_word(name));
    names.map(CompletionCandidate::new).collect()
}

/// The names of the wanted servers as candidates. Errors give an empty list, since a shell cannot show them
/// in the middle of a line.
fn server_candidates(wanted: impl Fn(&PlannedServer) -> bool) -> Vec<CompletionCandidate> {
    let loaded = Context::new(&GlobalOptions::default()).and_then(|context| context.load());
    let Ok(loaded) = loaded else { return Vec::new() };
    let wanted = loaded.plan.servers.iter().filter(|server| wanted(server));
    // A shell inserts a candidate unquoted, and any repository may name its server `$(…)`.
    let mut names: Vec<&str> =
        wanted.map(|server| server.name.as_str()).filter(|name| is_shell_word(name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}
