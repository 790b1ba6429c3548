//! The log messages of the server, by the level its client asked for.

use super::{Request, RequestEra, RpcRefusal, ServerOutcome};
use serde_json::{Value, json};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const WANTED: &str = "io.modelcontextprotocol/logLevel";

/// The minimum log level, as set by the client of the old era.
#[derive(Debug, Default)]
pub(crate) struct ServerLogging(AtomicUsize);

impl ServerLogging {
    /// Handles `logging/setLevel`.
    pub(super) fn set_level(&self, request: &Request<'_>) -> ServerOutcome {
        match request.message.text("level").and_then(level_index) {
            Some(place) => {
                self.0.store(place, Ordering::Relaxed);
                ServerOutcome::Result(json!({}))
            }
            None => ServerOutcome::Refused(RpcRefusal::invalid_params("no such level")),
        }
    }

    /// Sends one message of each enabled level; in the new era each request states its level.
    pub(super) fn send_messages(&self, request: &Request<'_>, era: RequestEra) -> io::Result<()> {
        let wanted = match era {
            RequestEra::Old => Some(self.0.load(Ordering::Relaxed)),
            RequestEra::New => request.message.meta(WANTED).and_then(Value::as_str).and_then(level_index),
        };
        for level in LEVELS.iter().skip(wanted.unwrap_or(LEVELS.len())) {
            let params = json!({ "level": level, "logger": "kit", "data": { "said": format!("a {level}") } });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
            request.out.send_lines(format!("{note}\n").as_bytes())?;
        }
        Ok(())
    }
}

fn level_index(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}
