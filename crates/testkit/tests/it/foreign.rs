//! A server program that others wrote is started, found and ended.

use mcparley_testkit::{Foreign, binary, processes_with_variable};
use std::net::TcpStream;
use std::process::Command;

#[test]
fn it_listens_when_started_and_is_gone_when_dropped() {
    let mark = format!("listens-{}", std::process::id());
    let server = Foreign::start(|port| {
        let mut command = Command::new(binary());
        command.args(["http", "--port", &port.to_string()]).env("FOREIGN_MARK", &mark);
        command
    });
    TcpStream::connect(server.address()).unwrap();
    assert_eq!(processes_with_variable("FOREIGN_MARK", &mark), [server.id()]);
    assert!(processes_with_variable("FOREIGN_MARK", "another").is_empty());
    drop(server);
    assert!(processes_with_variable("FOREIGN_MARK", &mark).is_empty());
}

#[test]
fn one_that_ends_at_once_fails_the_test_with_its_last_words() {
    let start = || {
        Foreign::start(|_| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo no luck today >&2; exit 3"]);
            command
        })
    };
    let panicked = std::panic::catch_unwind(start).unwrap_err();
    let words = panicked.downcast_ref::<String>().unwrap();
    assert_eq!(words, "the server does not listen: it ended with exit status: 3: no luck today\n");
}
