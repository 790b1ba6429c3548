//! What to start.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// A program with everything it gets from us; nothing is inherited from the host's environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// A path, or a name to look up in the `PATH` of [`Launch::env`].
    ///
    /// A relative path with a slash is relative to [`Launch::cwd`]. No shell is ever involved.
    pub program: OsString,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The complete environment of the program.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; `None` for the host's.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for Launch {
    /// Shows the names of the variables and the number of arguments: their values are where tokens live.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.env.iter().map(|(name, _)| name).collect();
        out.debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}
