//! Runs one command of a chore: prints it before it runs, and its time after.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::ChoreError;
use crate::workspace;

/// The prefixes of variables that `cargo run` sets for this program and that are wrong for other packages:
/// build scripts that watch them would run again after every chore.
const OURS: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// The pause between two looks at whether a command has ended.
const POLL: Duration = Duration::from_millis(200);

/// A command to run in the workspace's root.
#[derive(Debug)]
pub(crate) struct ChoreStep {
    command: Command,
    line: String,
}

impl ChoreStep {
    /// A command that runs `cargo` with these arguments.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        Self::new(&workspace::cargo_program(), "cargo", arguments)
    }

    /// A command that runs a program by its path, printed by its file name.
    pub(crate) fn program(path: &Path, arguments: &[&str]) -> Self {
        let shown = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Self::new(path.as_os_str(), &shown, arguments)
    }

    fn new(program: &OsStr, shown: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.current_dir(workspace::workspace_root()).args(arguments).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if OURS.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let line = std::iter::once(shown).chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ");
        Self { command, line }
    }

    /// Sets an environment variable.
    pub(crate) fn with_env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.line = format!("{name}={} {}", quote_argument(value), self.line);
        self
    }

    /// Runs the command in a folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Appends arguments.
    pub(crate) fn with_args(mut self, arguments: &[String]) -> Self {
        self.command.args(arguments);
        for argument in arguments {
            self.line = format!("{} {}", self.line, quote_argument(argument));
        }
        self
    }

    /// Runs the command with inherited output streams.
    pub(crate) fn run(mut self) -> Result<(), ChoreError> {
        let started = self.print_line();
        let status = self.command.status();
        self.report_result(status, started)
    }

    /// Runs the command until it ends or, at the `deadline`, is interrupted as a person would by Ctrl-C; whether it
    /// ended by itself.
    pub(crate) fn run_until(mut self, deadline: Instant) -> Result<bool, ChoreError> {
        let started = self.print_line();
        let start_error = |line: &str| {
            let line = line.to_owned();
            |source| ChoreError::Start { line, source }
        };
        let mut child = self.command.spawn().map_err(start_error(&self.line))?;
        let mut status = child.try_wait().map_err(start_error(&self.line))?;
        while status.is_none() && Instant::now() < deadline {
            std::thread::sleep(POLL);
            status = child.try_wait().map_err(start_error(&self.line))?;
        }
        if let Some(status) = status {
            return self.report_result(Ok(status), started).map(|()| true);
        }
        let interrupted = rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::INT,
        );
        interrupted.map_err(|error| start_error(&self.line)(error.into()))?;
        child.wait().map_err(start_error(&self.line))?;
        eprintln!("  interrupted after {:.1} s", started.elapsed().as_secs_f64());
        Ok(false)
    }

    /// Runs the command and returns its standard output.
    pub(crate) fn run_for_output(mut self) -> Result<String, ChoreError> {
        let started = self.print_line();
        let output = self.command.stderr(Stdio::inherit()).output();
        let (status, text) = match output {
            Ok(output) => (Ok(output.status), String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(error) => (Err(error), String::new()),
        };
        self.report_result(status, started).map(|()| text)
    }

    /// Runs the command and returns its standard error, with whether it succeeded.
    pub(crate) fn run_for_errors(mut self) -> Result<(bool, String), ChoreError> {
        let started = self.print_line();
        let output = self.command.stdout(Stdio::null()).output();
        eprintln!("  took {:.1} s", started.elapsed().as_secs_f64());
        match output {
            Ok(output) => Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())),
            Err(source) => Err(ChoreError::Start { line: self.line, source }),
        }
    }

    /// Runs a `cargo build` and returns the path of the program `name` that it built, which depends on the
    /// target folder.
    pub(crate) fn run_build(self, name: &str) -> Result<PathBuf, ChoreError> {
        self.run_build_with(name, &[])
    }

    /// Runs a `cargo rustc` with these arguments for the compiler of the last crate, and returns the path of the
    /// program `name` that it built.
    pub(crate) fn run_build_with(self, name: &str, compiler: &[&str]) -> Result<PathBuf, ChoreError> {
        let step = self.with_args(&["--message-format".to_owned(), "json-render-diagnostics".to_owned()]);
        let behind = if compiler.is_empty() { None } else { Some("--") };
        let words: Vec<String> = behind.iter().chain(compiler).map(|word| (*word).to_owned()).collect();
        let step = step.with_args(&words);
        let silent = ChoreError::Silent { line: step.line.clone(), wanted: "its program".to_owned() };
        let messages = step.run_for_output()?;
        let program = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message.pointer("/target/name").and_then(Value::as_str) == Some(name))
            .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from));
        program.ok_or(silent)
    }

    /// Runs the command silently and returns its standard output; `None` if it fails.
    pub(crate) fn run_silently(mut self) -> Option<String> {
        let output = self.command.stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The command line as printed.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    fn print_line(&self) -> Instant {
        eprintln!("$ {}", self.line);
        Instant::now()
    }

    fn report_result(self, status: std::io::Result<ExitStatus>, started: Instant) -> Result<(), ChoreError> {
        let line = self.line;
        let status = match status {
            Ok(status) => status,
            Err(source) => return Err(ChoreError::Start { line, source }),
        };
        eprintln!("  took {:.1} s", started.elapsed().as_secs_f64());
        match status.code() {
            Some(0) => Ok(()),
            // Codes above 255 exist only on Windows, where their value does not matter.
            Some(code) => Err(ChoreError::Step { line, code: u8::try_from(code).unwrap_or(1) }),
            None => Err(ChoreError::Signal { line }),
        }
    }
}

fn quote_argument(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::ChoreStep;
    use crate::error::ChoreError;

    #[test]
    fn command_is_interrupted_at_its_deadline_and_otherwise_keeps_its_exit_code() {
        let shell = |script: &str| ChoreStep::program(Path::new("sh"), &["-c", script]);
        let endless = "trap 'exit 0' INT; while :; do sleep 0.01; done";
        assert!(!shell(endless).run_until(Instant::now()).unwrap());
        let later = Instant::now() + Duration::from_mins(10);
        assert!(shell("exit 0").run_until(later).unwrap());
        let error = shell("exit 3").run_until(later).unwrap_err();
        assert!(matches!(error, ChoreError::Step { code: 3, .. }), "{error}");
    }
}
