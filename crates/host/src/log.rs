//! What happened to one server, for people: its own words and the host's (`mcparley logs`).
//!
//! Bounded in every direction; the newest is kept.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use mcparley_model::limits::{LOG_LINE_CHARS, LOG_LINES};
use mcparley_model::text::{Untrusted, cut};
use mcparley_wire::RawJson;
use mcparley_wire::transport::stdio::Stderr;
use serde::Deserialize;
use serde_json::Value;

use crate::connect::{ConnectError, Link};

/// One line of a server's log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogLine {
    /// When.
    pub at: SystemTime,
    /// Who said it.
    pub from: Speaker,
    /// What was said.
    pub text: Untrusted,
}

/// Who said a line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Speaker {
    /// The host.
    Host,
    /// The server, by a log message of the given level.
    Server {
        /// `debug` … `emergency`, as the server says.
        level: String,
    },
}

/// What is known of what happened.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Mutex<VecDeque<LogLine>>,
    /// Of the process started last.
    stderr: Mutex<Option<Stderr>>,
    /// Of a process that never answered.
    last_words: Mutex<Untrusted>,
}

impl Log {
    /// Something the host noticed.
    pub(crate) fn event(&self, text: &str) {
        self.push(Speaker::Host, text);
    }

    /// A log message of the server.
    pub(crate) fn message(&self, params: Option<&RawJson>) {
        #[derive(Deserialize)]
        struct Message {
            #[serde(default)]
            level: Option<String>,
            #[serde(default)]
            data: Value,
        }
        let Some(Ok(Message { level, data })) = params.map(RawJson::decode) else { return };
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        let level = level.unwrap_or_else(|| "info".to_owned());
        self.push(Speaker::Server { level: cut(&level, 16).into_owned() }, &text);
    }

    /// The server could not be reached.
    pub(crate) fn missed(&self, error: &ConnectError) {
        self.event(&error.to_string());
        *self.last_words.lock().unwrap_or_else(PoisonError::into_inner) = error.stderr.clone();
    }

    /// From now on the standard error of this connection's process counts.
    pub(crate) fn follow(&self, link: &Link) {
        if let Link::Local(stdio) = link {
            *self.stderr.lock().unwrap_or_else(PoisonError::into_inner) = Some(stdio.stderr());
        }
    }

    /// The end of what the server wrote to its standard error.
    pub(crate) fn stderr(&self) -> Untrusted {
        match self.stderr.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(stderr) => Untrusted::new(stderr.text()),
            None => self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// What was said, the oldest first.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn push(&self, from: Speaker, text: &str) {
        let text = Untrusted::new(cut(text, LOG_LINE_CHARS));
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LOG_LINES {
            lines.pop_front();
        }
        lines.push_back(LogLine { at: SystemTime::now(), from, text });
    }
}
