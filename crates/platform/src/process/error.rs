//! Why a server did not start, with what a person can do about it.

use super::Launch;
use super::link::Stage;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("program `{}` not found", program.display())]
    NotFound {
        /// The program as it was given.
        program: OsString,
    },
    /// The user may not execute it.
    #[error("`{}` is not executable", program.display())]
    NotExecutable {
        /// The program.
        program: OsString,
    },
    /// It is a directory.
    #[error("`{}` is a directory, not a program", program.display())]
    Directory {
        /// The path.
        program: OsString,
    },
    /// The script is there, its interpreter is not.
    #[error("the interpreter of `{}` does not exist", program.display())]
    NoInterpreter {
        /// The script.
        program: OsString,
    },
    /// Neither a binary for this machine nor a script with a `#!` line.
    #[error("`{}` is not a program for this machine", program.display())]
    BadFormat {
        /// The file.
        program: OsString,
    },
    /// The working directory is missing or closed to us.
    #[error("cannot enter the working directory `{}`", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A string has a NUL byte inside.
    #[error("the {what} has a NUL byte in it")]
    Nul {
        /// Which kind of string.
        what: &'static str,
    },
    /// A variable's name is empty or has an equals sign.
    #[error("`{}` cannot be the name of an environment variable", name.display())]
    Variable {
        /// The name.
        name: OsString,
    },
    /// A variable's value has a NUL byte inside.
    #[error("the environment variable `{}` has a NUL byte in it", name.display())]
    VariableNul {
        /// The variable.
        name: OsString,
    },
    /// A variable holds a function of a shell, which an old shell would run when it starts.
    #[error("the environment variable `{}` holds a shell function", name.display())]
    ShellFunction {
        /// The variable.
        name: OsString,
    },
    /// Arguments and variables are more than the system hands over to a program.
    #[error("the arguments and environment variables for `{}` are larger than the system takes", program.display())]
    TooLong {
        /// The program.
        program: OsString,
    },
    /// The system has no process, descriptor or memory left for it.
    #[error("no resources to start `{}`", program.display())]
    Resources {
        /// The program.
        program: OsString,
        /// The system's answer.
        source: io::Error,
    },
    /// Nothing was executed in time, for instance because a network file system hangs.
    #[error("`{}` did not start within {limit:?}", program.display())]
    TimedOut {
        /// The program.
        program: OsString,
        /// The limit.
        limit: Duration,
    },
    /// Anything else the system says.
    #[error("cannot start `{}`", program.display())]
    Io {
        /// The program.
        program: OsString,
        /// The system's answer.
        source: io::Error,
    },
}

impl SpawnError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { program } if !is_path(program) => Some(format!(
                "install `{0}`, or configure its full path; \
                 only absolute directories in the server's `PATH` are searched",
                program.display()
            )),
            Self::NotFound { .. } => Some("check the path for typing errors".to_owned()),
            Self::NotExecutable { program } => {
                Some(format!("make it executable: `chmod +x {}`", program.display()))
            }
            Self::NoInterpreter { .. } => Some("check the first line of the script (`#!…`)".to_owned()),
            Self::BadFormat { .. } => {
                Some("a script needs a `#!` line; no shell is run to guess its interpreter".to_owned())
            }
            Self::WorkingDirectory { path, .. } => {
                Some(format!("create the directory, or change the configured one: `{}`", path.display()))
            }
            Self::TooLong { .. } => {
                Some("shorten `args` and `env` of its entry, or pass what is large in a file".to_owned())
            }
            Self::ShellFunction { name } => {
                Some(format!("give `{}` another value: it may not begin with `() {{`", name.display()))
            }
            Self::Resources { .. } if self.is_descriptors() => {
                Some("raise the limit of open files (`ulimit -n`), or stop some servers".to_owned())
            }
            Self::Directory { .. }
            | Self::Nul { .. }
            | Self::Variable { .. }
            | Self::VariableNul { .. }
            | Self::Resources { .. }
            | Self::TimedOut { .. }
            | Self::Io { .. } => None,
        }
    }

    /// Whether the system has no descriptor left.
    pub fn is_descriptors(&self) -> bool {
        matches!(self, Self::Resources { source, .. } if is_out_of_descriptors(source))
    }

    /// What the system's answer at `stage` means for `launch`.
    pub(super) fn classify(launch: &Launch, stage: Stage, errno: Errno) -> Self {
        let source = io::Error::from(errno);
        match (stage, &launch.cwd) {
            (Stage::Directory, Some(cwd)) => Self::WorkingDirectory { path: cwd.clone(), source },
            (Stage::Execute, _) => Self::execute(launch, errno),
            (Stage::Directory | Stage::Prepare, _) => Self::system(launch, errno),
        }
    }

    /// A failure that has nothing to do with the program.
    pub(super) fn system(launch: &Launch, errno: Errno) -> Self {
        let program = launch.program.clone();
        let source = io::Error::from(errno);
        match errno {
            Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM => Self::Resources { program, source },
            _ => Self::Io { program, source },
        }
    }

    fn execute(launch: &Launch, errno: Errno) -> Self {
        let program = launch.program.clone();
        // `execve` gives the same answer for quite different mistakes; the file itself tells them apart.
        let path = seen_from(launch);
        match errno {
            Errno::NOENT if path.is_file() => Self::NoInterpreter { program },
            Errno::NOENT | Errno::NOTDIR => Self::NotFound { program },
            Errno::ACCESS if path.is_dir() => Self::Directory { program },
            Errno::ACCESS | Errno::PERM => Self::NotExecutable { program },
            Errno::NOEXEC => Self::BadFormat { program },
            Errno::TOOBIG => Self::TooLong { program },
            _ => Self::system(launch, errno),
        }
    }
}

/// A relative program is relative to the server's working directory.
fn seen_from(launch: &Launch) -> PathBuf {
    let program = Path::new(&launch.program);
    match &launch.cwd {
        Some(cwd) => cwd.join(program),
        None => program.to_owned(),
    }
}

/// Whether this is the system's answer when it has no descriptor left.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

fn is_path(program: &OsString) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}
