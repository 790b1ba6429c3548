//! A terminal for a program under test, by tmux: keys are sent to a pane, and the pane is captured.
//!
//! It stands beside [`crate::TerminalSession`], whose screen is emulated in the test: tmux is a terminal that
//! others wrote, and that people use. Each session has a tmux server of its own, on a socket in the folder of
//! the test, which ends with the session.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::Key;

/// The longest wait for the pane to show a text; a test that waits longer fails.
const PANE_DEADLINE: Duration = Duration::from_secs(30);

/// The time between two looks at the pane; tmux has no signal for a change of it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The settings of each server: a pane stays after its program has ended, and Escape is a key at once.
const SETTINGS: &str = "set -g remain-on-exit on\nset -s escape-time 0\nset -g status off\n";

/// Runs a program and writes its exit code to a file. tmux 3.3 now and then misses the end of a program and then
/// does not know the code. The trap lets the shell outlive a Ctrl-C that ends the program.
const KEEP_EXIT_CODE: &str =
    r#"file=$1; shift; trap : INT; "$@"; echo $? > "$file.part"; mv "$file.part" "$file""#;

/// A program that runs in a pane of tmux, 80 columns wide and 24 rows high.
#[derive(Debug)]
pub struct TmuxSession {
    tmux: PathBuf,
    socket: PathBuf,
    /// The file with the exit code, once the program has ended.
    exit_code: PathBuf,
}

impl TmuxSession {
    /// Starts a program in a pane. Environment and working directory are those of `command`; `folder` is a
    /// folder of the test, for the socket.
    ///
    /// # Panics
    /// tmux is not installed, or the program cannot be started.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        clippy::expect_used,
        reason = "a test owns its files, and cannot go on without its terminal"
    )]
    pub fn start(command: &Command, folder: &Path) -> Self {
        let (socket, settings) = (folder.join("tmux.socket"), folder.join("tmux.conf"));
        std::fs::write(&settings, SETTINGS).expect("the settings of tmux");
        let session = Self { tmux: find_tmux(), socket, exit_code: folder.join("tmux.exit") };
        assert!(!session.exit_code.exists(), "a folder is for one session");
        let mut start = session.tmux_command();
        start.env_clear();
        let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        start.envs(set).env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
        start.arg("-f").arg(&settings).args(["new-session", "-d", "-x", "80", "-y", "24"]);
        if let Some(folder) = command.get_current_dir() {
            start.arg("-c").arg(folder);
        }
        start.args(["--", "sh", "-c", KEEP_EXIT_CODE, "sh"]).arg(&session.exit_code);
        start.arg(command.get_program()).args(command.get_args());
        run_tmux(start);
        session
    }

    /// Types a text into the pane.
    pub fn type_text(&self, text: &str) {
        self.run(&["send-keys", "-l", "--", text]);
    }

    /// Presses keys, one after the other.
    pub fn press_keys(&self, keys: &[Key]) {
        for key in keys {
            self.run(&["send-keys", &key_name(*key)]);
        }
    }

    /// Types a line and presses Enter.
    pub fn enter_line(&self, line: &str) {
        self.type_text(line);
        self.press_keys(&[Key::Enter]);
    }

    /// The text in the pane, without spaces at the end of lines.
    #[must_use]
    pub fn pane_text(&self) -> String {
        let text = self.run(&["capture-pane", "-p"]);
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Changes the size of the pane; the program gets the signal for that.
    pub fn resize(&self, rows: u16, columns: u16) {
        self.run(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Waits until the pane contains a text, and returns the pane.
    ///
    /// # Panics
    /// The text does not appear in time.
    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_until(text, |pane| pane.contains(text))
    }

    /// Waits until a condition holds for the pane, and returns the pane.
    ///
    /// # Panics
    /// The condition does not hold in time.
    pub fn wait_until(&self, expected: &str, condition: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PANE_DEADLINE;
        loop {
            let pane = self.pane_text();
            if condition(&pane) {
                return pane;
            }
            assert!(Instant::now() < deadline, "the pane does not show: {expected}\n--- pane\n{pane}\n---");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until the program ends; its exit code, and the last pane.
    ///
    /// # Panics
    /// The program does not end in time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a test owns its tmux and its files")]
    pub fn wait_for_exit(self) -> (i32, String) {
        let deadline = Instant::now() + PANE_DEADLINE;
        loop {
            if let Ok(code) = std::fs::read_to_string(&self.exit_code) {
                return (code.trim().parse().unwrap_or(-1), self.pane_text());
            }
            let is_late = Instant::now() >= deadline;
            assert!(!is_late, "the program does not end\n--- pane\n{}\n---", self.pane_text());
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = self.tmux_command();
        command.args(args);
        run_tmux(command)
    }

    /// tmux on the socket of this session, in UTF-8 whatever the locale says.
    #[expect(clippy::disallowed_methods, reason = "a test owns its tmux and its files")]
    fn tmux_command(&self) -> Command {
        let mut command = Command::new(&self.tmux);
        command.env_remove("TMUX").arg("-u").arg("-S").arg(&self.socket);
        command
    }
}

/// Ends the server of this session with everything in it, so that a failed test leaves nothing behind.
impl Drop for TmuxSession {
    fn drop(&mut self) {
        // The server may have ended already.
        drop(self.tmux_command().arg("kill-server").output());
    }
}

/// The tmux of the machine.
#[expect(clippy::disallowed_methods, reason = "the environment of a test is that of its machine")]
fn find_tmux() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&path).map(|folder| folder.join("tmux"));
    let found = on_path.find(|file| file.is_file());
    assert!(
        found.is_some(),
        "tmux is not on the `PATH`: install it, for example with `apt-get install tmux`"
    );
    found.unwrap_or_default()
}

#[expect(clippy::expect_used, reason = "a test cannot go on without its terminal")]
fn run_tmux(mut command: Command) -> String {
    let done = command.output().expect("tmux");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?} failed: {told}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The name of a key for `send-keys`.
fn key_name(key: Key) -> String {
    let name = match key {
        Key::Enter => "Enter",
        Key::Escape => "Escape",
        Key::Tab => "Tab",
        Key::BackTab => "BTab",
        Key::Backspace => "BSpace",
        Key::Up => "Up",
        Key::Down => "Down",
        Key::Left => "Left",
        Key::Right => "Right",
        Key::PageUp => "PPage",
        Key::PageDown => "NPage",
        Key::Home => "Home",
        Key::End => "End",
        Key::Ctrl(letter) => return format!("C-{}", letter.to_ascii_lowercase()),
    };
    name.to_owned()
}
