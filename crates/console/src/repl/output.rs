//! Writes to the terminal of the console: results, errors with hints, and one line of progress.
//!
//! Everything goes to the normal screen, so it stays in the scrollback. Texts of servers lose their control
//! sequences here.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use crossterm::terminal;
use mcparley::model::text::{display_block, display_line};

use super::fold::{FOLD_LINES, FoldedText, fold_text};

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[33m";
const RESET: &str = "\u{1b}[0m";

/// The sequence that clears the line of the cursor.
const CLEAR_LINE: &str = "\r\u{1b}[K";

/// The sequence that clears the screen and moves to its first line.
const CLEAR_SCREEN: &str = "\u{1b}[2J\u{1b}[H";

/// The output of the console.
#[derive(Debug)]
pub(crate) struct ConsoleOutput {
    colors: bool,
    /// The last result in full, for `/last`.
    last_result: Option<String>,
    /// Whether a progress line is on the screen.
    has_progress: bool,
}

impl ConsoleOutput {
    pub(crate) fn new(colors: bool) -> Self {
        Self { colors, last_result: None, has_progress: false }
    }

    /// Prints one line that mcparley itself produced.
    pub(crate) fn print_line(&mut self, line: &str) {
        self.clear_progress();
        write_terminal(&format!("{line}\n"));
    }

    /// Prints an untrusted text as it comes, without a line end.
    pub(crate) fn print_part(&mut self, text: &str) {
        self.clear_progress();
        write_terminal(&display_block(text));
    }

    /// Prints a dimmed remark.
    pub(crate) fn print_remark(&mut self, remark: &str) {
        let remark = self.dim(&display_line(remark));
        self.print_line(&remark);
    }

    /// Prints a warning.
    pub(crate) fn print_warning(&mut self, warning: &str) {
        let label = self.paint_text(YELLOW, "warning:");
        self.print_line(&format!("{label} {}", display_line(warning)));
    }

    /// Prints an error with its sources, and its hint.
    pub(crate) fn print_error(&mut self, error: &dyn Error, hint: Option<&str>) {
        self.print_failure(&with_sources(error), hint);
    }

    /// Prints an error message and its hint.
    pub(crate) fn print_failure(&mut self, message: &str, hint: Option<&str>) {
        let label = self.paint_text(RED, "error:");
        self.print_line(&format!("{label} {}", display_line(message)));
        if let Some(hint) = hint {
            self.print_hint(hint);
        }
    }

    /// Prints a hint.
    pub(crate) fn print_hint(&mut self, hint: &str) {
        let label = self.dim("hint:");
        self.print_line(&format!("{label} {}", display_line(hint)));
    }

    /// Prints a result, folded after some lines; `/last` prints the rest.
    pub(crate) fn print_result(&mut self, text: String) {
        let shown = display_block(&text).into_owned();
        let FoldedText { shown: beginning, hidden_lines } = fold_text(&shown, terminal_columns(), FOLD_LINES);
        self.print_line(beginning);
        if hidden_lines > 0 {
            self.print_remark(&format!("… {hidden_lines} more lines (Ctrl-O or /last shows all)"));
        }
        self.last_result = Some(text);
    }

    /// Stores a result for `/last` without printing it.
    pub(crate) fn store_result(&mut self, text: String) {
        self.last_result = Some(text);
    }

    /// Prints the last result in full; returns `false` if there is none.
    pub(crate) fn print_last_result(&mut self) -> bool {
        let Some(text) = self.last_result.clone() else { return false };
        self.print_line(display_block(&text).trim_end_matches('\n'));
        true
    }

    /// Draws the progress line, in place of the one before.
    pub(crate) fn draw_progress(&mut self, text: &str) {
        // A line that wraps could not be cleared again, so wrapping is off.
        let line = self.dim(&display_line(text));
        write_terminal(&format!("\r\u{1b}[?7l{line}\u{1b}[K\u{1b}[?7h"));
        self.has_progress = true;
    }

    /// Removes the progress line, if there is one.
    pub(crate) fn clear_progress(&mut self) {
        if std::mem::take(&mut self.has_progress) {
            write_terminal(CLEAR_LINE);
        }
    }

    /// Clears the line of the cursor and all below it, where an unfinished prompt stands.
    pub(crate) fn clear_below(&mut self) {
        write_terminal("\r\u{1b}[J");
    }

    /// Clears the screen.
    pub(crate) fn clear_screen(&mut self) {
        write_terminal(CLEAR_SCREEN);
    }

    /// Bold text.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint_text(BOLD, text)
    }

    /// Dimmed text.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint_text(DIM, text)
    }

    fn paint_text(&self, style: &str, text: &str) -> String {
        if self.colors { format!("{style}{text}{RESET}") } else { text.to_owned() }
    }
}

/// A duration for people: `12 ms`, `1.4 s`, `2 min 5 s`.
pub(crate) fn format_duration(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{:.1} s", duration.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// The message of an error, followed by its sources that it does not repeat.
fn with_sources(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}

/// The columns of the terminal.
pub(crate) fn terminal_columns() -> usize {
    terminal::size().map_or(80, |(columns, _)| usize::from(columns))
}

fn write_terminal(text: &str) {
    let mut terminal = std::io::stdout().lock();
    // A terminal that is gone cannot show an error either; the prompt ends the console then.
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}
