//! Shell completion that knows the configured servers, and what is remembered of their tools.

mod tools;

use std::io::Write;
use std::process::ExitCode;

use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use mcparley::model::config::Kind;
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::is_shell_word;

use crate::args::{self, Global, ShellArg};
use crate::context::{self, Context};

pub(crate) use tools::{targets, tools, words};

/// The variable by which a shell asks.
const ASKED_BY: &str = "COMPLETE";

/// Answers a shell that asks for completions; `None` when nobody asks.
pub(crate) fn answer_shell() -> Option<ExitCode> {
    let cwd = context::working_directory();
    match CompleteEnv::with_factory(args::command)
        .var(ASKED_BY)
        .try_complete(std::env::args_os(), cwd.as_deref())
    {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        Err(error) => Some(crate::out::usage(&error)),
    }
}

/// Writes the script that makes a shell ask.
pub(crate) fn register(shell: ShellArg, to: &mut dyn Write) -> std::io::Result<()> {
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

/// The names of all configured servers.
pub(crate) fn servers() -> Vec<CompletionCandidate> {
    candidates(|_| true)
}

/// The names of the servers that somebody can sign in to.
pub(crate) fn remote_servers() -> Vec<CompletionCandidate> {
    candidates(|server| matches!(server.kind, Some(Kind::Http | Kind::Sse | Kind::Ws)))
}

/// The definitions of the hooks that wait for approval.
pub(crate) fn pending_hooks() -> Vec<CompletionCandidate> {
    let loaded = Context::new(&Global::default()).and_then(|context| context.load());
    let definitions = loaded.map(|loaded| mcparley::change::pending_hooks(&loaded)).unwrap_or_default();
    definitions.into_iter().map(CompletionCandidate::new).collect()
}

/// The names of the servers that wait for approval.
pub(crate) fn pending_servers() -> Vec<CompletionCandidate> {
    candidates(|server| matches!(server.standing, ServerStanding::NeedsApproval(_)))
}

/// The names of all agents.
pub(crate) fn agents() -> Vec<CompletionCandidate> {
    let Ok(context) = Context::new(&Global::default()) else { return Vec::new() };
    let found = mcparley::agents(&context.paths, &context.run_options);
    let names = found.specs.into_iter().map(|spec| spec.name).filter(|name| is_shell_word(name));
    names.map(CompletionCandidate::new).collect()
}

/// Completion never fails: a shell in the middle of a line has no place for an error.
fn candidates(wanted: impl Fn(&Planned) -> bool) -> Vec<CompletionCandidate> {
    let loaded = Context::new(&Global::default()).and_then(|context| context.load());
    let Ok(loaded) = loaded else { return Vec::new() };
    let wanted = loaded.plan.servers.iter().filter(|server| wanted(server));
    // A shell puts a candidate into the line as it is, and any repository may have named it `$(…)`.
    let mut names: Vec<&str> =
        wanted.map(|server| server.name.as_str()).filter(|name| is_shell_word(name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}
