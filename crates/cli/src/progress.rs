//! A line on the terminal that says what is being waited for; nothing at all elsewhere.
//!
//! A thread of its own draws it, because the work may stand still for long, and only on a terminal. Whoever
//! prints takes the line away first ([`Progress::aside`]); the next tick brings it back.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcparley::model::text::display;

/// What is quicker needs no line.
const PATIENCE: Duration = Duration::from_millis(200);

/// The pace of the sign of life.
const TICK: Duration = Duration::from_millis(100);

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Takes the line away.
const CLEAR: &str = "\r\u{1b}[K";

/// A line that is there until it is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    line: Mutex<Line>,
    over: Condvar,
}

#[derive(Default)]
struct Line {
    text: String,
    shown: bool,
    over: bool,
}

impl Progress {
    /// Shows this text on standard error, which must be a terminal, once it has taken a moment.
    pub(crate) fn start(text: &str) -> Self {
        let line = Line { text: display(text).into_owned(), shown: false, over: false };
        let shared = Arc::new(Shared { line: Mutex::new(line), over: Condvar::new() });
        let drawing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("progress".to_owned());
        // Without a thread there is no line, and nothing else is missing.
        let thread = thread.spawn(move || drawing.draw()).ok();
        Self { shared, thread }
    }

    /// Shows another text.
    pub(crate) fn tell(&self, text: &str) {
        self.shared.lock().text = display(text).into_owned();
    }

    /// Takes the line away, and keeps it away while `printing`.
    pub(crate) fn aside<T>(&self, printing: impl FnOnce() -> T) -> T {
        let mut line = self.shared.lock();
        line.clear();
        printing()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let mut line = self.shared.lock();
        line.clear();
        line.over = true;
        drop(line);
        self.shared.over.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has nothing to say when it panicked.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Line> {
        // A text and two flags are whole whatever happened to their last user.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let start = Instant::now();
        let mut frames = FRAMES.iter().cycle();
        let mut line = self.lock();
        let mut pause = PATIENCE;
        loop {
            let waited = self.over.wait_timeout(line, pause).unwrap_or_else(PoisonError::into_inner);
            line = waited.0;
            if line.over {
                return;
            }
            if start.elapsed() >= PATIENCE {
                line.show(frames.next().copied().unwrap_or(' '));
            }
            pause = TICK;
        }
    }
}

impl Line {
    fn show(&mut self, frame: char) {
        // Without wrapping a long text ends at the edge; on a second line it could not be taken away again.
        write(&format!("\r\u{1b}[?7l{frame} {}\u{1b}[K\u{1b}[?7h", self.text));
        self.shown = true;
    }

    fn clear(&mut self) {
        if self.shown {
            write(CLEAR);
            self.shown = false;
        }
    }
}

fn write(text: &str) {
    // Nowhere to report that the terminal is gone.
    let mut terminal = std::io::stderr().lock();
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}
