//! `mcparley-bench-target --name NAME --era old|new [--port N]`: a server that is there to be killed.
//!
//! With a port it speaks Streamable HTTP on loopback, otherwise on its standard streams. Either way it ends with
//! its standard input, so none outlives who started it. Every answer of a tool names the server and repeats the
//! caller's token, so that an answer which reaches the wrong caller is seen.
//!
//! | what | where |
//! |---|---|
//! | what a request is answered with | [`answer`] |
//! | how it travels over HTTP, and sessions | [`http`] |

mod answer;
mod http;

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use answer::{Era, Target};
use serde_json::Value;

const USAGE: &str = "usage: mcparley-bench-target --name NAME --era old|new [--port N]";

fn main() -> io::Result<()> {
    let (target, port) = arguments().ok_or_else(|| io::Error::other(USAGE))??;
    match port {
        Some(port) => http::serve(Arc::new(target), port),
        None => serve(&Arc::new(target)),
    }
}

fn arguments() -> Option<io::Result<(Target, Option<u16>)>> {
    let (mut name, mut era, mut port) = (None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next()?;
        match (option.as_str(), value.as_str()) {
            ("--name", _) => name = Some(value),
            ("--era", "old") => era = Some(Era::Old),
            ("--era", "new") => era = Some(Era::New),
            ("--port", _) => match value.parse() {
                Ok(number) => port = Some(number),
                Err(error) => return Some(Err(io::Error::other(error))),
            },
            _ => return None,
        }
    }
    Some(Ok((Target { name: name?, era: era? }, port)))
}

/// Answers on the standard streams. What takes time is done beside the others, as real servers do.
fn serve(target: &Arc<Target>) -> io::Result<()> {
    let output = Arc::new(Mutex::new(io::stdout()));
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let (target, output) = (Arc::clone(target), Arc::clone(&output));
        let is_slow = target.takes_time(&request);
        let reply = move || match target.answer(&request) {
            Some(answer) => {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                output.write_all(format!("{answer}\n").as_bytes())?;
                output.flush()
            }
            None => Ok(()),
        };
        if is_slow {
            // Nobody waits for it: who cannot be answered has gone, and then the input ends too.
            std::thread::spawn(reply);
        } else {
            reply()?;
        }
    }
    Ok(())
}
