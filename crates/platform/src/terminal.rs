//! Keeps what a person types from the screen, and shows it again afterwards.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// While it lives, standard input, which is a terminal, does not show what is typed; only that a line has ended.
#[derive(Debug)]
pub struct Hidden {
    before: Termios,
}

impl Hidden {
    /// Hides what is typed from now on.
    ///
    /// # Errors
    /// When standard input is no terminal.
    pub fn begin() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing anyway.
        let _gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}
