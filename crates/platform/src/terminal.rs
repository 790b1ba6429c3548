//! Turns terminal echo off while a secret is typed, and restores it afterwards.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

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

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // A terminal that has been closed shows no input anyway.
        let _gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}
