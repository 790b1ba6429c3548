//! Serves MCP on standard input and output.
//!
//! One thread reads; calls are executed by their own threads, so that they can be canceled and finish out of
//! order. The end of stdin ends the process.

mod out;
mod prelude;

use crate::hostile;
use crate::life;
use crate::message::ClientMessage;
use crate::options::Options;
use crate::record::{ProtocolRecord, ReceiveLog, agreed_revision};
use crate::server::{MessageSink, Request, RpcRefusal, ScriptedCall, ScriptedServer, ServerAnswer};
use mcparley_testkit::Name;
use out::ScriptedStdout;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::sync::Arc;
use std::thread;

/// The line length limit: more than a host may send.
const LINE: u64 = 256 * 1024 * 1024;

/// Serves until stdin ends.
pub(crate) fn serve_stdio(options: Options, arguments: &[OsString]) -> io::Result<()> {
    if options.scripts.has(Name::IgnoreTerm) && !options.deaf {
        let subcommand = [OsString::from("stdio"), OsString::from("--deaf")];
        return Err(hostile::ignore_signals_command(subcommand.iter().chain(arguments))?.exec());
    }
    life::limit_lifetime()?;
    let record = ReceiveLog::open(&options)?;
    prelude::apply_startup_faults(&options)?;
    let protocol = ProtocolRecord::open(&options);
    let connection = StdioConnection {
        out: Arc::new(ScriptedStdout::new(&options.scripts)),
        server: ScriptedServer::new(options),
    };
    let connection = Arc::new(connection);
    let mut reader = BufReader::new(io::stdin());
    let mut greeted = false;
    let mut agreed = None;
    let mut line = Vec::new();
    while reader.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        record.log_received(text)?;
        protocol.add_message(&connection.server.options, agreed.as_deref(), text);
        let message = ClientMessage::parse(text);
        agreed = message.and_then(|message| agreed_revision(&connection.server.options, &message)).or(agreed);
        connection.handle_line(text, &mut greeted)?;
        line.clear();
    }
    let scripts = &connection.server.options.scripts;
    if scripts.has(Name::IgnoreTerm) || scripts.has(Name::CloseStdin) {
        life::sleep_for_lifetime();
    }
    Ok(())
}

struct StdioConnection {
    server: ScriptedServer,
    out: Arc<ScriptedStdout>,
}

impl StdioConnection {
    fn handle_line(self: &Arc<Self>, line: &[u8], greeted: &mut bool) -> io::Result<()> {
        if line.trim_ascii().is_empty() || self.server.options.scripts.has(Name::HangStart) {
            return Ok(());
        }
        let Some(message) = ClientMessage::parse(line) else {
            let refusal = RpcRefusal::new(-32700, "Parse error").to_message(Some(&Value::Null));
            return self.out.send_lines(format!("{refusal}\n").as_bytes());
        };
        let (Some(method), Some(id)) = (message.method().map(str::to_owned), message.id().cloned()) else {
            self.server.handle_notification(&message, "");
            return Ok(());
        };
        let work = StdioCall {
            running: self.server.calls.register_call("", &id),
            message,
            method,
            id,
            greeted: *greeted,
        };
        *greeted |= work.method == "initialize";
        self.start_call(work)
    }

    fn start_call(self: &Arc<Self>, work: StdioCall) -> io::Result<()> {
        if self.server.options.scripts.has(Name::CloseStdin) && work.message.text("name") == Some("echo") {
            // Closed on the reading thread: a read in progress on another would keep the pipe open.
            let nothing = OpenOptions::new().read(true).open("/dev/null")?;
            rustix::stdio::dup2_stdin(&nothing)?;
            return self.execute_call(&work);
        }
        // Other methods are answered at once; these may wait for a reply that has to be read meanwhile.
        let may_wait = matches!(work.method.as_str(), "tools/call" | "tasks/result");
        if !may_wait && self.server.options.on.as_ref() != Some(&work.method) {
            return self.execute_call(&work);
        }
        let connection = Arc::clone(self);
        let run = move || {
            // A write error means that the client has closed the pipe; the reader then ends the process.
            connection.execute_call(&work).unwrap_or_default();
        };
        thread::Builder::new().name("call".to_owned()).spawn(run).map(drop)
    }

    fn execute_call(&self, work: &StdioCall) -> io::Result<()> {
        let due = self.server.claim_faults(&work.method);
        let out: Arc<dyn MessageSink> = Arc::clone(&self.out) as Arc<dyn MessageSink>;
        let request = Request {
            message: &work.message,
            method: &work.method,
            id: &work.id,
            due,
            has_handshake: work.greeted,
            running: &work.running,
            out: &out,
        };
        let answer = self.server.answer_request(&request)?;
        if let Some(size) = due.number(Name::StderrFlood) {
            prelude::flood_stderr(size)?;
        }
        if due.text(Name::CloseStdout) == Some("call") {
            return self.out.close();
        }
        match answer {
            ServerAnswer::Silence | ServerAnswer::Cancelled => Ok(()),
            ServerAnswer::Reply(reply) => {
                self.out.write_reply(&reply, due)?;
                self.apply_handshake_faults(&work.method)
            }
        }
    }

    /// Applies the scripts that take effect after the handshake.
    fn apply_handshake_faults(&self, method: &str) -> io::Result<()> {
        let scripts = &self.server.options.scripts;
        if method != "initialize" && method != "server/discover" {
            return Ok(());
        }
        if scripts.has(Name::CrashLoop) {
            life::exit_process(5);
        }
        if scripts.text(Name::CloseStdout) == Some("init") {
            self.out.close()?;
        }
        if scripts.has(Name::NoRead) {
            wait_for_hang_up()?;
            life::exit_process(0);
        }
        Ok(())
    }
}

/// Waits until stdin is closed, without reading from it.
fn wait_for_hang_up() -> io::Result<()> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
    poll(&mut watched, None)?;
    Ok(())
}

/// A request that is being executed.
struct StdioCall {
    message: ClientMessage,
    method: String,
    id: Value,
    greeted: bool,
    running: ScriptedCall,
}
