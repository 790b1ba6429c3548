//! The host's handle on a server: its streams, its signals, its end.

mod lead;

pub(super) use lead::Lead;

use super::link::{Heard, Order, Report};
use rustix::process::Pid;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// From the start of a shut-down, when the whole tree is asked by `SIGTERM`.
const TERMINATE_AT: Duration = Duration::from_millis(100);
/// When the whole tree is killed.
const KILL_AT: Duration = Duration::from_millis(500);
/// When a shut-down returns at the latest.
const DONE_AT: Duration = Duration::from_millis(600);

/// A running server, its descendants, and the guardian over them.
///
/// Dropping it kills them all, waiting at most a second for the last to go.
#[derive(Debug)]
pub struct Guarded {
    pid: Pid,
    lead: Lead,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    exit: Option<Exit>,
}

/// How a server ended. Both are `None` if nobody could tell: its guardian was killed from outside, or
/// it was still being killed when the wait was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The code it exited with.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Guarded {
    pub(super) fn new(pid: Pid, lead: Lead, stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> Self {
        Self { pid, lead, stdin: Some(stdin), stdout: Some(stdout), stderr: Some(stderr), exit: None }
    }

    /// The write end of the server's standard input; once.
    pub fn take_stdin(&mut self) -> Option<OwnedFd> {
        self.stdin.take()
    }

    /// The read end of the server's standard output; once.
    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.stdout.take()
    }

    /// The read end of the server's standard error; once.
    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.stderr.take()
    }

    /// The server's process id, for people; signals go through the methods below.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Sends `SIGINT` to the server.
    pub fn interrupt(&self) {
        Order::Interrupt.send(self.status_fd());
    }

    /// Sends `SIGTERM` to the server and all its descendants.
    pub fn terminate(&self) {
        Order::Terminate.send(self.status_fd());
    }

    /// Sends `SIGKILL` to the server and all its descendants.
    pub fn kill(&self) {
        Order::Kill.send(self.status_fd());
    }

    /// Becomes readable when the server and all its descendants are gone; never read from it.
    ///
    /// An async runtime waits for this and then calls [`Self::try_wait`].
    pub fn status_fd(&self) -> BorrowedFd<'_> {
        self.lead.link()
    }

    /// How the server ended, if it and all its descendants are gone.
    pub fn try_wait(&mut self) -> Option<Exit> {
        self.wait_until(Instant::now())
    }

    /// As [`Self::try_wait`], waiting until `deadline` at most.
    pub fn wait_until(&mut self, deadline: Instant) -> Option<Exit> {
        if self.exit.is_none() {
            self.exit = match self.lead.hear(deadline) {
                Heard::Word(Report::Ended(status)) => Some(Exit::of(status)),
                Heard::End => Some(Exit::default()),
                // Reports about the start were heard by `spawn`.
                Heard::Silence | Heard::Word(Report::Started(_) | Report::Failed(..)) => None,
            };
        }
        self.exit
    }

    /// Ends the server in order: end of input and `SIGINT`, `SIGTERM` to the tree after 100 ms,
    /// `SIGKILL` to the tree after 500 ms.
    ///
    /// Returns as soon as the tree is gone, after 600 ms at the latest; should the machine be too busy
    /// to kill in time, the guardian goes on without us. A write end of the server's input that was
    /// taken out is the caller's to close.
    pub fn shut_down(mut self) -> Exit {
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
            self.lead.lose_patience();
        }
        exit.unwrap_or_default()
    }
}

impl Exit {
    /// What a raw wait status means.
    fn of(status: i32) -> Self {
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
