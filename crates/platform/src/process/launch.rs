//! The program to start, with its arguments, environment and working directory.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// A program to launch and its complete environment; no variable is inherited from the host.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProgramLaunch {
    /// A path, or a name to search for in the `PATH` of [`ProgramLaunch::env`].
    ///
    /// A relative path with a slash is relative to [`ProgramLaunch::cwd`]. No shell is ever involved.
    pub program: OsString,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The complete environment of the program.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; `None` for the host's.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for ProgramLaunch {
    /// Shows the names of the variables and the number of arguments: their values may be tokens.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.env.iter().map(|(name, _)| name).collect();
        out.debug_struct("ProgramLaunch")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}
