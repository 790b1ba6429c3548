//! Finds the program that a configured command would run, and detects recursion into mcparley itself.
//!
//! Finding a file needs a file system, so a [`ProgramFinder`] is passed in; the decisions about the found
//! program are made here.

use std::fmt;

use crate::command_line::{CommandStep, program_name, unfold_command};
use crate::config::StdioConfig;

/// The name of this program and of its packages.
const OWN_NAME: &str = "mcparley";

/// A program that was found on the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// The absolute path where the program was found.
    pub located: String,
    /// The canonical path, with all links resolved.
    pub canonical: String,
    /// Whether the project provides it: found below the project's folder or through a relative path.
    pub is_in_project: bool,
    /// Whether it is the running executable itself.
    pub is_self: bool,
}

/// Finds programs like the start of a server does.
pub trait ProgramFinder: fmt::Debug + Send + Sync {
    /// Finds the program `name` in the environment and the folder of `stdio`; `None` if there is none.
    fn find_program(&self, name: &str, stdio: &StdioConfig) -> Option<FoundProgram>;

    /// Resolves all links of an absolute path; `None` if the file does not exist.
    fn canonical_path(&self, path: &str) -> Option<String>;
}

/// A [`ProgramFinder`] without a file system: every command is judged as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFileSystem;

impl ProgramFinder for NoFileSystem {
    fn find_program(&self, _name: &str, _stdio: &StdioConfig) -> Option<FoundProgram> {
        None
    }

    fn canonical_path(&self, _path: &str) -> Option<String> {
        None
    }
}

/// The steps of a stdio server's command line.
#[must_use]
pub fn command_steps(stdio: &StdioConfig) -> Vec<CommandStep> {
    let arguments = stdio.args.iter().map(|argument| argument.expose().as_str());
    unfold_command(&std::iter::once(stdio.command.as_str()).chain(arguments).collect::<Vec<_>>())
}

/// Whether the server's command would start mcparley: by its name, by a link to the running executable,
/// behind `env` or a shell, or as a package.
#[must_use]
pub fn starts_mcparley(stdio: &StdioConfig, finder: &dyn ProgramFinder) -> bool {
    command_steps(stdio).iter().any(|step| match step {
        CommandStep::Program(argv) => argv.first().is_some_and(|program| is_mcparley(program, stdio, finder)),
        CommandStep::Package(package) => package.short_name() == OWN_NAME,
        CommandStep::DownloadedScript | CommandStep::TooDeep => false,
    })
}

fn is_mcparley(program: &str, stdio: &StdioConfig, finder: &dyn ProgramFinder) -> bool {
    let is_own_name = |path: &str| program_name(path) == OWN_NAME;
    is_own_name(program)
        || finder
            .find_program(program, stdio)
            .is_some_and(|found| found.is_self || is_own_name(&found.canonical))
}
