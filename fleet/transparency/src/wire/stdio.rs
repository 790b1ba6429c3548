//! A server on standard input and output.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Wire;

/// The time in which a server must end after its input.
const FAREWELL: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(10);

/// A running server, which ends with this value.
#[derive(Debug)]
pub(crate) struct StdioWire {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<String>,
}

impl StdioWire {
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (sender, messages) = channel();
        let stdout = child.stdout.take();
        let stdin = child.stdin.take();
        thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            for line in lines.map_while(Result::ok) {
                // The receiver is gone when the comparison is over.
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, messages })
    }
}

impl Wire for StdioWire {
    fn send(&mut self, message: &Value, _headers: &[(String, String)]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| io::Error::other("the server has no input"))?;
        stdin.write_all(format!("{message}\n").as_bytes())?;
        stdin.flush()
    }

    fn open_shared_stream(&mut self, _version: &str) -> io::Result<()> {
        Ok(())
    }

    fn messages(&self) -> &Receiver<String> {
        &self.messages
    }
}

impl Drop for StdioWire {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let end = Instant::now() + FAREWELL;
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(MOMENT);
        }
        // A process that ended in the meantime cannot be killed, which is fine.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
