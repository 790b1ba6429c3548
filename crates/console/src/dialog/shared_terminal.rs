//! The terminal as a shared resource: dialogs, the prompt and the progress line take turns.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedMutexGuard, watch};

/// A handle to the terminal of this process; clones share it.
///
/// A dialog holds the terminal until it is answered. A prompt holds it while it reads a line
/// ([`SharedTerminal::hold`]), so that dialogs wait for the end of the line.
#[derive(Clone, Debug, Default)]
pub struct SharedTerminal {
    state: Arc<TerminalState>,
}

#[derive(Debug, Default)]
struct TerminalState {
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The number of dialogs that wait for their turn.
    waiting: watch::Sender<usize>,
    /// Whether a dialog is on the screen.
    is_dialog_open: Mutex<bool>,
}

/// The right to use the terminal, given back when dropped.
#[derive(Debug)]
pub struct TerminalTurn {
    _turn: OwnedMutexGuard<()>,
}

impl SharedTerminal {
    /// Waits until the terminal is free, and holds it until the turn is dropped. Turns are given in the order
    /// of the requests.
    pub async fn hold(&self) -> TerminalTurn {
        TerminalTurn { _turn: Arc::clone(&self.state.turn).lock_owned().await }
    }

    /// Like [`SharedTerminal::hold`], for a dialog, which counts as waiting meanwhile.
    pub(super) async fn hold_for_dialog(&self) -> TerminalTurn {
        let _waiting = WaitingCount::new(&self.state.waiting);
        self.hold().await
    }

    /// The number of dialogs that wait for the terminal.
    #[must_use]
    pub fn waiting_count(&self) -> usize {
        *self.state.waiting.borrow()
    }

    /// A receiver of changes in the number of waiting dialogs.
    pub(super) fn watch_waiting(&self) -> watch::Receiver<usize> {
        self.state.waiting.subscribe()
    }

    /// Runs `draw`, unless a dialog is on the screen. No dialog opens meanwhile.
    pub fn draw_if_free(&self, draw: impl FnOnce()) {
        let is_dialog_open = self.lock_dialog();
        if !*is_dialog_open {
            draw();
        }
    }

    /// Whether no dialog is on the screen. On a single-threaded runtime none opens before the next wait.
    #[must_use]
    pub fn is_free(&self) -> bool {
        !*self.lock_dialog()
    }

    pub(super) fn set_dialog_open(&self, is_open: bool) {
        *self.lock_dialog() = is_open;
    }

    fn lock_dialog(&self) -> MutexGuard<'_, bool> {
        // A flag stays consistent even if another holder of the lock panicked.
        self.state.is_dialog_open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one waiting dialog until it is dropped, which may be before its turn comes.
struct WaitingCount<'c>(&'c watch::Sender<usize>);

impl<'c> WaitingCount<'c> {
    fn new(count: &'c watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for WaitingCount<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::SharedTerminal;
    use futures_util::FutureExt as _;

    // U4
    #[tokio::test]
    async fn only_dialogs_count_as_waiting() {
        let terminal = SharedTerminal::default();
        let turn = terminal.hold().await;
        let (mut prompt, mut dialog) = (Box::pin(terminal.hold()), Box::pin(terminal.hold_for_dialog()));
        assert!((&mut prompt).now_or_never().is_none() && (&mut dialog).now_or_never().is_none());
        assert_eq!(terminal.waiting_count(), 1);
        drop((turn, prompt));
        dialog.await;
        assert_eq!(terminal.waiting_count(), 0);
    }
}
