//! The measured programs and the empty home they run in.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, json};

/// The programs, and a temporary home for the measurement.
pub(crate) struct BenchStage {
    pub(crate) server: PathBuf,
    pub(crate) limit: PathBuf,
    pub(crate) relay: PathBuf,
    pub(crate) mcparley: PathBuf,
    home: tempfile::TempDir,
}

impl BenchStage {
    /// Finds the programs that were built with this one, and builds `mcparley` unless its path is given.
    pub(crate) fn new(given: Option<PathBuf>) -> io::Result<Self> {
        let mcparley = find_mcparley(given)?;
        let (server, limit) =
            (sibling_program("mcparley-bench-server")?, sibling_program("mcparley-bench-limit")?);
        let relay = sibling_program("mcparley-bench-relay")?;
        Ok(Self { server, limit, relay, mcparley, home: tempfile::tempdir()? })
    }

    /// The home, which is also the project.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file that configures `count` servers, in the format that all programs understand.
    pub(crate) fn write_configuration(&self, count: usize) -> io::Result<PathBuf> {
        self.write_configuration_with(count, &[])
    }

    /// Writes a file that configures `count` servers with these arguments.
    pub(crate) fn write_configuration_with(&self, count: usize, arguments: &[String]) -> io::Result<PathBuf> {
        let path = self.home.path().join(format!("{count}{}.json", arguments.concat()));
        // Identical entries would count as one server.
        let server = |number: usize| {
            let env = json!({ "NUMBER": number.to_string() });
            (format!("s{number:02}"), json!({ "command": self.server, "args": arguments, "env": env }))
        };
        let servers: Map<_, _> = (0..count).map(server).collect();
        std::fs::write(&path, json!({ "mcpServers": servers }).to_string())?;
        Ok(path)
    }

    /// A command that runs in the empty home, with only `PATH` and the home in its environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// The program to measure: the given one, or one that is built into the folder of this program.
pub(crate) fn find_mcparley(given: Option<PathBuf>) -> io::Result<PathBuf> {
    match given {
        Some(program) => program
            .canonicalize()
            .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", program.display()))),
        None => {
            build_mcparley()?;
            sibling_program("mcparley")
        }
    }
}

/// The path of a program that was built with this one.
pub(crate) fn sibling_program(name: &str) -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    match program.is_file() {
        true => Ok(program),
        false => {
            let message = format!("`{}` is not there: start this by `cargo run`", program.display());
            Err(io::Error::other(message))
        }
    }
}

/// How `cargo xtask dist` links the program that is shipped. Without it, relocations cost part of every start.
const SHIPPED_LINKING: [&str; 2] = ["-C", "link-arg=-Wl,-z,pack-relative-relocs"];

/// Builds `mcparley` into the folder this program was built into, which has the name of its profile.
fn build_mcparley() -> io::Result<()> {
    let program = std::env::current_exe()?;
    let folder = program.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    let profile = folder.filter(|folder| *folder != "debug").unwrap_or("dev");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["rustc", "--quiet", "--profile", profile]);
    command.args(["--package", "mcparley-cli", "--bin", "mcparley"]);
    if cfg!(target_env = "gnu") {
        command.arg("--").args(SHIPPED_LINKING);
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdout(Stdio::null());
    if command.status()?.success() { Ok(()) } else { Err(io::Error::other("`mcparley` cannot be built")) }
}
