//! The progress line on the terminal: a spinner and the work in progress.
//!
//! A thread of its own draws the line, because the work may block for long. Code that prints hides the line
//! first ([`ProgressLine::hide_while`]); the next tick draws it again. While a dialog is open, nothing is drawn.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcparley::model::text::display_line;
use mcparley_console::dialog::SharedTerminal;

/// The delay before the line appears; quicker work shows none.
const PATIENCE: Duration = Duration::from_millis(200);

/// The interval between two frames of the spinner.
const TICK: Duration = Duration::from_millis(100);

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The escape sequence that clears the line.
const CLEAR: &str = "\r\u{1b}[K";

/// A progress line, shown until it is dropped.
pub(crate) struct ProgressLine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    line: Mutex<ProgressState>,
    over: Condvar,
    terminal: SharedTerminal,
}

#[derive(Default)]
struct ProgressState {
    text: String,
    shown: bool,
    over: bool,
}

impl ProgressLine {
    /// Starts a progress line on standard error, which must be a terminal. The line appears after a short
    /// delay.
    pub(crate) fn start(text: &str, terminal: &SharedTerminal) -> Self {
        let line = ProgressState { text: display_line(text).into_owned(), shown: false, over: false };
        let shared =
            Arc::new(Shared { line: Mutex::new(line), over: Condvar::new(), terminal: terminal.clone() });
        let drawing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("progress".to_owned());
        // Without a thread there is no progress line; the work itself is not affected.
        let thread = thread.spawn(move || drawing.draw_frames()).ok();
        Self { shared, thread }
    }

    /// Replaces the text of the line.
    pub(crate) fn set_text(&self, text: &str) {
        self.shared.lock_line().text = display_line(text).into_owned();
    }

    /// Hides the line while `printing` runs.
    pub(crate) fn hide_while<T>(&self, printing: impl FnOnce() -> T) -> T {
        let mut line = self.shared.lock_line();
        self.shared.terminal.draw_if_free(|| line.clear_line());
        printing()
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        let mut line = self.shared.lock_line();
        self.shared.terminal.draw_if_free(|| line.clear_line());
        line.over = true;
        drop(line);
        self.shared.over.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the drawing thread needs no report.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock_line(&self) -> MutexGuard<'_, ProgressState> {
        // A text and two flags stay consistent even if another holder of the lock panicked.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw_frames(&self) {
        let start = Instant::now();
        let mut frames = FRAMES.iter().cycle();
        let mut line = self.lock_line();
        let mut pause = PATIENCE;
        loop {
            let waited = self.over.wait_timeout(line, pause).unwrap_or_else(PoisonError::into_inner);
            line = waited.0;
            if line.over {
                return;
            }
            if start.elapsed() >= PATIENCE {
                let frame = frames.next().copied().unwrap_or(' ');
                self.terminal.draw_if_free(|| line.draw_frame(frame));
            }
            pause = TICK;
        }
    }
}

impl ProgressState {
    fn draw_frame(&mut self, frame: char) {
        // Line wrapping is off: a text that wraps to a second line could not be cleared again.
        write_terminal(&format!("\r\u{1b}[?7l{frame} {}\u{1b}[K\u{1b}[?7h", self.text));
        self.shown = true;
    }

    fn clear_line(&mut self) {
        if self.shown {
            write_terminal(CLEAR);
            self.shown = false;
        }
    }
}

fn write_terminal(text: &str) {
    // A terminal that is gone cannot show an error either.
    let mut terminal = std::io::stderr().lock();
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}
