//! Words survive the journey.

use super::{Heard, Order, Report, Stage};
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
        Report::Started(Pid::from_raw(7).unwrap()),
        Report::Ended(0x0100),
        Report::Failed(Stage::Prepare, Errno::MFILE),
        Report::Failed(Stage::Directory, Errno::NOENT),
        Report::Failed(Stage::Execute, Errno::NOEXEC),
    ];
    for report in reports {
        report.send(&theirs);
    }
    for report in reports {
        assert_eq!(Report::receive(&ours), Heard::Word(report));
    }
    assert_eq!(Report::receive(&ours), Heard::Silence);
}

#[test]
fn every_order_arrives_in_turn_and_then_the_end() {
    let (ours, theirs) = pair();
    let orders = [Order::Interrupt, Order::Terminate, Order::Kill];
    for order in orders {
        order.send(&ours);
    }
    for order in orders {
        assert_eq!(Order::receive(&theirs), Heard::Word(order));
    }
    assert_eq!(Order::receive(&theirs), Heard::Silence);
    drop(ours);
    assert_eq!(Order::receive(&theirs), Heard::End);
}

#[test]
fn a_report_is_heard_although_the_guardian_left_an_order_unread() {
    let (ours, theirs) = pair();
    Order::Kill.send(&ours);
    Report::Ended(9).send(&theirs);
    drop(theirs);
    assert_eq!(Report::receive(&ours), Heard::Word(Report::Ended(9)));
    assert_eq!(Report::receive(&ours), Heard::End);
}
