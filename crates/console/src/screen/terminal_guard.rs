//! The terminal while the screen is open: the alternate screen in raw mode, always restored.

use std::io::{self, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Whether the terminal shows the screen now.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// The terminal with the screen on it. Dropping it restores the terminal, also when a signal cancels the
/// screen or a panic unwinds.
pub(super) struct TerminalGuard {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl TerminalGuard {
    /// Switches the terminal to the alternate screen.
    ///
    /// # Errors
    /// The terminal cannot be switched; it is as before then.
    pub(super) fn open() -> io::Result<Self> {
        restore_before_panics();
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::SeqCst);
        let opened = execute!(io::stdout(), EnterAlternateScreen, Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore_terminal();
                Err(error)
            }
        }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal, once for each time it was switched.
fn restore_terminal() {
    if !IS_OPEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    // A terminal that is gone needs no restoring.
    let _gone = execute!(out, LeaveAlternateScreen, Show).and_then(|()| out.flush());
    let _gone = disable_raw_mode();
}

/// Restores the terminal before the message of a panic is printed, which would be lost with the alternate
/// screen otherwise.
fn restore_before_panics() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            next(info);
        }));
    });
}
