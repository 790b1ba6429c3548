//! What happened to one server, for people: its own words and the host's (`mcparley logs`).
//!
//! Bounded in every direction; the newest is kept. In memory always; on disk, where there is a folder for it, only
//! when there is something to tell, so that a call that goes well writes nothing.

mod journal;
mod kept;
mod line;
mod messages;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{LOG_LINE_CHARS, LOG_MESSAGES, LOG_MESSAGES_EVERY};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::{Untrusted, clean, cut, display};
use mcparley_wire::peer::StrayRecord;
use mcparley_wire::transport::stdio::Stderr;
use mcparley_wire::{Failure, RawJson};
use serde::Deserialize;
use serde_json::Value;

use crate::connect::ConnectError;
use crate::redact::Redactor;
use crate::token_bucket::TokenBucket;

pub(crate) use journal::Journal;
pub use journal::read_logs;
use kept::Kept;
pub use line::{LogLine, Speaker};
pub use messages::LogMessage;
pub(crate) use messages::{Level, Messages};

/// How much of a logger's name is kept.
const LOGGER_CHARS: usize = 64;

/// What is known of what happened to a server.
#[derive(Debug)]
pub(crate) struct Log {
    redactor: Redactor,
    journal: Option<Journal>,
    pages: Mutex<Pages>,
    /// How many log messages the server may send.
    rate_limit: TokenBucket,
    /// Who hears them, and whose they are.
    listeners: Option<(ServerName, Messages)>,
}

#[derive(Debug, Default)]
struct Pages {
    lines: Kept,
    /// How many of the newest lines are not on disk yet.
    unwritten: usize,
    /// Whether one of them is worth writing.
    trouble: bool,
    /// Of the process started last, until it is on disk.
    stderr: Option<Stderr>,
    /// The lines on its standard output that are no messages, until they are told.
    strays: Option<StrayRecord>,
    /// The end of the standard error of a process that is gone.
    last_words: Untrusted,
    /// How many log messages were left out since the last that was not.
    left_out: u64,
}

impl Log {
    pub(crate) fn new(config: &ServerConfig, journal: Option<Journal>) -> Self {
        let rate_limit = TokenBucket::new(LOG_MESSAGES, LOG_MESSAGES_EVERY);
        Self { redactor: Redactor::of(config), journal, pages: Mutex::default(), rate_limit, listeners: None }
    }

    /// The same, and others hear what the server says.
    pub(crate) fn heard_as(mut self, server: ServerName, messages: Messages) -> Self {
        self.listeners = Some((server, messages));
        self
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

    /// A log message of the server. One that sends too many is not even read (X8).
    pub(crate) fn message(&self, params: Option<&RawJson>) {
        if !self.rate_limit.take() {
            self.pages().left_out += 1;
            return;
        }
        let Some(line) = params.and_then(|params| self.said(params)) else { return };
        let mut pages = self.pages();
        let left_out = std::mem::take(&mut pages.left_out);
        if left_out > 0 {
            pages.push(Speaker::Host, &format!("{left_out} log messages were left out"));
        }
        pages.add(line.clone());
        pages.trouble = true;
        drop(pages);
        if let Some((server, messages)) = &self.listeners {
            messages.tell(LogMessage { server: server.clone(), line });
        }
    }

    /// What a log message says, cut, and without the server's secrets.
    fn said(&self, params: &RawJson) -> Option<LogLine> {
        #[derive(Deserialize)]
        struct Message {
            #[serde(default)]
            level: Value,
            #[serde(default)]
            logger: Value,
            #[serde(default)]
            data: Value,
        }
        let Message { level, logger, data } = params.decode().ok()?;
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        let word = |value: &Value, chars| value.as_str().map(|word| cut(&clean(word), chars).into_owned());
        let level = word(&level, 16).unwrap_or_else(|| "info".to_owned());
        let logger = word(&logger, LOGGER_CHARS).map(|logger| self.redactor.redact(&logger).into_owned());
        Some(LogLine::new(Speaker::Server { level, logger }, &self.redactor.redact(&text)))
    }

    /// The server could not be reached.
    pub(crate) fn missed(&self, error: &ConnectError) {
        self.trouble(&error.to_string());
        self.tell_strays();
        let mut pages = self.pages();
        let times = pages.stderr.take().map(|stderr| stderr.line_times()).unwrap_or_default();
        pages.last_words = error.stderr.clone();
        drop(pages);
        self.write(error.stderr.raw(), &times);
    }

    /// From now on the standard error of this process counts.
    pub(crate) fn follow_stderr(&self, stderr: Option<Stderr>) {
        if let Some(stderr) = stderr {
            self.pages().stderr = Some(stderr);
        }
    }

    /// From now on the lines of this record count: those on standard output that are no messages.
    pub(crate) fn follow_strays(&self, strays: Option<&StrayRecord>) {
        self.pages().strays = strays.cloned();
    }

    /// Tells how many lines on standard output were no messages, and the first of them, if there were any.
    fn tell_strays(&self) {
        let Some(strays) = self.pages().strays.take() else { return };
        let count = strays.now().noise;
        if count > 0 {
            let first = strays.first().unwrap_or_default();
            let first = self.redactor.redact(first.raw()).into_owned();
            let lines = match count {
                1 => "1 line on stdout that was no MCP message".to_owned(),
                _ => format!("{count} lines on stdout that were no MCP messages"),
            };
            self.trouble(&format!("{lines}; the first: {}", display(&first)));
        }
    }

    /// The process is gone, or about to go: what it said is put away.
    pub(crate) fn close(&self) {
        self.tell_strays();
        let gone = self.pages().stderr.take();
        let times = gone.as_ref().map(Stderr::line_times).unwrap_or_default();
        let said = gone.map(|stderr| self.redactor.redact(&stderr.text()).into_owned()).unwrap_or_default();
        if !said.is_empty() {
            self.pages().last_words = Untrusted::new(said.clone());
        }
        self.write(&said, &times);
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
        self.pages().lines.from(0).collect()
    }

    /// Writes down what is new, and the lines of standard error with the times they were read.
    fn write(&self, stderr: &str, times: &[SystemTime]) {
        let mut pages = self.pages();
        if !pages.trouble && stderr.trim().is_empty() {
            return;
        }
        let old = pages.lines.len().saturating_sub(pages.unwritten);
        let mut lines: Vec<LogLine> = pages.lines.from(old).collect();
        lines.extend(stderr.lines().enumerate().map(|(index, line)| {
            let line = LogLine::new(Speaker::Stderr, line);
            let at = times.get(index).or(times.last()).copied().unwrap_or(line.at);
            LogLine { at, ..line }
        }));
        lines.sort_by_key(|line| line.at);
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
        self.add(LogLine::new(from, text));
    }

    fn add(&mut self, line: LogLine) {
        self.lines.add(line);
        self.unwritten = (self.unwritten + 1).min(self.lines.len());
    }
}

impl LogLine {
    fn new(from: Speaker, text: &str) -> Self {
        Self { at: SystemTime::now(), from, text: Untrusted::new(cut(text, LOG_LINE_CHARS)) }
    }
}
