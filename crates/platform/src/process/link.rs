//! The words host and guardian exchange: orders one way, reports the other.
//!
//! One socket pair carries both. A socket rather than a pipe, because writing to a guardian that has
//! gone must not raise `SIGPIPE` in a host that did not ask for that. Every function here is also used
//! after the fork, so none allocates.

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::Pid;
use std::os::fd::AsFd;

/// What the host wants; one byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// `SIGINT` to the server.
    Interrupt,
    /// `SIGTERM` to the whole tree.
    Terminate,
    /// `SIGKILL` to the whole tree. The end of the link means the same.
    Kill,
}

/// What the guardian tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The program runs under this process id.
    Started(Pid),
    /// It was not executed.
    Failed(Stage, Errno),
    /// The whole tree is gone; this was the server's raw wait status.
    Ended(i32),
}

/// Where starting a server can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Session, descriptors, signals, fork.
    Prepare,
    /// Entering the working directory.
    Directory,
    /// `execve`.
    Execute,
}

/// What came out of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard<T> {
    /// A word.
    Word(T),
    /// Nothing yet.
    Silence,
    /// The other side is gone.
    End,
}

const REPORT: usize = 8;

impl Order {
    /// Sends the order. Nobody to hear it means that the tree is gone already, and a full link that
    /// orders are waiting, of which the end of the link will be the last.
    pub(super) fn send(self, link: impl AsFd) {
        let byte = match self {
            Self::Interrupt => b'i',
            Self::Terminate => b't',
            Self::Kill => b'k',
        };
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(link, &[byte], flags).unwrap_or_default();
    }

    /// The next order, without waiting.
    pub(super) fn receive(link: impl AsFd) -> Heard<Self> {
        let mut byte = [0];
        match rustix::net::recv(link, &mut byte, RecvFlags::DONTWAIT) {
            Ok((1.., _)) => Heard::Word(match byte {
                [b'i'] => Self::Interrupt,
                [b't'] => Self::Terminate,
                _ => Self::Kill,
            }),
            Ok((0, _)) => Heard::End,
            Err(Errno::AGAIN | Errno::INTR) => Heard::Silence,
            Err(_) => Heard::End,
        }
    }
}

impl Report {
    /// Sends the report; if the host is gone, nobody wants it.
    pub(super) fn send(self, link: impl AsFd) {
        let bytes = self.to_bytes();
        rustix::net::send(link, &bytes, SendFlags::NOSIGNAL).unwrap_or_default();
    }

    /// The next report, without waiting.
    pub(super) fn receive(link: impl AsFd) -> Heard<Self> {
        let mut bytes = [0; REPORT];
        // A report is sent in one piece, so it is there as a whole or not at all.
        match rustix::net::recv(link, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((REPORT, _)) => Self::from_bytes(bytes).map_or(Heard::End, Heard::Word),
            Err(Errno::AGAIN | Errno::INTR) => Heard::Silence,
            Ok(_) | Err(_) => Heard::End,
        }
    }

    /// The report as it travels: what, then the number that belongs to it.
    pub(super) fn to_bytes(self) -> [u8; REPORT] {
        let (what, number): (u32, i32) = match self {
            Self::Started(pid) => (0, pid.as_raw_pid()),
            Self::Ended(status) => (1, status),
            Self::Failed(Stage::Prepare, errno) => (2, errno.raw_os_error()),
            Self::Failed(Stage::Directory, errno) => (3, errno.raw_os_error()),
            Self::Failed(Stage::Execute, errno) => (4, errno.raw_os_error()),
        };
        let [a, b, c, d] = what.to_ne_bytes();
        let [e, f, g, h] = number.to_ne_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// The report in these bytes.
    pub(super) fn from_bytes([a, b, c, d, e, f, g, h]: [u8; REPORT]) -> Option<Self> {
        let number = i32::from_ne_bytes([e, f, g, h]);
        let failed = |stage| error_number(number).map(|errno| Self::Failed(stage, errno));
        match u32::from_ne_bytes([a, b, c, d]) {
            0 => Pid::from_raw(number).map(Self::Started),
            1 => Some(Self::Ended(number)),
            2 => failed(Stage::Prepare),
            3 => failed(Stage::Directory),
            4 => failed(Stage::Execute),
            _ => None,
        }
    }
}

/// `rustix` panics on a number that is no error, and a guardian must not.
fn error_number(number: i32) -> Option<Errno> {
    (1..4096).contains(&number).then(|| Errno::from_raw_os_error(number))
}

#[cfg(test)]
mod tests;
