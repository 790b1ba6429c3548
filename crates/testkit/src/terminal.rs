//! A terminal for a program under test: a pseudo-terminal with a screen that can be read, and keys to press.
//!
//! The screen is that of a VT100 emulator, so a test sees the cells that a person sees and not the escape
//! sequences. The program runs in a session of its own with the terminal as its controlling terminal, so that
//! Ctrl-C sends it a signal wherever it has not switched that off.

mod picture;

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::{Callbacks, Parser, Screen};

/// The longest wait for the screen to show a text; a test that waits longer fails.
const SCREEN_DEADLINE: Duration = Duration::from_secs(30);

/// Lines above the screen that can still be read.
const SCROLLBACK: usize = 2_000;

/// A key that is not a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names on the keyboard say it all")]
pub enum Key {
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl with a letter.
    Ctrl(char),
}

impl Key {
    fn as_bytes(self) -> Vec<u8> {
        match self {
            Self::Enter => b"\r".to_vec(),
            Self::Escape => b"\x1b".to_vec(),
            Self::Tab => b"\t".to_vec(),
            Self::BackTab => b"\x1b[Z".to_vec(),
            Self::Backspace => b"\x7f".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Down => b"\x1b[B".to_vec(),
            Self::Right => b"\x1b[C".to_vec(),
            Self::Left => b"\x1b[D".to_vec(),
            Self::Home => b"\x1b[H".to_vec(),
            Self::End => b"\x1b[F".to_vec(),
            Self::PageUp => b"\x1b[5~".to_vec(),
            Self::PageDown => b"\x1b[6~".to_vec(),
            Self::Ctrl(letter) => vec![letter.to_ascii_lowercase() as u8 & 0x1f],
        }
    }
}

/// A program that runs on a terminal.
pub struct TerminalSession {
    master: File,
    child: Child,
    display: Arc<Display>,
}

/// The emulated screen, and a signal for each change of it.
struct Display {
    state: Mutex<DisplayState>,
    changed: Condvar,
}

struct DisplayState {
    parser: Parser<QueryResponder>,
    /// Whether the program has closed the terminal.
    is_closed: bool,
}

/// Answers the queries that programs send to terminals, such as that for the cursor's position.
struct QueryResponder {
    master: File,
}

impl Callbacks for QueryResponder {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        _i1: Option<u8>,
        _i2: Option<u8>,
        params: &[&[u16]],
        command: char,
    ) {
        let answer = match (command, params.first().and_then(|param| param.first())) {
            ('n', Some(6)) => {
                let (row, column) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, column + 1)
            }
            ('c', _) => "\x1b[?6c".to_owned(),
            _ => return,
        };
        // A program that is gone reads no answer.
        drop(self.master.write_all(answer.as_bytes()));
    }
}

impl TerminalSession {
    /// Starts a program on a terminal of 80 columns and 24 rows.
    #[must_use]
    pub fn start(command: &Command) -> Self {
        Self::start_with_size(command, 24, 80)
    }

    /// Starts a program on a terminal of this size. Environment and working directory are those of `command`.
    ///
    /// # Panics
    /// The terminal or the program cannot be started.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test cannot go on without its terminal")]
    pub fn start_with_size(command: &Command, rows: u16, columns: u16) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).expect("a granted terminal");
        unlockpt(&master).expect("an unlocked terminal");
        let name = ptsname(&master, Vec::new()).expect("the terminal's name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&name, flags, Mode::empty()).expect("the terminal's other end");
        set_window_size(&slave, rows, columns);
        let child = spawn_on_terminal(command, &slave).expect("the program");
        drop(slave);
        let master = File::from(master);
        let copy = || master.try_clone().expect("a copy of the terminal");
        let size = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        let responder = QueryResponder { master: copy() };
        let parser = Parser::new_with_callbacks(size(rows), size(columns), SCROLLBACK, responder);
        let state = Mutex::new(DisplayState { parser, is_closed: false });
        let display = Arc::new(Display { state, changed: Condvar::new() });
        let (reader, shown) = (copy(), Arc::clone(&display));
        thread::spawn(move || shown.read_from(reader));
        Self { master, child, display }
    }

    /// Types a text, as a keyboard sends it.
    ///
    /// # Panics
    /// The terminal is closed.
    #[expect(clippy::expect_used, reason = "a test cannot go on without its terminal")]
    pub fn type_text(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).expect("an open terminal");
    }

    /// Presses keys, one after the other.
    pub fn press_keys(&mut self, keys: &[Key]) {
        for key in keys {
            self.type_text(&String::from_utf8_lossy(&key.as_bytes()));
        }
    }

    /// Types a line and presses Enter.
    pub fn enter_line(&mut self, line: &str) {
        self.type_text(line);
        self.press_keys(&[Key::Enter]);
    }

    /// The text on the screen, without spaces at the end of lines.
    #[must_use]
    pub fn screen_text(&self) -> String {
        screen_text(&self.display.lock())
    }

    /// The screen with colors and attributes, as escape sequences.
    #[must_use]
    pub fn formatted_screen(&self) -> String {
        self.display.lock().parser.screen().contents_formatted()
    }

    /// The screen as an SVG picture.
    #[must_use]
    pub fn screen_picture(&self) -> String {
        picture::draw_screen(self.display.lock().parser.screen())
    }

    /// Waits until the screen contains a text, and returns the screen.
    ///
    /// # Panics
    /// The text does not appear in time, or the program ends without showing it.
    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen no longer contains a text, and returns the screen.
    ///
    /// # Panics
    /// The text stays.
    pub fn wait_until_gone(&self, text: &str) -> String {
        self.wait_until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    /// Waits until a condition holds for the screen, and returns the screen.
    ///
    /// # Panics
    /// The condition does not hold in time, or the program ends before it does.
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub fn wait_until(&self, expected: &str, condition: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + SCREEN_DEADLINE;
        let mut state = self.display.lock();
        loop {
            let screen = screen_text(&state);
            if condition(&screen) {
                return screen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_closed {
                let end = if state.is_closed { "the program ended" } else { "the time is over" };
                panic!("{end}, and the screen does not show: {expected}\n--- screen\n{screen}\n---");
            }
            let waited = self.display.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Changes the size of the terminal; the program gets the signal for that.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        let size = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        self.display.lock().parser.set_size(size(rows), size(columns));
        set_window_size(&self.master, rows, columns);
    }

    /// Waits until the program ends; its exit code, and the last screen.
    ///
    /// # Panics
    /// The program does not end in time.
    #[expect(clippy::panic, clippy::expect_used, reason = "this is how a test fails")]
    pub fn wait_for_exit(mut self) -> (i32, String) {
        let deadline = Instant::now() + SCREEN_DEADLINE;
        let mut state = self.display.lock();
        while !state.is_closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let screen = screen_text(&state);
                panic!("the program does not end\n--- screen\n{screen}\n---");
            }
            let waited = self.display.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let screen = screen_text(&state);
        drop(state);
        let status = self.child.wait().expect("the status of the program");
        (status.code().unwrap_or(-1), screen)
    }
}

impl std::fmt::Debug for TerminalSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalSession").field("child", &self.child).finish_non_exhaustive()
    }
}

/// Ends the program with its terminal, so that a failed test leaves nothing behind.
impl Drop for TerminalSession {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Display {
    fn lock(&self) -> MutexGuard<'_, DisplayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Feeds the emulator until the program closes the terminal.
    fn read_from(&self, mut reader: File) {
        let mut part = [0; 8192];
        // A terminal whose other end is closed answers with an error instead of an end.
        while let Ok(read @ 1..) = reader.read(&mut part) {
            if let Some(bytes) = part.get(..read) {
                self.lock().parser.process(bytes);
            }
            self.changed.notify_all();
        }
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

fn screen_text(state: &DisplayState) -> String {
    let screen = state.parser.screen();
    let (_, columns) = screen.size();
    let rows = screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Starts the program in a session of its own, whose controlling terminal this is.
#[expect(clippy::disallowed_methods, reason = "a test owns its program and waits for it")]
fn spawn_on_terminal(command: &Command, slave: &OwnedFd) -> std::io::Result<Child> {
    let mut wrapped = Command::new("setsid");
    wrapped.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
    wrapped.env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    let copy = || slave.try_clone().map(Stdio::from);
    wrapped.stdin(copy()?).stdout(copy()?).stderr(copy()?).spawn()
}

fn set_window_size(terminal: impl std::os::fd::AsFd, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    assert!(tcsetwinsize(terminal, size).is_ok(), "a terminal has a size");
}
