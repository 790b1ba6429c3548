//! `mcparley-bench-target --name NAME --era old|new [--port N] [--canceled FILE]`: a server that the soak test kills.
//!
//! With a port it speaks Streamable HTTP on loopback, otherwise MCP on its standard streams. Either way it
//! exits at the end of its standard input, so that it never outlives its parent. Every tool result names the
//! server and repeats the caller's token, so that an answer which reaches the wrong caller is noticed. On standard
//! streams it appends a line to a file for each call that is canceled, if one is named.
//!
//! | part | module |
//! |---|---|
//! | the answers to requests | [`answer`] |
//! | HTTP transport and sessions | [`http`] |

mod answer;
mod http;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use answer::{SoakServer, TargetEra};
use serde_json::Value;

const USAGE: &str = "usage: mcparley-bench-target --name NAME --era old|new [--port N] [--canceled FILE]";

fn main() -> io::Result<()> {
    let TargetOptions { target, port, canceled } =
        parse_arguments().ok_or_else(|| io::Error::other(USAGE))??;
    match port {
        Some(port) => http::serve_http(Arc::new(target), port),
        None => serve_stdio(&Arc::new(target), canceled.as_deref()),
    }
}

/// The command line.
struct TargetOptions {
    target: SoakServer,
    port: Option<u16>,
    /// The file with a line for each canceled call.
    canceled: Option<PathBuf>,
}

fn parse_arguments() -> Option<io::Result<TargetOptions>> {
    let (mut name, mut era, mut port, mut canceled) = (None, None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next()?;
        match (option.as_str(), value.as_str()) {
            ("--name", _) => name = Some(value),
            ("--canceled", _) => canceled = Some(PathBuf::from(value)),
            ("--era", "old") => era = Some(TargetEra::Old),
            ("--era", "new") => era = Some(TargetEra::New),
            ("--port", _) => match value.parse() {
                Ok(number) => port = Some(number),
                Err(error) => return Some(Err(io::Error::other(error))),
            },
            _ => return None,
        }
    }
    Some(Ok(TargetOptions { target: SoakServer { name: name?, era: era? }, port, canceled }))
}

/// Serves on the standard streams. Slow requests run on their own threads, as in real servers.
fn serve_stdio(target: &Arc<SoakServer>, canceled: Option<&Path>) -> io::Result<()> {
    let output = Arc::new(Mutex::new(io::stdout()));
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let is_canceled = request.get("method").and_then(Value::as_str) == Some("notifications/cancelled");
        if let (Some(path), true) = (canceled, is_canceled) {
            std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(b"canceled\n")?;
        }
        let (target, output) = (Arc::clone(target), Arc::clone(&output));
        let is_slow = target.is_slow(&request);
        let reply = move || match target.answer_request(&request) {
            Some(answer) => {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                output.write_all(format!("{answer}\n").as_bytes())?;
                output.flush()
            }
            None => Ok(()),
        };
        if is_slow {
            // The thread is not joined: if the answer cannot be written, the parent has exited and the input
            // ends too.
            std::thread::spawn(reply);
        } else {
            reply()?;
        }
    }
    Ok(())
}
