//! Error of starting a program, with a hint for the user.

use super::ProgramLaunch;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Error of starting a program.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program does not exist.
    #[error("`{}` {}", program.display(), describe_missing(program))]
    NotFound {
        /// The program as it was given.
        program: OsString,
    },
    /// The user may not execute the program.
    #[error("`{}` is not executable", program.display())]
    NotExecutable {
        /// The program.
        program: OsString,
    },
    /// The path is a directory.
    #[error("`{}` is a directory, not a program", program.display())]
    Directory {
        /// The path.
        program: OsString,
    },
    /// The script exists, its interpreter does not.
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
        /// The system's error.
        source: io::Error,
    },
    /// A string contains a NUL byte.
    #[error("the {what} contains a NUL byte")]
    Nul {
        /// The kind of string.
        what: &'static str,
    },
    /// A variable's name is empty or has an equals sign.
    #[error("`{}` cannot be the name of an environment variable", name.display())]
    Variable {
        /// The name.
        name: OsString,
    },
    /// A variable's value contains a NUL byte.
    #[error("the environment variable `{}` contains a NUL byte", name.display())]
    VariableNul {
        /// The variable.
        name: OsString,
    },
    /// A variable holds a shell function, which an old shell would run when it starts.
    #[error("the environment variable `{}` holds a shell function", name.display())]
    ShellFunction {
        /// The variable.
        name: OsString,
    },
    /// Arguments and variables exceed the limit of the system.
    #[error("the arguments and environment variables for `{}` exceed the limit of the system", program.display())]
    TooLong {
        /// The program.
        program: OsString,
    },
    /// The system has no process, descriptor or memory left.
    #[error("no resources to start `{}`", program.display())]
    Resources {
        /// The program.
        program: OsString,
        /// The system's error.
        source: io::Error,
    },
    /// Timeout: the program was not executed in time, for instance because a network file system hangs.
    #[error("`{}` did not start within {limit:?}", program.display())]
    TimedOut {
        /// The program.
        program: OsString,
        /// The limit.
        limit: Duration,
    },
    /// Any other error of the system.
    #[error("cannot start `{}`", program.display())]
    Io {
        /// The program.
        program: OsString,
        /// The system's error.
        source: io::Error,
    },
}

/// The step at which starting a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpawnStage {
    /// Session, descriptors, signals, fork.
    Prepare,
    /// Entering the working directory.
    Directory,
    /// `execve`.
    Execute,
}

/// A program without a slash is searched for on `PATH`; a path is taken as it is.
fn describe_missing(program: &OsStr) -> &'static str {
    if is_path(program) { "does not exist" } else { "not found on PATH" }
}

impl SpawnError {
    /// The next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { program } if !is_path(program) => Some(format!(
                "install `{0}`, or configure its full path; \
                 only absolute directories in the server's `PATH` are searched",
                program.display()
            )),
            Self::NotFound { .. } => Some("check the path for typos".to_owned()),
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
                Some("shorten `args` and `env` of its entry, or pass large values in a file".to_owned())
            }
            Self::ShellFunction { name } => {
                Some(format!("give `{}` another value: it may not begin with `() {{`", name.display()))
            }
            Self::Resources { .. } if self.is_descriptor_limit() => {
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
    pub fn is_descriptor_limit(&self) -> bool {
        matches!(self, Self::Resources { source, .. } if is_out_of_descriptors(source))
    }

    /// Classifies the system's error at `stage` of starting `launch`.
    pub(super) fn from_stage(launch: &ProgramLaunch, stage: SpawnStage, errno: Errno) -> Self {
        let source = io::Error::from(errno);
        match (stage, &launch.cwd) {
            (SpawnStage::Directory, Some(cwd)) => Self::WorkingDirectory { path: cwd.clone(), source },
            (SpawnStage::Execute, _) => Self::from_execve(launch, errno),
            (SpawnStage::Directory | SpawnStage::Prepare, _) => Self::from_errno(launch, errno),
        }
    }

    /// Builds the error for a failure that is unrelated to the program.
    pub(super) fn from_errno(launch: &ProgramLaunch, errno: Errno) -> Self {
        let program = launch.program.clone();
        let source = io::Error::from(errno);
        match errno {
            Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM => Self::Resources { program, source },
            _ => Self::Io { program, source },
        }
    }

    fn from_execve(launch: &ProgramLaunch, errno: Errno) -> Self {
        let program = launch.program.clone();
        // `execve` returns the same error for quite different mistakes; the file itself distinguishes them.
        let path = program_path(launch);
        match errno {
            Errno::NOENT if path.is_file() => Self::NoInterpreter { program },
            Errno::NOENT | Errno::NOTDIR => Self::NotFound { program },
            Errno::ACCESS if path.is_dir() => Self::Directory { program },
            Errno::ACCESS | Errno::PERM => Self::NotExecutable { program },
            Errno::NOEXEC => Self::BadFormat { program },
            Errno::TOOBIG => Self::TooLong { program },
            _ => Self::from_errno(launch, errno),
        }
    }
}

/// The path of the program. A relative one is relative to the server's working directory.
fn program_path(launch: &ProgramLaunch) -> PathBuf {
    let program = Path::new(&launch.program);
    match &launch.cwd {
        Some(cwd) => cwd.join(program),
        None => program.to_owned(),
    }
}

/// Whether the error means that no file descriptor is left.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

fn is_path(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}
