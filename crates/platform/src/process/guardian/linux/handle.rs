//! The host's end of the link: while it is open, the guardian lets the server live.

use super::guardhouse::Guardhouse;
use crate::process::guardian::{GuardianOrder, GuardianReport, ReceiveOutcome};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Timeout of a drop that waits for the guardian to kill the tree.
const PATIENCE: Duration = Duration::from_secs(1);

/// A handle on a guardian: the link to it, and the guardhouse that started it.
///
/// Dropping the handle orders the guardian to kill the tree, and waits until the guardian is gone.
#[derive(Debug)]
pub(in crate::process) struct GuardianHandle {
    link: OwnedFd,
    house: Arc<Guardhouse>,
    patience: Duration,
}

impl GuardianHandle {
    /// Creates the handle for a guardian that was just ordered from its guardhouse.
    pub(super) fn new(link: OwnedFd, house: Arc<Guardhouse>) -> Self {
        Self { link, house, patience: PATIENCE }
    }

    /// Sends an order to the guardian.
    pub(in crate::process) fn send_order(&self, order: GuardianOrder) {
        order.send_over_link(&self.link);
    }

    /// The link, which becomes readable with the next report.
    pub(in crate::process) fn status_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }

    /// Receives the guardian's next report, waiting until `deadline` at most.
    pub(in crate::process) fn next_report(&self, deadline: Instant) -> ReceiveOutcome<GuardianReport> {
        loop {
            match GuardianReport::receive_report(&self.link) {
                ReceiveOutcome::Nothing if self.poll_link(deadline) => {}
                received => return received,
            }
        }
    }

    /// Makes the drop return without waiting for the end of the tree.
    pub(in crate::process) fn skip_waiting(&mut self) {
        self.patience = Duration::ZERO;
    }

    /// Polls the link; whether a report arrived before `deadline`.
    fn poll_link(&self, deadline: Instant) -> bool {
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

    fn wait_until_closed(&self, deadline: Instant) -> bool {
        loop {
            match self.next_report(deadline) {
                ReceiveOutcome::Message(_) => {}
                ReceiveOutcome::Nothing => return false,
                ReceiveOutcome::Closed => return true,
            }
        }
    }
}

impl Drop for GuardianHandle {
    fn drop(&mut self) {
        // Ends the guardian's side even if the descriptor was duplicated. An error means that the guardian is
        // gone.
        rustix::net::shutdown(&self.link, Shutdown::Write).unwrap_or_default();
        if !self.wait_until_closed(Instant::now() + self.patience) {
            self.house.skip_waiting();
        }
    }
}
