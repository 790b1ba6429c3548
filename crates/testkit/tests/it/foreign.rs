//! Tests that an external server program is started, reached and ended.

use mcparley_testkit::{ExternalServer, processes_with_variable, testkit_path};
use std::net::TcpStream;
use std::process::Command;

#[test]
fn external_server_listens_after_start_and_exits_on_drop() {
    let mark = format!("listens-{}", std::process::id());
    let server = ExternalServer::start(|port| {
        let mut command = Command::new(testkit_path());
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
fn external_server_that_exits_early_panics_with_its_output() {
    let start = || {
        ExternalServer::start(|_| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo no luck today >&2; exit 3"]);
            command
        })
    };
    let panicked = std::panic::catch_unwind(start).unwrap_err();
    let words = panicked.downcast_ref::<String>().unwrap();
    assert_eq!(words, "the server does not listen: the program exited with exit status: 3: no luck today\n");
}
