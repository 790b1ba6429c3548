//! Writes data to stdout and talk to stderr, and never lets foreign text reach a terminal raw.

use std::io::Write;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use mcparley::model::plan::ServerStanding;
use mcparley::model::text::{display, display_block, display_json};
use mcparley::{Checked, Problem, Verdict, Weight};
use serde::Serialize;
use serde_json::json;

use crate::args::Global;
use crate::context;
use crate::error::{CommandError, with_sources};
use crate::exit::{self, Code};
use crate::progress::Progress;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// Where a command writes.
pub(crate) struct Out {
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    data: std::io::StdoutLock<'static>,
    /// Whether the data may have colours.
    colours: bool,
    talk: AutoStream<std::io::Stderr>,
    /// What is waited for, on a terminal.
    progress: Option<Progress>,
    /// Whether the data goes to a terminal.
    for_eyes: bool,
    /// Why something could not be written.
    broken: Option<std::io::Error>,
}

impl Out {
    pub(crate) fn new(global: &Global) -> Self {
        let stdout = std::io::stdout().lock();
        let stderr = std::io::stderr();
        let choice = if global.json { ColorChoice::Never } else { AutoStream::choice(&stdout) };
        let talk = AutoStream::choice(&stderr);
        Self {
            json: global.json,
            verbose: global.verbose,
            data: stdout,
            colours: choice != ColorChoice::Never,
            talk: AutoStream::new(stderr, talk),
            progress: None,
            for_eyes: context::stdout_is_terminal(),
            broken: None,
        }
    }

    /// One line of data.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let Self { data, progress, colours, .. } = self;
        // Taking colours away piece by piece would write piece by piece.
        let text = match colours {
            true => format!("{}\n", line.as_ref()),
            false => format!("{}\n", anstream::adapter::strip_str(line.as_ref())),
        };
        let written = aside(progress.as_ref(), || data.write_all(text.as_bytes()));
        self.note(written);
    }

    /// Several lines of data that are ours.
    pub(crate) fn text(&mut self, text: &str) {
        self.line(text.trim_end_matches('\n'));
    }

    /// Text of somebody else: through a pipe as it is, on a terminal without what would drive it. What ends
    /// with a line end gets no second one.
    pub(crate) fn foreign(&mut self, text: &str) {
        let shown = if self.for_eyes { display_block(text) } else { text.into() };
        self.bytes(shown.as_bytes());
        if !text.ends_with('\n') {
            self.bytes(b"\n");
        }
    }

    /// Whether data may have colours; who gives it as it is has to know.
    pub(crate) fn colours(&self) -> bool {
        self.colours
    }

    /// Data as it is.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // Not through the stream that takes colours away: these are not ours to take. The lock is ours already.
        let written = aside(self.progress.as_ref(), || std::io::stdout().lock().write_all(bytes));
        self.note(written);
    }

    /// The whole report as JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(json) => self.line(display_json(&json)),
            Err(error) => self.note(Err(error.into())),
        }
    }

    /// A value as one line of JSON that is there at once, for programs that read before we are done.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(json) => self.line(display_json(&json)),
            Err(error) => self.note(Err(error.into())),
        }
        let flushed = self.data.flush();
        self.note(flushed);
    }

    /// One line of talk.
    pub(crate) fn say(&mut self, line: impl AsRef<str>) {
        let Self { talk, progress, .. } = self;
        let written = aside(progress.as_ref(), || writeln!(talk, "{}", line.as_ref()));
        self.note(written);
    }

    /// Says what is waited for, to a person in front of a terminal.
    pub(crate) fn waiting(&mut self, text: &str) {
        match &self.progress {
            Some(progress) => progress.tell(text),
            None if context::stderr_can_move() => self.progress = Some(Progress::start(text)),
            None => {}
        }
    }

    /// Whether somebody sees what is waited for.
    pub(crate) fn is_waiting(&self) -> bool {
        self.progress.is_some()
    }

    /// Nothing is waited for any more.
    pub(crate) fn waited(&mut self) {
        self.progress = None;
    }

    /// Something to do.
    pub(crate) fn hint(&mut self, hint: &str) {
        self.say(format!("{DIM}hint:{DIM:#} {}", display(hint)));
    }

    /// Something that does not count, or may surprise.
    pub(crate) fn warn(&mut self, warning: &str) {
        self.say(format!("{YELLOW}warning:{YELLOW:#} {}", display(warning)));
    }

    /// Something about the data.
    pub(crate) fn remark(&mut self, remark: &str) {
        self.say(dim(remark));
    }

    /// Something that went wrong.
    pub(crate) fn complain(&mut self, message: &str) {
        self.say(format!("{RED}error:{RED:#} {}", display(message)));
    }

    /// A source that could not be used.
    pub(crate) fn problem(&mut self, problem: &Problem) {
        self.complain(&problem.to_string());
        if let Some(hint) = &problem.hint {
            self.hint(hint);
        }
    }

    /// Why the command ended without its result.
    pub(crate) fn error(&mut self, error: &CommandError) -> Code {
        let code = error.code();
        if self.json {
            let hint = error.hint();
            let mut value = json!({
                "error": { "code": code.name, "exit": code.number, "message": error.to_string(), "hint": hint }
            });
            if let Some(pending) = error.pending() {
                value["pendingAuth"] = json!([pending]);
            }
            self.value(&value);
            return code;
        }
        self.complain(&with_sources(error));
        if let Some(hint) = error.hint() {
            self.hint(&hint);
        }
        code
    }

    /// Flushes, and forgives a reader who left early.
    pub(crate) fn finish(mut self, code: Code) -> ExitCode {
        let flushed = self.data.flush();
        self.note(flushed);
        let Some(error) = self.broken.take() else { return code.into() };
        self.complain(&format!("not everything could be written: {error}"));
        if code == exit::OK { exit::FAILED.into() } else { code.into() }
    }

    fn note(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            self.broken.get_or_insert(error);
        }
    }
}

/// Prints with the line of progress out of the way.
fn aside<T>(progress: Option<&Progress>, print: impl FnOnce() -> T) -> T {
    match progress {
        Some(progress) => progress.aside(print),
        None => print(),
    }
}

/// A bold word.
pub(crate) fn bold(text: &str) -> String {
    format!("{BOLD}{}{BOLD:#}", display(text))
}

/// A dimmed word.
pub(crate) fn dim(text: &str) -> String {
    format!("{DIM}{}{DIM:#}", display(text))
}

/// A server's health in its colour.
pub(crate) fn health(checked: &Checked, summary: &str) -> String {
    let style = if checked.works() { GREEN } else { RED };
    format!("{style}{}{style:#}", display(summary))
}

/// Words about a server in the colour of its verdict.
pub(crate) fn verdict(verdict: Verdict, words: &str) -> String {
    let style = match verdict {
        Verdict::Works => GREEN,
        Verdict::Flawed => YELLOW,
        Verdict::Broken => RED,
        Verdict::Resting => DIM,
    };
    format!("{style}{}{style:#}", display(words))
}

/// The word for a finding's weight in its colour.
pub(crate) fn weight(weight: Weight) -> String {
    let (style, word) = match weight {
        Weight::Error => (RED, "error"),
        Weight::Warning => (YELLOW, "warning"),
        Weight::Note => (DIM, "note"),
    };
    format!("{style}{word}:{style:#}")
}

/// A standing in its colour, padded to `width`.
pub(crate) fn standing(standing: &ServerStanding, width: usize) -> String {
    let style = match standing {
        ServerStanding::Ready => GREEN,
        ServerStanding::NeedsApproval(_) => YELLOW,
        ServerStanding::Invalid(_) | ServerStanding::Blocked(_) | ServerStanding::Rejected { .. } => RED,
        ServerStanding::Disabled { .. }
        | ServerStanding::Shadowed { .. }
        | ServerStanding::Duplicate { .. }
        | ServerStanding::Skipped(_) => DIM,
    };
    format!("{style}{:width$}{style:#}", standing.as_str())
}

/// Shows help or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nowhere to report that the terminal is gone.
    let _ = error.print();
    if error.use_stderr() { exit::USAGE.into() } else { exit::OK.into() }
}
