//! The terminal of this process: its width, echo off while a secret is typed, the signal of Ctrl-C, and the
//! readiness of typed keys.

use std::io;

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// The width of the terminal that standard output is on; `None` if it is on none.
#[must_use]
pub fn stdout_columns() -> Option<usize> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Disables echo on standard input while this guard lives; only the end of a line is still shown.
#[derive(Debug)]
pub struct HiddenInput {
    before: Termios,
}

impl HiddenInput {
    /// Turns echo off until the guard is dropped.
    ///
    /// # Errors
    /// When standard input is not a terminal.
    pub fn start() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self { before })
    }
}

/// Makes the kernel report once more that keys are waiting on standard input, if any are.
///
/// `crossterm` waits for keys and for changes of the terminal's size by edge-triggered polling. Where both come
/// at once it returns the change and forgets the keys: they would wait until the next key is pressed. Setting
/// the attributes of a terminal, even to what they are, wakes up everything that waits for its input.
pub fn repeat_input_readiness() {
    let input = rustix::stdio::stdin();
    if let Ok(attributes) = tcgetattr(input) {
        // A terminal that has been closed has no keys.
        let _gone = tcsetattr(input, OptionalActions::Now, &attributes);
    }
}

/// Sends this process the signal of Ctrl-C, for a key that was read while the terminal is in raw mode.
pub fn interrupt_self() {
    // A process may always signal itself.
    let _sent = kill_process(getpid(), Signal::INT);
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // A terminal that has been closed shows no input anyway.
        let _gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}
