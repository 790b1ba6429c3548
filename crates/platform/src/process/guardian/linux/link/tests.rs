//! Orders and reports arrive unchanged.

use super::{GuardianOrder, GuardianReport, ReceiveOutcome, SpawnStage};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::Pid;
use std::os::fd::OwnedFd;

fn pair() -> (OwnedFd, OwnedFd) {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap()
}

#[test]
fn every_report_arrives_as_it_was_sent() {
    let (ours, theirs) = pair();
    let reports = [
        GuardianReport::Started(Pid::from_raw(7).unwrap()),
        GuardianReport::Ended(0x0100),
        GuardianReport::Failed(SpawnStage::Prepare, Errno::MFILE),
        GuardianReport::Failed(SpawnStage::Directory, Errno::NOENT),
        GuardianReport::Failed(SpawnStage::Execute, Errno::NOEXEC),
    ];
    for report in reports {
        report.send_over_link(&theirs);
    }
    for report in reports {
        assert_eq!(GuardianReport::receive_report(&ours), ReceiveOutcome::Message(report));
    }
    assert_eq!(GuardianReport::receive_report(&ours), ReceiveOutcome::Nothing);
}

#[test]
fn every_order_arrives_in_turn_and_then_the_end() {
    let (ours, theirs) = pair();
    let orders = [GuardianOrder::Interrupt, GuardianOrder::Terminate, GuardianOrder::Kill];
    for order in orders {
        order.send_over_link(&ours);
    }
    for order in orders {
        assert_eq!(GuardianOrder::receive_order(&theirs), ReceiveOutcome::Message(order));
    }
    assert_eq!(GuardianOrder::receive_order(&theirs), ReceiveOutcome::Nothing);
    drop(ours);
    assert_eq!(GuardianOrder::receive_order(&theirs), ReceiveOutcome::Closed);
}

#[test]
fn report_is_received_although_an_order_was_left_unread() {
    let (ours, theirs) = pair();
    GuardianOrder::Kill.send_over_link(&ours);
    GuardianReport::Ended(9).send_over_link(&theirs);
    drop(theirs);
    assert_eq!(GuardianReport::receive_report(&ours), ReceiveOutcome::Message(GuardianReport::Ended(9)));
    assert_eq!(GuardianReport::receive_report(&ours), ReceiveOutcome::Closed);
}
