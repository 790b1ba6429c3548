//! The host's end of the link: while it is held, the guardian lets the server live.

use crate::process::house::House;
use crate::process::link::{Heard, Report};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long letting go may wait for the guardian to have killed everything.
const PATIENCE: Duration = Duration::from_secs(1);

/// The link to a guardian, and the house it came from.
///
/// Dropping it is the order to kill the tree, and waits until the guardian is gone.
#[derive(Debug)]
pub(in crate::process) struct Lead {
    link: OwnedFd,
    house: Arc<House>,
    patience: Duration,
}

impl Lead {
    /// Takes the link to a guardian that was just ordered from its guardhouse.
    pub(in crate::process) fn new(link: OwnedFd, house: Arc<House>) -> Self {
        Self { link, house, patience: PATIENCE }
    }

    /// The socket.
    pub(in crate::process) fn link(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }

    /// The guardian's next report, waiting until `deadline` at most.
    pub(in crate::process) fn hear(&self, deadline: Instant) -> Heard<Report> {
        loop {
            match Report::receive(&self.link) {
                Heard::Silence if self.wait(deadline) => {}
                heard => return heard,
            }
        }
    }

    /// Lets go without waiting any more.
    pub(super) fn lose_patience(&mut self) {
        self.patience = Duration::ZERO;
    }

    /// Whether something can be heard before `deadline`.
    fn wait(&self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // A wait of seconds does not reach the limits of the conversion.
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
            let mut ready = [PollFd::new(&self.link, PollFlags::IN)];
            match rustix::event::poll(&mut ready, Some(&left)) {
                Err(Errno::INTR) => {}
                result => return result == Ok(1),
            }
        }
    }

    fn is_deserted(&self, deadline: Instant) -> bool {
        loop {
            match self.hear(deadline) {
                Heard::Word(_) => {}
                Heard::Silence => return false,
                Heard::End => return true,
            }
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // Ends the guardian's side even if somebody has duplicated the descriptor. An error means that
        // the guardian is gone.
        rustix::net::shutdown(&self.link, Shutdown::Write).unwrap_or_default();
        if !self.is_deserted(Instant::now() + self.patience) {
            self.house.hurry();
        }
    }
}
