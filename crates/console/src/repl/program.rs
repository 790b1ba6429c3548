//! Runs commands of the command line, as a child of the same executable on the same terminal.
//!
//! Their output is the one that scripts and people know, and it is written once. A child also has its own
//! signals and exit: Ctrl-C ends a long command and not the console.

use std::ffi::OsString;
use std::io;

use mcparley_platform::process::{ForegroundProcess, ProcessExit};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Console;

impl Console {
    /// Runs a command with the global options of this run, then follows the changes that it made.
    pub(super) async fn run_program(&mut self, words: &[String]) {
        if let Some(error) = self.run_child(words).await.err() {
            self.output.print_error(&error, Some("run the command in another terminal"));
            return;
        }
        // The file watcher would notice too, but only after a moment in which the user may type again.
        self.host.reload().await;
    }

    /// Runs the executable with these words until it ends.
    pub(super) async fn run_child(&mut self, words: &[String]) -> io::Result<ProcessExit> {
        let executable = self.options.paths.executable.as_ref();
        let executable = executable.ok_or_else(|| io::Error::other("the path of mcparley is not known"))?;
        let words = words.iter().map(OsString::from);
        let args: Vec<OsString> = self.options.program_options.iter().cloned().chain(words).collect();
        let _turn = self.options.terminal.hold().await;
        // Listens before the start, so that no end is missed.
        let endings = signal(SignalKind::child())?;
        let child = ForegroundProcess::start(executable, &args)?;
        self.interrupts.ignore_during(wait_for_exit(child, endings)).await
    }
}

async fn wait_for_exit(mut child: ForegroundProcess, mut endings: Signal) -> io::Result<ProcessExit> {
    loop {
        if let Some(exit) = child.try_wait() {
            return Ok(exit);
        }
        // Other processes end too, such as servers.
        endings.recv().await.ok_or(io::ErrorKind::BrokenPipe)?;
    }
}
