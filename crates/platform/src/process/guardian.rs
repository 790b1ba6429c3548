//! The guardian interface: keeps a server and all its descendants from outliving the host.
//!
//! `spawn` and `guarded` use only the items of this file. The implementation for Linux is in `linux`; a
//! port to another system provides the two items that are re-exported here, with the same signatures:
//!
//! | item | contract |
//! |---|---|
//! | `post_guardian(launch, deadline)` | begins to start the program under a new guardian; returns [`GuardianHandle`] and [`HostPipeEnds`] |
//! | [`GuardianHandle::next_report`] | waits for a [`GuardianReport`]: first `Started` or `Failed`, at last `Ended` |
//! | [`GuardianHandle::send_order`] | passes a [`GuardianOrder`] on; a tree that is gone already is no error |
//! | [`GuardianHandle::status_fd`] | becomes readable with the next report |
//! | [`GuardianHandle::skip_waiting`] | lets `Drop` return without waiting for the end of the tree |
//! | `Drop` | kills the tree; so does the end of the host, by any cause |

mod linux;

pub(super) use linux::{GuardianHandle, post_guardian};

use super::error::SpawnStage;
use rustix::io::Errno;
use rustix::process::Pid;
use std::os::fd::OwnedFd;

/// The host's ends of a server's standard streams.
#[derive(Debug)]
pub(super) struct HostPipeEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// An order of the host to a guardian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardianOrder {
    /// `SIGINT` to the server.
    Interrupt,
    /// `SIGTERM` to the whole tree.
    Terminate,
    /// `SIGKILL` to the whole tree. The end of the host means the same.
    Kill,
}

/// A guardian's report to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardianReport {
    /// The program runs under this process id.
    Started(Pid),
    /// The program was not executed.
    Failed(SpawnStage, Errno),
    /// The whole tree is gone; this was the server's raw wait status.
    Ended(i32),
}

/// The result of a non-blocking receive on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveOutcome<T> {
    /// A message.
    Message(T),
    /// No message yet.
    Nothing,
    /// The other side is gone.
    Closed,
}
