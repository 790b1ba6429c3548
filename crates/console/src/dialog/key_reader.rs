//! Reads keys in a thread of its own while a dialog is open.
//!
//! A read from a terminal cannot be canceled, so the thread waits for keys in short steps and stops between
//! two of them. Keys that were typed before the dialog was on the screen are discarded: they were not meant
//! as its answer. So are those typed shortly after, by `question_loop`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use mcparley_platform::terminal;
use tokio::sync::mpsc;

/// The longest time until the thread notices that the dialog is over.
const STEP: Duration = Duration::from_millis(25);

/// The number of keys that may wait for the dialog; a fast typist waits for room.
const QUEUED_KEYS: usize = 256;

/// Input for a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DialogInput {
    Key(KeyEvent),
    Paste(String),
    /// The size of the terminal has changed.
    Resize,
}

/// The thread that reads keys, stopped when dropped.
pub(super) struct KeyReader {
    inputs: mpsc::Receiver<DialogInput>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl KeyReader {
    /// Discards the keys that were typed so far, and starts reading. The terminal must be in raw mode.
    pub(super) fn start() -> io::Result<Self> {
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        let (sender, inputs) = mpsc::channel(QUEUED_KEYS);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("dialog-keys".to_owned());
        let thread = thread.spawn(move || read_until_over(&sender, &seen))?;
        Ok(Self { inputs, is_over, thread: Some(thread) })
    }

    /// A reader of inputs that a test sends.
    #[cfg(test)]
    pub(super) fn from_inputs(inputs: mpsc::Receiver<DialogInput>) -> Self {
        Self { inputs, is_over: Arc::default(), thread: None }
    }

    /// The next input; `None` when the terminal is gone.
    pub(super) async fn next_input(&mut self) -> Option<DialogInput> {
        self.inputs.recv().await
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.inputs.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the reading thread needs no report.
            drop(thread.join());
        }
    }
}

fn read_until_over(sender: &mpsc::Sender<DialogInput>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        match event::poll(STEP) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(_) => return,
        }
        let input = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => DialogInput::Key(key),
            Ok(Event::Paste(text)) => DialogInput::Paste(text),
            Ok(Event::Resize(..)) => {
                terminal::repeat_input_readiness();
                DialogInput::Resize
            }
            Ok(Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost) => continue,
            Err(_) => return,
        };
        if sender.blocking_send(input).is_err() {
            return;
        }
    }
}
