//! The link: a socket pair that carries [`GuardianOrder`]s from the host to its guardian, and
//! [`GuardianReport`]s back.
//!
//! A socket rather than a pipe, because writing to a guardian that has gone must not raise `SIGPIPE` in a
//! host that did not ask for that. Every function here is also used after the fork, so none allocates.

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::Pid;
use std::os::fd::AsFd;

use crate::process::error::SpawnStage;
use crate::process::guardian::{GuardianOrder, GuardianReport, ReceiveOutcome};

const REPORT: usize = 8;

impl GuardianOrder {
    /// Sends the order. A closed link means that the tree is gone already, and a full one that
    /// orders are waiting, of which the end of the link will be the last.
    pub(in crate::process::guardian) fn send_over_link(self, link: impl AsFd) {
        let byte = match self {
            Self::Interrupt => b'i',
            Self::Terminate => b't',
            Self::Kill => b'k',
        };
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(link, &[byte], flags).unwrap_or_default();
    }

    /// Receives the next order, without waiting.
    pub(in crate::process::guardian) fn receive_order(link: impl AsFd) -> ReceiveOutcome<Self> {
        let mut byte = [0];
        match rustix::net::recv(link, &mut byte, RecvFlags::DONTWAIT) {
            Ok((1.., _)) => ReceiveOutcome::Message(match byte {
                [b'i'] => Self::Interrupt,
                [b't'] => Self::Terminate,
                _ => Self::Kill,
            }),
            Ok((0, _)) => ReceiveOutcome::Closed,
            Err(Errno::AGAIN | Errno::INTR) => ReceiveOutcome::Nothing,
            Err(_) => ReceiveOutcome::Closed,
        }
    }
}

impl GuardianReport {
    /// Sends the report; an error means that the host is gone.
    pub(in crate::process::guardian) fn send_over_link(self, link: impl AsFd) {
        let bytes = self.to_bytes();
        rustix::net::send(link, &bytes, SendFlags::NOSIGNAL).unwrap_or_default();
    }

    /// Receives the next report, without waiting.
    pub(in crate::process::guardian) fn receive_report(link: impl AsFd) -> ReceiveOutcome<Self> {
        let mut bytes = [0; REPORT];
        // A report is sent in one piece, so it is there as a whole or not at all.
        match rustix::net::recv(link, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((REPORT, _)) => {
                Self::from_bytes(bytes).map_or(ReceiveOutcome::Closed, ReceiveOutcome::Message)
            }
            Err(Errno::AGAIN | Errno::INTR) => ReceiveOutcome::Nothing,
            Ok(_) | Err(_) => ReceiveOutcome::Closed,
        }
    }

    /// Serializes the report: its kind, then its number.
    pub(in crate::process::guardian) fn to_bytes(self) -> [u8; REPORT] {
        let (what, number): (u32, i32) = match self {
            Self::Started(pid) => (0, pid.as_raw_pid()),
            Self::Ended(status) => (1, status),
            Self::Failed(SpawnStage::Prepare, errno) => (2, errno.raw_os_error()),
            Self::Failed(SpawnStage::Directory, errno) => (3, errno.raw_os_error()),
            Self::Failed(SpawnStage::Execute, errno) => (4, errno.raw_os_error()),
        };
        let [a, b, c, d] = what.to_ne_bytes();
        let [e, f, g, h] = number.to_ne_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Parses a serialized report.
    pub(in crate::process::guardian) fn from_bytes([a, b, c, d, e, f, g, h]: [u8; REPORT]) -> Option<Self> {
        let number = i32::from_ne_bytes([e, f, g, h]);
        let failed = |stage| error_number(number).map(|errno| Self::Failed(stage, errno));
        match u32::from_ne_bytes([a, b, c, d]) {
            0 => Pid::from_raw(number).map(Self::Started),
            1 => Some(Self::Ended(number)),
            2 => failed(SpawnStage::Prepare),
            3 => failed(SpawnStage::Directory),
            4 => failed(SpawnStage::Execute),
            _ => None,
        }
    }
}

/// Converts a raw error number. `rustix` panics on a number out of range, and a guardian must not.
fn error_number(number: i32) -> Option<Errno> {
    (1..4096).contains(&number).then(|| Errno::from_raw_os_error(number))
}

#[cfg(test)]
mod tests;
