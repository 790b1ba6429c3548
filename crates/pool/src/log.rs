//! The log of one server, for the user: lines of the server and of the host (`mcparley logs`).
//!
//! Bounded in every direction; the newest lines are kept. The log is always in memory. It is written to disk,
//! if there is a log folder, only after trouble or output of the server, so that a successful call writes no
//! file.

mod follower;
mod journal;
mod level_gate;
mod line;
mod messages;
mod reader;
mod ring_buffer;

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{
    LOG_LINE_CHARS, LOG_MESSAGE_BYTES, LOG_MESSAGES, LOG_MESSAGES_EVERY, LOG_WRITE_DELAY,
};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::{Untrusted, clean_text, display_line, truncate_text};
use mcparley_wire::peer::StrayRecord;
use mcparley_wire::transport::stdio::{Stderr, StderrLines};
use mcparley_wire::{Failure, RawJson};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::connect_error::ConnectError;
use crate::principal::PrincipalId;
use crate::redact::Redactor;
use crate::token_bucket::TokenBucket;

pub use follower::LogFollower;
pub use journal::LogFile;
pub use journal::{StoredLog, read_logs, read_stored_logs};
pub(crate) use level_gate::LogLevelGate;
pub use line::{LogLine, LogSource};
pub use messages::LogMessage;
pub use messages::{LogChannel, ServerLogLevel};
pub use reader::LogReader;
use ring_buffer::LogRing;

/// The number of characters of a logger's name that are kept.
const LOGGER_CHARS: usize = 64;

/// The log of one server, redacted and rate limited.
#[derive(Debug)]
pub struct ServerLog {
    redactor: Redactor,
    journal: Option<LogFile>,
    pages: Mutex<LogBuffer>,
    /// Rate limit for the server's log messages.
    rate_limit: TokenBucket,
    /// Notified when a line arrives that is worth writing to disk.
    arrived: Notify,
    /// The server's name and the channel to the listeners of its log messages.
    listeners: Option<(ServerName, LogChannel)>,
}

/// The buffered state of a log.
#[derive(Debug, Default)]
struct LogBuffer {
    lines: LogRing,
    /// The number of newest lines that are not on disk yet.
    unwritten: usize,
    /// Whether one of them is worth writing to disk.
    trouble: bool,
    /// Standard error of the process started last, until it is on disk.
    stderr: Option<Stderr>,
    /// The position in standard error up to which it is on disk.
    stderr_end: u64,
    /// The lines on its standard output that are not MCP messages, until they are logged.
    strays: Option<StrayRecord>,
    /// The end of the standard error of a process that has exited.
    last_words: Untrusted,
    /// The number of log messages dropped by the rate limit since the last accepted one.
    left_out: u64,
}

impl ServerLog {
    /// The log of the server of this entry.
    pub fn new(config: &ServerConfig, journal: Option<LogFile>) -> Self {
        let rate_limit = TokenBucket::new(LOG_MESSAGES, LOG_MESSAGES_EVERY);
        Self {
            redactor: Redactor::from_config(config),
            journal,
            pages: Mutex::default(),
            rate_limit,
            arrived: Notify::new(),
            listeners: None,
        }
    }

    /// This log with a channel that forwards the server's log messages to listeners.
    pub fn with_listeners(mut self, server: ServerName, messages: LogChannel) -> Self {
        self.listeners = Some((server, messages));
        self
    }

    /// Logs a normal event of the host.
    pub fn add_event(&self, text: &str) {
        self.lock_buffer().push_text(LogSource::Host, text);
    }

    /// Logs trouble noticed by the host, which makes the log worth writing to disk.
    pub fn add_trouble(&self, text: &str) {
        let mut pages = self.lock_buffer();
        pages.push_text(LogSource::Host, text);
        pages.trouble = true;
        self.arrived.notify_one();
    }

    /// Logs that these tools have changed since the user accepted them.
    pub fn add_changed_tools(&self, tools: &[ToolName]) {
        for tool in tools {
            let tool = display_line(tool.as_str());
            self.add_trouble(&format!("tool `{tool}` has changed since it was first seen or last reviewed"));
        }
    }

    /// Logs a log message of the server; `principal` finds the principal it belongs to, for listeners, which
    /// do not get a message without it. Messages over the
    /// rate limit are dropped without being parsed.
    pub fn add_message(
        &self,
        params: Option<&RawJson>,
        principal: Option<impl FnOnce() -> Option<PrincipalId>>,
    ) {
        if !self.rate_limit.try_take() {
            self.lock_buffer().left_out += 1;
            return;
        }
        let Some((params, line)) = params.and_then(|params| Some((params, self.parse_message(params)?)))
        else {
            return;
        };
        let mut pages = self.lock_buffer();
        let left_out = std::mem::take(&mut pages.left_out);
        if left_out > 0 {
            pages.push_text(LogSource::Host, &format!("{left_out} log messages were dropped"));
        }
        pages.push_line(line.clone());
        pages.trouble = true;
        drop(pages);
        self.arrived.notify_one();
        if let (Some((server, messages)), Some(principal)) = (&self.listeners, principal) {
            let Some(params) = self.listener_params(params, &line) else { return };
            messages.send_message(LogMessage {
                server: server.clone(),
                principal: principal(),
                line,
                params,
            });
        }
    }

    /// The parameters of a log message for listeners: as the server wrote them, without its secrets.
    fn listener_params(&self, params: &RawJson, line: &LogLine) -> Option<RawJson> {
        if params.as_bytes().len() > LOG_MESSAGE_BYTES {
            let LogSource::Server { level, logger } = &line.from else { return None };
            let text = line.text.clean_text();
            return RawJson::from_value(&json!({ "level": level, "logger": logger, "data": text })).ok();
        }
        match self.redactor.redact(params.as_str()) {
            Cow::Borrowed(_) => Some(params.clone()),
            Cow::Owned(text) => RawJson::parse(&text).ok(),
        }
    }

    /// Parses a log message: shortened and redacted.
    fn parse_message(&self, params: &RawJson) -> Option<LogLine> {
        #[derive(Deserialize)]
        struct LogParams {
            #[serde(default)]
            level: Value,
            #[serde(default)]
            logger: Value,
            #[serde(default)]
            data: Value,
        }
        let LogParams { level, logger, data } = params.decode().ok()?;
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        let word = |value: &Value, chars| {
            value.as_str().map(|word| truncate_text(&clean_text(word), chars).into_owned())
        };
        let level = word(&level, 16).unwrap_or_else(|| "info".to_owned());
        let logger = word(&logger, LOGGER_CHARS).map(|logger| self.redactor.redact(&logger).into_owned());
        Some(LogLine::new(LogSource::Server { level, logger }, &self.redactor.redact(&text)))
    }

    /// Logs a failed connection attempt with the server's standard error.
    pub fn add_connect_failure(&self, error: &ConnectError) {
        self.add_trouble(&error.to_string());
        self.add_stray_lines();
        let mut pages = self.lock_buffer();
        let times = pages.stderr.take().map(|stderr| stderr.line_times()).unwrap_or_default();
        pages.last_words = error.stderr.clone();
        drop(pages);
        self.write_lines(error.stderr.raw(), &times);
    }

    /// Follows the standard error of a new process.
    pub fn follow_stderr(&self, stderr: Option<Stderr>) {
        if let Some(stderr) = stderr {
            let mut pages = self.lock_buffer();
            (pages.stderr, pages.stderr_end) = (Some(stderr), 0);
        }
    }

    /// Whether the log has a file.
    pub fn is_on_disk(&self) -> bool {
        self.journal.is_some()
    }

    /// Writes new lines to disk while the server runs, some time after each, for those who follow the log.
    pub async fn write_continuously(self: Arc<Self>) -> Infallible {
        loop {
            let stderr = self.lock_buffer().stderr.clone();
            match stderr {
                None => self.arrived.notified().await,
                Some(stderr) => tokio::select! {
                    () = stderr.wait_for_bytes() => {}
                    () = self.arrived.notified() => {}
                },
            }
            tokio::time::sleep(LOG_WRITE_DELAY).await;
            let log = Arc::clone(&self);
            // A failed thread loses nothing: the lines are written with the next ones.
            let _written = mcparley_platform::thread::run_blocking(move || log.write_new_lines()).await;
        }
    }

    fn write_new_lines(&self) {
        let mut pages = self.lock_buffer();
        let end = pages.stderr_end;
        let fresh = pages.stderr.as_ref().map(|stderr| stderr.lines_after(end)).unwrap_or_default();
        let is_logged_elsewhere = pages.stderr.as_ref().is_some_and(Stderr::is_logged_elsewhere);
        pages.stderr_end = fresh.end.max(end);
        drop(pages);
        self.write_stderr_lines(fresh.lines, is_logged_elsewhere);
    }

    fn write_stderr_lines(&self, mut lines: Vec<(SystemTime, String)>, is_logged_elsewhere: bool) {
        if is_logged_elsewhere {
            lines.clear();
        }
        let (times, texts): (Vec<SystemTime>, Vec<String>) = lines.into_iter().unzip();
        self.write_lines(&self.redactor.redact(&texts.join("\n")), &times);
    }

    /// Follows the stray lines (not MCP messages) on standard output of a new process.
    pub fn follow_strays(&self, strays: Option<&StrayRecord>) {
        self.lock_buffer().strays = strays.cloned();
    }

    /// Logs the number of stray lines on standard output and the first of them, if there were any.
    fn add_stray_lines(&self) {
        let Some(strays) = self.lock_buffer().strays.take() else { return };
        let count = strays.counts().noise;
        if count > 0 {
            let first = strays.first_line().unwrap_or_default();
            let first = self.redactor.redact(first.raw()).into_owned();
            let lines = match count {
                1 => "1 line on stdout that is not an MCP message".to_owned(),
                _ => format!("{count} lines on stdout that are not MCP messages"),
            };
            self.add_trouble(&format!("{lines}; the first: {}", display_line(&first)));
        }
    }

    /// Writes the log to disk, because the process has exited or is about to.
    pub fn close(&self) {
        self.add_stray_lines();
        let mut pages = self.lock_buffer();
        let (gone, end) = (pages.stderr.take(), std::mem::take(&mut pages.stderr_end));
        let tail = gone.as_ref().map(|stderr| self.redactor.redact(&stderr.text()).into_owned());
        if let Some(tail) = tail.filter(|tail| !tail.is_empty()) {
            pages.last_words = Untrusted::new(tail);
        }
        drop(pages);
        let is_logged_elsewhere = gone.as_ref().is_some_and(Stderr::is_logged_elsewhere);
        let StderrLines { mut lines, unfinished, .. } =
            gone.map(|stderr| stderr.lines_after(end)).unwrap_or_default();
        lines.extend(unfinished);
        self.write_stderr_lines(lines, is_logged_elsewhere);
    }

    /// The end of the server's standard error, redacted.
    pub fn stderr(&self) -> Untrusted {
        let pages = self.lock_buffer();
        match &pages.stderr {
            Some(stderr) => Untrusted::new(self.redactor.redact(&stderr.text())),
            None => pages.last_words.clone(),
        }
    }

    /// Redacts the server's secrets in a failure.
    pub fn redact_failure(&self, failure: Failure) -> Failure {
        self.redactor.redact_failure(failure)
    }

    /// Redacts the server's secrets in its text.
    pub fn redact_text(&self, text: &str) -> Untrusted {
        Untrusted::new(self.redactor.redact(text))
    }

    /// The log lines, oldest first.
    pub fn lines(&self) -> Vec<LogLine> {
        self.lock_buffer().lines.lines_from(0).collect()
    }

    /// Writes the new lines to disk, and the lines of standard error with the times at which they were read.
    fn write_lines(&self, stderr: &str, times: &[SystemTime]) {
        let mut pages = self.lock_buffer();
        if !pages.trouble && stderr.trim().is_empty() {
            return;
        }
        let old = pages.lines.len().saturating_sub(pages.unwritten);
        let mut lines: Vec<LogLine> = pages.lines.lines_from(old).collect();
        lines.extend(stderr.lines().enumerate().map(|(index, line)| {
            let line = LogLine::new(LogSource::Stderr, line);
            let at = times.get(index).or(times.last()).copied().unwrap_or(line.at);
            LogLine { at, ..line }
        }));
        lines.sort_by_key(|line| line.at);
        (pages.unwritten, pages.trouble) = (0, false);
        drop(pages);
        if let Some(journal) = &self.journal {
            journal.append_lines(&lines);
        }
    }

    fn lock_buffer(&self) -> MutexGuard<'_, LogBuffer> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogBuffer {
    fn push_text(&mut self, from: LogSource, text: &str) {
        self.push_line(LogLine::new(from, text));
    }

    fn push_line(&mut self, line: LogLine) {
        self.lines.push(line);
        self.unwritten = (self.unwritten + 1).min(self.lines.len());
    }
}

impl LogLine {
    fn new(from: LogSource, text: &str) -> Self {
        Self { at: SystemTime::now(), from, text: Untrusted::new(truncate_text(text, LOG_LINE_CHARS)) }
    }
}
