//! `serve --http` on a free port of loopback, with the token that it prints at its first start.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::place::Place;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");
/// The time in which the gateway must listen.
const START: Duration = Duration::from_secs(30);

/// A running gateway, which ends with this value.
pub(super) struct HttpGateway {
    pub(super) url: String,
    pub(super) token: String,
    child: Child,
}

impl HttpGateway {
    /// Starts the gateway with these options, and reads its address and token as a person would.
    pub(super) fn start(place: &Place, options: &[&str]) -> Self {
        let words = [&["serve", "--http", "127.0.0.1:0"], options].concat();
        let mut command = place.world.command_of(PROGRAM.as_ref(), &words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, said) = channel();
        let outputs: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for output in outputs {
            let lines = lines.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // The receiver is gone once the address is known.
                    lines.send(line).unwrap_or_default();
                }
            });
        }
        let mut gateway = Self { url: String::new(), token: String::new(), child };
        while gateway.url.is_empty() {
            let line = said.recv_timeout(START).unwrap();
            if let Some((_, token)) = line.split_once("shown only now: ") {
                token.clone_into(&mut gateway.token);
            }
            if let Some((_, url)) = line.split_once("listening on ") {
                url.clone_into(&mut gateway.url);
            }
        }
        let has_token = !gateway.token.is_empty();
        assert_eq!(has_token, !options.contains(&"--no-token"), "a token is printed before the address");
        gateway
    }
}

impl Drop for HttpGateway {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}
