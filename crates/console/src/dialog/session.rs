//! One dialog on the terminal: raw mode, keys and drawing, until it is answered or withdrawn.
//!
//! A dialog has two parts. The facts are printed once and stay in the scrollback, however long they are. The
//! controls below them are redrawn after each key, and replaced by the outcome at the end. Dropping the
//! session withdraws the dialog and restores the terminal.

use std::io::{self, Write as _};

use crossterm::terminal;

use super::key_reader::{DialogInput, KeyReader};
use super::question_loop::{TypingGuard, ask_until_answered};
use super::shared_terminal::{SharedTerminal, TerminalTurn};
use super::styled_line::{StyledLine, Tone};

/// The longest line of a dialog; longer ones are hard to read.
const WIDEST: usize = 100;

/// The width of the border of a line.
const BORDER: usize = 2;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_BELOW: &str = "\u{1b}[J";
const BRACKETED_PASTE_ON: &str = "\u{1b}[?2004h";
const BRACKETED_PASTE_OFF: &str = "\u{1b}[?2004l";

/// The state of one question, without any terminal: keys in, lines out.
pub(super) trait DialogModel {
    type Answer;

    /// Handles an input; an answer ends the question.
    fn handle_input(&mut self, input: &DialogInput) -> Option<Self::Answer>;

    /// The controls for a terminal of this size.
    fn controls(&self, size: DialogSize) -> DialogControls;
}

/// The room for the controls of a dialog, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DialogSize {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// The part of a dialog that is redrawn after each key.
#[derive(Clone, Debug, Default)]
pub(super) struct DialogControls {
    pub(super) lines: Vec<StyledLine>,
    /// The row and the column of the cursor among the lines, if it is visible.
    pub(super) cursor: Option<(usize, usize)>,
    /// The keys that can be pressed, for the last line.
    pub(super) keys: String,
}

/// The end of a question without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogEnd {
    /// Ctrl-C was pressed.
    Interrupted,
    /// The terminal is gone.
    TerminalClosed,
}

/// A dialog that is open.
pub(super) struct DialogSession {
    keys: KeyReader,
    guard: TypingGuard,
    drawing: DialogDrawing,
    _raw: RawMode,
    terminal: SharedTerminal,
    _turn: TerminalTurn,
}

impl DialogSession {
    /// Waits for the terminal and opens a dialog on it.
    pub(super) async fn open(terminal: &SharedTerminal, colors: bool, title: &str) -> io::Result<Self> {
        let turn = terminal.hold_for_dialog().await;
        let raw = RawMode::start()?;
        let keys = KeyReader::start()?;
        terminal.set_dialog_open(true);
        let mut drawing = DialogDrawing {
            colors,
            cursor: CursorPlace::default(),
            is_closed: false,
            withdrawal: "Withdrawn",
        };
        drawing.write_title(title);
        let guard = TypingGuard::default();
        Ok(Self { keys, guard, drawing, _raw: raw, terminal: terminal.clone(), _turn: turn })
    }

    /// Prints a line that stays without border and line breaks, so that a URL can be copied and clicked.
    pub(super) fn print_whole(&mut self, line: &StyledLine) {
        self.drawing.write_whole(line);
    }

    /// Sets the outcome that is shown if the dialog is withdrawn.
    pub(super) fn set_withdrawal(&mut self, outcome: &'static str) {
        self.drawing.withdrawal = outcome;
    }

    /// Prints lines that stay, above the controls.
    pub(super) fn print_facts(&mut self, facts: &[StyledLine]) {
        self.drawing.write_facts(facts);
    }

    /// Asks until the model has an answer.
    pub(super) async fn ask<M: DialogModel>(&mut self, model: &mut M) -> Result<M::Answer, DialogEnd> {
        let drawing = &mut self.drawing;
        let draw = |model: &M, finish: &dyn Fn(&mut DialogControls)| {
            let mut controls = model.controls(controls_size());
            finish(&mut controls);
            drawing.redraw_controls(&controls);
        };
        let waiting = self.terminal.watch_waiting();
        ask_until_answered(&mut self.keys, &mut self.guard, waiting, model, draw).await
    }

    /// Replaces the controls by the outcome, and gives the terminal back.
    pub(super) fn close(mut self, outcome: &str) {
        self.drawing.write_outcome(outcome);
    }

    /// Writes a control sequence that draws nothing, such as one for the clipboard.
    pub(super) fn send_sequence(&mut self, sequence: &str) {
        write_terminal(sequence);
    }
}

impl Drop for DialogSession {
    fn drop(&mut self) {
        self.drawing.write_outcome(self.drawing.withdrawal);
        self.terminal.set_dialog_open(false);
    }
}

/// Raw mode of the terminal, ended when dropped.
struct RawMode;

impl RawMode {
    fn start() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        write_terminal(BRACKETED_PASTE_ON);
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        write_terminal(&[BRACKETED_PASTE_OFF, SHOW_CURSOR].concat());
        // A terminal that is gone needs no restoring.
        drop(terminal::disable_raw_mode());
    }
}

/// Draws one dialog on standard error.
struct DialogDrawing {
    colors: bool,
    cursor: CursorPlace,
    is_closed: bool,
    withdrawal: &'static str,
}

impl DialogDrawing {
    fn write_title(&mut self, title: &str) {
        let head = StyledLine::new(Tone::Dim, "┌ ").with(Tone::Bold, title).with(Tone::Dim, " ");
        let head = head.cut(line_width());
        let rule = "─".repeat(line_width().saturating_sub(head.width()));
        let line = head.with(Tone::Dim, rule).render(self.colors);
        // The progress line, if there is one, is on the line of the cursor.
        write_terminal(&format!("\r{CLEAR_BELOW}{HIDE_CURSOR}{line}\r\n"));
    }

    fn write_facts(&mut self, facts: &[StyledLine]) {
        let mut out = self.erase_controls();
        for line in facts.iter().flat_map(|fact| fact.wrap(content_width())) {
            out.push_str(&self.bordered_line("│ ", &line));
            out.push_str("\r\n");
        }
        write_terminal(&out);
    }

    fn write_whole(&mut self, line: &StyledLine) {
        let erased = self.erase_controls();
        write_terminal(&format!("{erased}{}\r\n", line.render(self.colors)));
    }

    fn redraw_controls(&mut self, controls: &DialogControls) {
        let mut out = self.erase_controls();
        let rows = controls_size().rows;
        let mut widths = Vec::new();
        for line in controls.lines.iter().take(rows.saturating_sub(1)) {
            let line = line.cut(content_width());
            out.push_str(&self.bordered_line("│ ", &line));
            out.push_str("\r\n");
            widths.push(line.width() + BORDER);
        }
        let keys = StyledLine::new(Tone::Dim, controls.keys.as_str()).cut(content_width());
        out.push_str(&self.bordered_line("└ ", &keys));
        let mut column = (keys.width() + BORDER).saturating_sub(1);
        if let Some((row, cell)) = controls.cursor.filter(|(row, _)| *row < widths.len()) {
            let up = widths.len() - row;
            column = cell + BORDER;
            out.push_str(&format!("\u{1b}[{up}A\r\u{1b}[{column}C{SHOW_CURSOR}"));
            widths.truncate(row);
        }
        self.cursor = CursorPlace { widths_above: widths, column };
        write_terminal(&out);
    }

    fn write_outcome(&mut self, outcome: &str) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        let mut out = self.erase_controls();
        let lines = StyledLine::plain(outcome).wrap(content_width());
        for (at, line) in lines.iter().enumerate() {
            out.push_str(&self.bordered_line(if at + 1 == lines.len() { "└ " } else { "│ " }, line));
            out.push_str("\r\n");
        }
        write_terminal(&out);
    }

    /// The sequence that moves to the first row of the controls and clears them.
    fn erase_controls(&mut self) -> String {
        let columns = terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        let up = std::mem::take(&mut self.cursor).rows_above(columns);
        let back = if up == 0 { String::new() } else { format!("\u{1b}[{up}A") };
        format!("{HIDE_CURSOR}{back}\r{CLEAR_BELOW}")
    }

    fn bordered_line(&self, border: &str, line: &StyledLine) -> String {
        [StyledLine::new(Tone::Dim, border).render(self.colors), line.render(self.colors)].concat()
    }
}

/// The place of the cursor below the first row of the controls.
#[derive(Debug, Default)]
struct CursorPlace {
    /// The widths of the lines above the line of the cursor.
    widths_above: Vec<usize>,
    column: usize,
}

impl CursorPlace {
    /// The rows above the cursor in a terminal of this width. A terminal that became narrower has wrapped the
    /// lines, so each of them may take several rows.
    fn rows_above(&self, columns: usize) -> usize {
        let columns = columns.max(1);
        let rows = |width: &usize| width.div_ceil(columns).max(1);
        self.widths_above.iter().map(rows).sum::<usize>() + self.column / columns
    }
}

/// The size of the terminal: columns and rows.
fn terminal_size() -> (usize, usize) {
    let (columns, rows) = terminal::size().unwrap_or((80, 24));
    (usize::from(columns.max(20)), usize::from(rows.max(6)))
}

/// The width of a line: one column less than the terminal has, since some terminals wrap a full line.
fn line_width() -> usize {
    terminal_size().0.saturating_sub(1).min(WIDEST)
}

/// The width of a line without its border.
fn content_width() -> usize {
    line_width().saturating_sub(BORDER)
}

/// The room for controls: more rows than the terminal has could not be redrawn.
fn controls_size() -> DialogSize {
    DialogSize { rows: terminal_size().1.saturating_sub(1), columns: content_width() }
}

fn write_terminal(text: &str) {
    let mut terminal = io::stderr().lock();
    // A terminal that is gone cannot show an error either.
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}

#[cfg(test)]
mod tests {
    use super::CursorPlace;

    // U4
    #[test]
    fn lines_that_a_narrower_terminal_wraps_are_counted_with_all_their_rows() {
        let cursor = CursorPlace { widths_above: vec![60, 0, 20], column: 45 };
        assert_eq!([80, 60, 40, 20].map(|columns| cursor.rows_above(columns)), [3, 3, 5, 7]);
    }
}
