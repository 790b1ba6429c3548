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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use mcparley_testkit::TerminalSession;

    use super::*;

    // U4
    #[test]
    #[ignore = "the program of the test below, which runs it on a terminal"]
    fn program_that_panics() {
        let _guard = TerminalGuard::open().unwrap();
        panic!("the program broke");
    }

    // U4
    #[test]
    fn panic_restores_the_terminal_before_its_message() {
        let folder = tempfile::tempdir().unwrap();
        let script = "stty -g > before; echo still here; \"$0\" --ignored --nocapture program_that_panics; \
                      stty -g > after; echo left; read end";
        #[expect(clippy::disallowed_methods, reason = "a test owns its program and waits for it")]
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(std::env::current_exe().unwrap()).current_dir(folder.path());
        command.env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color");
        let mut session = TerminalSession::start(&command);
        let screen = session.wait_for_text("left");
        assert!(screen.contains("still here") && screen.contains("the program broke"), "{screen}");
        session.type_text("\n");
        assert_eq!(session.wait_for_exit().0, 0);
        let read = |name: &str| {
            let text = mcparley_platform::file::read_text(&folder.path().join(name), 4_096);
            text.unwrap().unwrap().text
        };
        assert_eq!(read("before"), read("after"));
    }
}
