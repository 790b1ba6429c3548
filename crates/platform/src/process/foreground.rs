//! Runs a program on our own terminal, such as a command of ours that a console starts.
//!
//! The program shares our process group, so the terminal sends Ctrl-C to it too; the caller ignores the signal
//! meanwhile. It has no guardian, because it must be able to use the terminal, but it is ended with its handle.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal};

use super::ProcessExit;

/// A program on our terminal. Dropping the handle ends the program.
#[derive(Debug)]
pub struct ForegroundProcess {
    child: Child,
    exit: Option<ProcessExit>,
}

impl ForegroundProcess {
    /// Starts a program with our terminal, environment and working directory.
    ///
    /// # Errors
    /// When the program cannot be started.
    #[expect(
        clippy::disallowed_methods,
        reason = "a guarded program has no terminal; this one ends with its handle"
    )]
    pub fn start(program: &Path, args: &[OsString]) -> io::Result<Self> {
        Ok(Self { child: Command::new(program).args(args).spawn()?, exit: None })
    }

    /// The exit status, if the program has ended. An async runtime calls this after each `SIGCHLD`.
    pub fn try_wait(&mut self) -> Option<ProcessExit> {
        if self.exit.is_none() {
            self.exit = match self.child.try_wait() {
                Ok(None) => None,
                Ok(Some(status)) => Some(ProcessExit { code: status.code(), signal: status.signal() }),
                // The host ignores `SIGCHLD`; the status is unknown.
                Err(_) => Some(ProcessExit::default()),
            };
        }
        self.exit
    }
}

impl Drop for ForegroundProcess {
    fn drop(&mut self) {
        // Until it is reaped, its process id cannot belong to another process.
        if self.try_wait().is_none() {
            let _ended = rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
    }
}
