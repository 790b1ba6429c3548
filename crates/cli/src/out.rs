//! Writes data to stdout and messages to stderr, and strips control sequences of untrusted text on a
//! terminal.

use std::io::Write;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use mcparley::config::ConfigProblem;
use mcparley::config::plan::PlanStatus;
use mcparley::model::text::{display_block, display_json, display_line};
use mcparley::pool::health::CheckedServer;
use mcparley_console::dialog::{SharedTerminal, TerminalDialogs};
use mcparley_report::TableTerminal;
use serde::Serialize;
use serde_json::json;

use crate::args::GlobalOptions;
use crate::context;
use crate::error::{CommandError, with_sources};
use crate::exit::{self, NamedExitCode};
use crate::progress::ProgressLine;
use mcparley_diagnosis::{FindingWeight, HealthVerdict};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// The output of a command: data on stdout, messages and the progress line on stderr.
pub(crate) struct TerminalOutput {
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    data: std::io::StdoutLock<'static>,
    /// Whether data may have colors.
    colors: bool,
    talk: AutoStream<std::io::Stderr>,
    /// The terminal, which the progress line shares with dialogs.
    terminal: SharedTerminal,
    /// The progress line, while one is shown.
    progress: Option<ProgressLine>,
    /// Whether stdout is a terminal.
    is_terminal: bool,
    /// The first write error, reported when the command finishes.
    write_error: Option<std::io::Error>,
}

impl TerminalOutput {
    pub(crate) fn new(global: &GlobalOptions) -> Self {
        let stdout = std::io::stdout().lock();
        let stderr = std::io::stderr();
        let choice = if global.json { ColorChoice::Never } else { AutoStream::choice(&stdout) };
        let talk = AutoStream::choice(&stderr);
        Self {
            json: global.json,
            verbose: global.verbose,
            data: stdout,
            colors: choice != ColorChoice::Never,
            talk: AutoStream::new(stderr, talk),
            terminal: SharedTerminal::default(),
            progress: None,
            is_terminal: context::stdout_is_terminal(),
            write_error: None,
        }
    }

    /// Prints one line of data.
    pub(crate) fn print_line(&mut self, line: impl AsRef<str>) {
        let Self { data, progress, colors, .. } = self;
        // Colors are stripped before writing: a stripping stream would split the line into many writes.
        let text = match colors {
            true => format!("{}\n", line.as_ref()),
            false => format!("{}\n", anstream::adapter::strip_str(line.as_ref())),
        };
        let written = without_progress(progress.as_ref(), || data.write_all(text.as_bytes()));
        self.record_write(written);
    }

    /// Prints several lines of data that mcparley itself produced.
    pub(crate) fn print_text(&mut self, text: &str) {
        self.print_line(text.trim_end_matches('\n'));
    }

    /// Prints untrusted text: unchanged through a pipe, without control sequences on a terminal. Adds a line
    /// end if the text has none.
    pub(crate) fn print_untrusted(&mut self, text: &str) {
        let shown = if self.is_terminal { display_block(text) } else { text.into() };
        self.print_bytes(shown.as_bytes());
        if !text.ends_with('\n') {
            self.print_bytes(b"\n");
        }
    }

    /// Whether a person reads the data as text: stdout is a terminal, and `--json` was not given.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal && !self.json
    }

    /// The width that lines should fit into; `None` if stdout is no terminal and `COLUMNS` is not set.
    pub(crate) fn columns(&self) -> Option<usize> {
        context::stdout_columns().filter(|columns| *columns > 0)
    }

    /// Prints a piece of untrusted text like [`Self::print_untrusted`], without a line end, and flushes it.
    pub(crate) fn print_untrusted_piece(&mut self, text: &str) {
        let shown = if self.is_terminal { display_block(text) } else { text.into() };
        self.print_bytes(shown.as_bytes());
        let flushed = self.data.flush();
        self.record_write(flushed);
    }

    /// The terminal that tables are made for.
    pub(crate) fn table_terminal(&self) -> TableTerminal {
        TableTerminal { columns: self.columns(), has_colors: self.has_colors() }
    }

    /// Whether data may have colors, for callers that print bytes.
    pub(crate) fn has_colors(&self) -> bool {
        self.colors
    }

    /// Prints bytes unchanged.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) {
        // Not through the color-stripping stream, which would change foreign bytes. This thread already holds
        // the lock.
        let written = without_progress(self.progress.as_ref(), || std::io::stdout().lock().write_all(bytes));
        self.record_write(written);
    }

    /// Prints a report as JSON.
    pub(crate) fn print_json(&mut self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(json) => self.print_line(display_json(&json)),
            Err(error) => self.record_write(Err(error.into())),
        }
    }

    /// Prints a value as one line of JSON and flushes it, for programs that read while the command still
    /// runs.
    pub(crate) fn print_json_line(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(json) => self.print_line(display_json(&json)),
            Err(error) => self.record_write(Err(error.into())),
        }
        let flushed = self.data.flush();
        self.record_write(flushed);
    }

    /// Prints one message line to stderr.
    pub(crate) fn print_message(&mut self, line: impl AsRef<str>) {
        let Self { talk, progress, .. } = self;
        let written = without_progress(progress.as_ref(), || writeln!(talk, "{}", line.as_ref()));
        self.record_write(written);
    }

    /// Shows the progress line with this text, if stderr is a terminal.
    pub(crate) fn show_waiting(&mut self, text: &str) {
        match &self.progress {
            Some(progress) => progress.set_text(text),
            None if context::stderr_can_move() => {
                self.progress = Some(ProgressLine::start(text, &self.terminal));
            }
            None => {}
        }
    }

    /// The dialogs for the user; `None` in scripts, with `--json`, and on a terminal that cannot redraw lines.
    pub(crate) fn dialogs(&self) -> Option<TerminalDialogs> {
        let is_possible = !self.json && context::is_interactive() && context::stderr_can_move();
        let colors = self.talk.current_choice() != ColorChoice::Never;
        is_possible.then(|| TerminalDialogs::new(self.terminal.clone(), context::user_browser(), colors))
    }

    /// Whether a dialog is on the screen, which printed lines would tear.
    pub(crate) fn has_dialog(&self) -> bool {
        !self.terminal.is_free()
    }

    /// Whether a progress line is shown.
    pub(crate) fn is_waiting(&self) -> bool {
        self.progress.is_some()
    }

    /// Removes the progress line.
    pub(crate) fn stop_waiting(&mut self) {
        self.progress = None;
    }

    /// Prints a hint to stderr.
    pub(crate) fn hint(&mut self, hint: &str) {
        self.print_message(format!("{DIM}hint:{DIM:#} {}", display_line(hint)));
    }

    /// Prints a warning to stderr.
    pub(crate) fn warn(&mut self, warning: &str) {
        self.print_message(format!("{YELLOW}warning:{YELLOW:#} {}", display_line(warning)));
    }

    /// Prints a dimmed remark about the data to stderr.
    pub(crate) fn print_remark(&mut self, remark: &str) {
        self.print_message(dim(remark));
    }

    /// Prints an error message to stderr.
    pub(crate) fn print_error(&mut self, message: &str) {
        self.print_message(format!("{RED}error:{RED:#} {}", display_line(message)));
    }

    /// Prints a configuration source that could not be used, with its hint.
    pub(crate) fn report_problem(&mut self, problem: &ConfigProblem) {
        self.print_error(&problem.to_string());
        if let Some(hint) = &problem.hint {
            self.hint(hint);
        }
    }

    /// Prints the error that ended a command, and returns its exit code.
    pub(crate) fn report_error(&mut self, error: &CommandError) -> NamedExitCode {
        let code = error.exit_code();
        if self.json {
            let hint = error.hint();
            let mut value = json!({
                "error": { "code": code.name, "exit": code.number, "message": error.to_string(), "hint": hint }
            });
            if let Some(pending) = error.pending_sign_in() {
                value["pendingAuth"] = json!([pending]);
            }
            self.print_json(&value);
            return code;
        }
        self.print_error(&with_sources(error));
        if let Some(hint) = error.hint() {
            self.hint(&hint);
        }
        code
    }

    /// Flushes the data and returns the exit code. A closed pipe is no error: the reader may stop early, as
    /// `head` does.
    pub(crate) fn finish(mut self, code: NamedExitCode) -> ExitCode {
        let flushed = self.data.flush();
        self.record_write(flushed);
        let Some(error) = self.write_error.take() else { return code.into() };
        self.print_error(&format!("could not write all output: {error}"));
        if code == exit::OK { exit::FAILED.into() } else { code.into() }
    }

    fn record_write(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            self.write_error.get_or_insert(error);
        }
    }
}

/// Prints while the progress line is hidden.
fn without_progress<T>(progress: Option<&ProgressLine>, print: impl FnOnce() -> T) -> T {
    match progress {
        Some(progress) => progress.hide_while(print),
        None => print(),
    }
}

/// Bold text, without control sequences.
pub(crate) fn bold(text: &str) -> String {
    format!("{BOLD}{}{BOLD:#}", display_line(text))
}

/// Dimmed text, without control sequences.
pub(crate) fn dim(text: &str) -> String {
    format!("{DIM}{}{DIM:#}", display_line(text))
}

/// The health of a server in green or red.
pub(crate) fn color_health(checked: &CheckedServer, summary: &str) -> String {
    let style = if checked.is_usable() { GREEN } else { RED };
    format!("{style}{}{style:#}", display_line(summary))
}

/// A text about a server in the color of its verdict.
pub(crate) fn color_verdict(verdict: HealthVerdict, words: &str) -> String {
    let style = match verdict {
        HealthVerdict::Works => GREEN,
        HealthVerdict::Flawed => YELLOW,
        HealthVerdict::Broken => RED,
        HealthVerdict::Resting => DIM,
    };
    format!("{style}{}{style:#}", display_line(words))
}

/// The word for the weight of a finding in its color.
pub(crate) fn color_weight(weight: FindingWeight) -> String {
    let (style, word) = match weight {
        FindingWeight::Error => (RED, "error"),
        FindingWeight::Warning => (YELLOW, "warning"),
        FindingWeight::Note => (DIM, "note"),
    };
    format!("{style}{word}:{style:#}")
}

/// A plan status in its color, padded to `width`.
pub(crate) fn color_status(standing: &PlanStatus, width: usize) -> String {
    let style = match standing {
        PlanStatus::Ready => GREEN,
        PlanStatus::NeedsApproval(_) => YELLOW,
        PlanStatus::Invalid(_) | PlanStatus::Blocked(_) | PlanStatus::Rejected { .. } => RED,
        PlanStatus::Disabled { .. }
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. }
        | PlanStatus::Skipped(_) => DIM,
    };
    format!("{style}{:width$}{style:#}", standing.as_str())
}

/// Prints help, or the error of clap about the command line.
pub(crate) fn print_usage(error: &clap::Error) -> ExitCode {
    // A terminal that is gone cannot show an error either.
    let _ = error.print();
    if error.use_stderr() { exit::USAGE.into() } else { exit::OK.into() }
}
