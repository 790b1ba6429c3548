//! Which file a configured command would run, and whether that is mcparley itself.
//!
//! Finding a file takes a file system, so a [`ProgramFinder`] is handed in; the decisions about what it found are
//! made here.

use std::fmt;

use crate::command_line::{Step, program_name, unfold};
use crate::config::Stdio;

/// The name of this program and of its packages.
const OWN_NAME: &str = "mcparley";

/// A program that was found on the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its path, as it was found, made absolute.
    pub located: String,
    /// The file behind all links.
    pub canonical: String,
    /// Whether the project brought it: found below the project's folder or through a relative path.
    pub is_of_project: bool,
    /// Whether it is the program that asks.
    pub is_self: bool,
}

/// Finds programs the way the start of a server does.
pub trait ProgramFinder: fmt::Debug + Send + Sync {
    /// The program that `name` means in the environment and the folder of `stdio`; none if there is none.
    fn find(&self, name: &str, stdio: &Stdio) -> Option<FoundProgram>;

    /// The file behind all links of an absolute path; none if there is none.
    fn canonical(&self, path: &str) -> Option<String>;
}

/// Finds nothing: every command counts as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFileSystem;

impl ProgramFinder for NoFileSystem {
    fn find(&self, _name: &str, _stdio: &Stdio) -> Option<FoundProgram> {
        None
    }

    fn canonical(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Everything that a stdio server's command line would start.
#[must_use]
pub fn steps_of(stdio: &Stdio) -> Vec<Step> {
    let arguments = stdio.args.iter().map(|argument| argument.expose().as_str());
    unfold(&std::iter::once(stdio.command.as_str()).chain(arguments).collect::<Vec<_>>())
}

/// Whether the server's command would start mcparley: by its name, by a link to this very program, behind `env` or a
/// shell, or as a package.
#[must_use]
pub fn starts_itself(stdio: &Stdio, finder: &dyn ProgramFinder) -> bool {
    steps_of(stdio).iter().any(|step| match step {
        Step::Program(argv) => argv.first().is_some_and(|program| is_itself(program, stdio, finder)),
        Step::Package(package) => package.short_name() == OWN_NAME,
        Step::DownloadedScript => false,
    })
}

fn is_itself(program: &str, stdio: &Stdio, finder: &dyn ProgramFinder) -> bool {
    let is_own_name = |path: &str| program_name(path) == OWN_NAME;
    is_own_name(program)
        || finder.find(program, stdio).is_some_and(|found| found.is_self || is_own_name(&found.canonical))
}
