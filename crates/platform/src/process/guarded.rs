//! The host's handle on a server process: its streams, its signals, its shutdown.

use super::guardian::{GuardianHandle, GuardianOrder, GuardianReport, HostPipeEnds, ReceiveOutcome};
use rustix::process::Pid;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Time from the start of a shutdown to `SIGTERM` for the whole tree.
const TERMINATE_AT: Duration = Duration::from_millis(100);
/// Time to `SIGKILL` for the whole tree.
const KILL_AT: Duration = Duration::from_millis(500);
/// Time after which a shutdown returns at the latest.
const DONE_AT: Duration = Duration::from_millis(600);

/// A running server, its descendants, and the guardian over them.
///
/// Dropping the handle kills the whole tree, waiting at most a second for the last process to end.
#[derive(Debug)]
pub struct GuardedProcess {
    pid: Pid,
    guardian: GuardianHandle,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    exit: Option<ProcessExit>,
}

/// Exit status of a server. Both fields are `None` if it is unknown: its guardian was killed from outside, or
/// it was still being killed when the wait timed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessExit {
    /// The exit code of the server.
    pub code: Option<i32>,
    /// The signal that ended the server.
    pub signal: Option<i32>,
}

impl GuardedProcess {
    pub(super) fn new(pid: Pid, guardian: GuardianHandle, streams: HostPipeEnds) -> Self {
        let HostPipeEnds { stdin, stdout, stderr } = streams;
        Self { pid, guardian, stdin: Some(stdin), stdout: Some(stdout), stderr: Some(stderr), exit: None }
    }

    /// Takes the write end of the server's standard input; `None` the second time.
    pub fn take_stdin(&mut self) -> Option<OwnedFd> {
        self.stdin.take()
    }

    /// Takes the read end of the server's standard output; `None` the second time.
    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.stdout.take()
    }

    /// Takes the read end of the server's standard error; `None` the second time.
    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.stderr.take()
    }

    /// The server's process id, for display; signals go through the methods below.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Sends `SIGINT` to the server.
    pub fn interrupt(&self) {
        self.guardian.send_order(GuardianOrder::Interrupt);
    }

    /// Sends `SIGTERM` to the server and all its descendants.
    pub fn terminate(&self) {
        self.guardian.send_order(GuardianOrder::Terminate);
    }

    /// Sends `SIGKILL` to the server and all its descendants.
    pub fn kill(&self) {
        self.guardian.send_order(GuardianOrder::Kill);
    }

    /// A descriptor that becomes readable when the server and all its descendants are gone; never read from
    /// it.
    ///
    /// An async runtime waits for this and then calls [`Self::try_wait`].
    pub fn status_fd(&self) -> BorrowedFd<'_> {
        self.guardian.status_fd()
    }

    /// The exit status of the server, if it and all its descendants are gone.
    pub fn try_wait(&mut self) -> Option<ProcessExit> {
        self.wait_until(Instant::now())
    }

    /// Waits for the exit status until `deadline` at most; otherwise like [`Self::try_wait`].
    pub fn wait_until(&mut self, deadline: Instant) -> Option<ProcessExit> {
        if self.exit.is_none() {
            self.exit = match self.guardian.next_report(deadline) {
                ReceiveOutcome::Message(GuardianReport::Ended(status)) => {
                    Some(ProcessExit::from_wait_status(status))
                }
                ReceiveOutcome::Closed => Some(ProcessExit::default()),
                // Reports about the start were consumed by `spawn`.
                ReceiveOutcome::Nothing
                | ReceiveOutcome::Message(GuardianReport::Started(_) | GuardianReport::Failed(..)) => None,
            };
        }
        self.exit
    }

    /// Graceful shutdown of the server: end of input and `SIGINT`, `SIGTERM` to the tree after 100 ms,
    /// `SIGKILL` to the tree after 500 ms.
    ///
    /// Returns as soon as the tree is gone, after 600 ms at the latest; should the machine be too busy
    /// to kill in time, the guardian goes on without us. If the caller took the write end of the server's
    /// input, the caller has to close it.
    pub fn shut_down(mut self) -> ProcessExit {
        let start = Instant::now();
        drop(self.stdin.take());
        self.interrupt();
        let exit = self
            .wait_until(start + TERMINATE_AT)
            .or_else(|| {
                self.terminate();
                self.wait_until(start + KILL_AT)
            })
            .or_else(|| {
                self.kill();
                self.wait_until(start + DONE_AT)
            });
        if exit.is_none() {
            self.guardian.skip_waiting();
        }
        exit.unwrap_or_default()
    }
}

impl ProcessExit {
    /// Decodes a raw wait status.
    fn from_wait_status(status: i32) -> Self {
        Self {
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        }
    }

    /// Whether the server exited with code 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}
