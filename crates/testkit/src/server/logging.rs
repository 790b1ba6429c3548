//! What the server says in its log, as much as its client wants to hear.

use super::{Era, Outcome, Refusal, Request};
use serde_json::{Value, json};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const WANTED: &str = "io.modelcontextprotocol/logLevel";

/// The least important level that the client of the old era wants to hear.
#[derive(Debug, Default)]
pub(crate) struct Logging(AtomicUsize);

impl Logging {
    /// Takes `logging/setLevel`.
    pub(super) fn set(&self, request: &Request<'_>) -> Outcome {
        match request.message.text("level").and_then(place) {
            Some(place) => {
                self.0.store(place, Ordering::Relaxed);
                Outcome::Result(json!({}))
            }
            None => Outcome::Refused(Refusal::params("no such level")),
        }
    }

    /// Says one thing of each level that is wanted; the new era says with each request what is.
    pub(super) fn say(&self, request: &Request<'_>, era: Era) -> io::Result<()> {
        let wanted = match era {
            Era::Old => Some(self.0.load(Ordering::Relaxed)),
            Era::New => request.message.meta(WANTED).and_then(Value::as_str).and_then(place),
        };
        for level in LEVELS.iter().skip(wanted.unwrap_or(LEVELS.len())) {
            let params = json!({ "level": level, "logger": "kit", "data": { "said": format!("a {level}") } });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
            request.out.send(format!("{note}\n").as_bytes())?;
        }
        Ok(())
    }
}

fn place(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}
