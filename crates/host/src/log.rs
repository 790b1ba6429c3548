//! What happened to one server, for people: its own words and the host's (`mcparley logs`).
//!
//! Bounded in every direction; the newest is kept. In memory always; on disk, where there is a folder for it, only
//! when there is something to tell, so that a call that goes well writes nothing.

mod journal;
mod line;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{LOG_LINE_CHARS, LOG_LINES};
use mcparley_model::name::ToolName;
use mcparley_model::text::{Untrusted, cut, display};
use mcparley_wire::transport::stdio::Stderr;
use mcparley_wire::{Failure, RawJson};
use serde::Deserialize;
use serde_json::Value;

use crate::connect::{ConnectError, Link};
use crate::redact::Redactor;

pub(crate) use journal::Journal;
pub use journal::read_logs;
pub use line::{LogLine, Speaker};

/// What is known of what happened to a server.
#[derive(Debug)]
pub(crate) struct Log {
    redactor: Redactor,
    journal: Option<Journal>,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    lines: VecDeque<LogLine>,
    /// How many of the newest lines are not on disk yet.
    unwritten: usize,
    /// Whether one of them is worth writing.
    trouble: bool,
    /// Of the process started last, until it is on disk.
    stderr: Option<Stderr>,
    /// The end of the standard error of a process that is gone.
    last_words: Untrusted,
}

impl Log {
    pub(crate) fn new(config: &ServerConfig, journal: Option<Journal>) -> Self {
        Self { redactor: Redactor::of(config), journal, pages: Mutex::default() }
    }

    /// Something the host noticed that is as it should be.
    pub(crate) fn event(&self, text: &str) {
        self.pages().push(Speaker::Host, text);
    }

    /// Something the host noticed that is not.
    pub(crate) fn trouble(&self, text: &str) {
        let mut pages = self.pages();
        pages.push(Speaker::Host, text);
        pages.trouble = true;
    }

    /// These tools have changed since somebody accepted them (H09).
    pub(crate) fn changed(&self, tools: &[ToolName]) {
        for tool in tools {
            let tool = display(tool.as_str());
            self.trouble(&format!("tool `{tool}` has changed since it was first seen or last reviewed"));
        }
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
        let mut pages = self.pages();
        pages.push(Speaker::Server { level: cut(&level, 16).into_owned() }, &self.redactor.redact(&text));
        pages.trouble = true;
    }

    /// The server could not be reached.
    pub(crate) fn missed(&self, error: &ConnectError) {
        self.trouble(&error.to_string());
        let mut pages = self.pages();
        pages.stderr = None;
        pages.last_words = error.stderr.clone();
        drop(pages);
        self.write(error.stderr.raw());
    }

    /// From now on the standard error of this connection's process counts.
    pub(crate) fn follow(&self, link: &Link) {
        if let Some(stderr) = link.stderr() {
            self.pages().stderr = Some(stderr);
        }
    }

    /// The process is gone, or about to go: what it said is put away.
    pub(crate) fn close(&self) {
        let gone = self.pages().stderr.take();
        let said = gone.map(|stderr| self.redactor.redact(&stderr.text()).into_owned()).unwrap_or_default();
        if !said.is_empty() {
            self.pages().last_words = Untrusted::new(said.clone());
        }
        self.write(&said);
    }

    /// The end of what the server wrote to its standard error, without its secrets.
    pub(crate) fn stderr(&self) -> Untrusted {
        let pages = self.pages();
        match &pages.stderr {
            Some(stderr) => Untrusted::new(self.redactor.redact(&stderr.text())),
            None => pages.last_words.clone(),
        }
    }

    /// A failure as it may be told: without the server's secrets.
    pub(crate) fn tellable(&self, failure: Failure) -> Failure {
        self.redactor.failure(failure)
    }

    /// What the server said as it may be told: without its secrets.
    pub(crate) fn tellable_text(&self, text: &str) -> Untrusted {
        Untrusted::new(self.redactor.redact(text))
    }

    /// What was said, the oldest first.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.pages().lines.iter().cloned().collect()
    }

    fn write(&self, stderr: &str) {
        let mut pages = self.pages();
        if !pages.trouble && stderr.trim().is_empty() {
            return;
        }
        let old = pages.lines.len().saturating_sub(pages.unwritten);
        let mut lines: Vec<LogLine> = pages.lines.iter().skip(old).cloned().collect();
        lines.extend(stderr.lines().map(|line| LogLine::new(Speaker::Stderr, line)));
        (pages.unwritten, pages.trouble) = (0, false);
        drop(pages);
        if let Some(journal) = &self.journal {
            journal.write(&lines);
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn push(&mut self, from: Speaker, text: &str) {
        if self.lines.len() >= LOG_LINES {
            self.lines.pop_front();
        }
        self.unwritten = (self.unwritten + 1).min(LOG_LINES);
        self.lines.push_back(LogLine::new(from, text));
    }
}

impl LogLine {
    fn new(from: Speaker, text: &str) -> Self {
        Self { at: SystemTime::now(), from, text: Untrusted::new(cut(text, LOG_LINE_CHARS)) }
    }
}
