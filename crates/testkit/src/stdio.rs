//! The server on standard input and output.
//!
//! One thread reads; calls are worked on by threads of their own, so that they can be cancelled and overtake
//! each other. The end of stdin ends the process.

mod out;
mod prelude;

use crate::hostile;
use crate::life;
use crate::message::Message;
use crate::options::Options;
use crate::record::Record;
use crate::server::{Answer, Out, Refusal, Request, Running, Server};
use mcparley_testkit::Name;
use out::Stdout;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::sync::Arc;
use std::thread;

/// More than a host may send in one line.
const LINE: u64 = 256 * 1024 * 1024;

/// Serves until stdin ends.
pub(crate) fn serve(options: Options, arguments: &[OsString]) -> io::Result<()> {
    if options.scripts.has(Name::IgnoreTerm) && !options.deaf {
        let subcommand = [OsString::from("stdio"), OsString::from("--deaf")];
        return Err(hostile::deafly(subcommand.iter().chain(arguments))?.exec());
    }
    life::limit()?;
    let record = Record::open(&options)?;
    prelude::play(&options)?;
    let connection =
        Connection { out: Arc::new(Stdout::new(&options.scripts)), server: Server::new(options) };
    let connection = Arc::new(connection);
    let mut reader = BufReader::new(io::stdin());
    let mut greeted = false;
    let mut line = Vec::new();
    while reader.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        record.received(text)?;
        connection.take(text, &mut greeted)?;
        line.clear();
    }
    let scripts = &connection.server.options.scripts;
    if scripts.has(Name::IgnoreTerm) || scripts.has(Name::CloseStdin) {
        life::wait();
    }
    Ok(())
}

struct Connection {
    server: Server,
    out: Arc<Stdout>,
}

impl Connection {
    fn take(self: &Arc<Self>, line: &[u8], greeted: &mut bool) -> io::Result<()> {
        if line.trim_ascii().is_empty() || self.server.options.scripts.has(Name::HangStart) {
            return Ok(());
        }
        let Some(message) = Message::read(line) else {
            let refusal = Refusal::new(-32700, "Parse error").to_message(Some(&Value::Null));
            return self.out.send(format!("{refusal}\n").as_bytes());
        };
        let (Some(method), Some(id)) = (message.method().map(str::to_owned), message.id().cloned()) else {
            self.server.notice(&message, "");
            return Ok(());
        };
        let work = Work { running: self.server.calls.begin("", &id), message, method, id, greeted: *greeted };
        *greeted |= work.method == "initialize";
        self.start(work)
    }

    fn start(self: &Arc<Self>, work: Work) -> io::Result<()> {
        if self.server.options.scripts.has(Name::CloseStdin) && work.message.text("name") == Some("echo") {
            // Here, where nobody is reading: a read that is under way would keep the pipe open.
            let nothing = OpenOptions::new().read(true).open("/dev/null")?;
            rustix::stdio::dup2_stdin(&nothing)?;
            return self.work(&work);
        }
        // The others are answered at once; a result may have to wait for an answer that is read meanwhile.
        let may_wait = matches!(work.method.as_str(), "tools/call" | "tasks/result");
        if !may_wait && self.server.options.on.as_ref() != Some(&work.method) {
            return self.work(&work);
        }
        let connection = Arc::clone(self);
        let run = move || {
            // A client that has closed the pipe hears nothing more; the reader ends the process.
            connection.work(&work).unwrap_or_default();
        };
        thread::Builder::new().name("call".to_owned()).spawn(run).map(drop)
    }

    fn work(&self, work: &Work) -> io::Result<()> {
        let due = self.server.due(&work.method);
        let out: Arc<dyn Out> = Arc::clone(&self.out) as Arc<dyn Out>;
        let request = Request {
            message: &work.message,
            method: &work.method,
            id: &work.id,
            due,
            greeted: work.greeted,
            running: &work.running,
            out: &out,
        };
        let answer = self.server.answer(&request)?;
        if let Some(size) = due.number(Name::StderrFlood) {
            prelude::flood_stderr(size)?;
        }
        if due.text(Name::CloseStdout) == Some("call") {
            return self.out.close();
        }
        match answer {
            Answer::Silence | Answer::Cancelled => Ok(()),
            Answer::Reply(reply) => {
                self.out.reply(&reply, due)?;
                self.after(&work.method)
            }
        }
    }

    /// What happens once the greeting is said.
    fn after(&self, method: &str) -> io::Result<()> {
        let scripts = &self.server.options.scripts;
        if method != "initialize" && method != "server/discover" {
            return Ok(());
        }
        if scripts.has(Name::CrashLoop) {
            life::end(5);
        }
        if scripts.text(Name::CloseStdout) == Some("init") {
            self.out.close()?;
        }
        if scripts.has(Name::NoRead) {
            wait_for_hang_up()?;
            life::end(0);
        }
        Ok(())
    }
}

/// Learns that stdin was closed without reading from it.
fn wait_for_hang_up() -> io::Result<()> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
    poll(&mut watched, None)?;
    Ok(())
}

/// A request on its way to an answer.
struct Work {
    message: Message,
    method: String,
    id: Value,
    greeted: bool,
    running: Running,
}
