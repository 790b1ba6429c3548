//! How a server is reached.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A server that is compared.
#[derive(Clone, Debug)]
pub enum ServerEndpoint {
    /// A program on standard input and output, started for each recording.
    Program(ServerProgram),
    /// The URL of a server that is running.
    Url(String),
}

/// A program with everything it is started with. Nothing of the own environment is passed on.
#[derive(Clone, Debug, Default)]
pub struct ServerProgram {
    /// The path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working folder; none for the one of this process.
    pub folder: Option<PathBuf>,
}

impl ServerProgram {
    /// The command that starts the program.
    #[must_use]
    pub fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(self.environment.iter().cloned());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }
}
