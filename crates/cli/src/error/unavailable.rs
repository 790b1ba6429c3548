//! Missing services of this machine, and parts of a server that cannot be used.

use mcparley::model::explain::Explain;

/// A missing service of the machine, or a missing part of a server, that a command depends on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnavailableError {
    /// The home directory is unknown.
    #[error("the home directory is not known")]
    HomeDirectory,
    /// The working directory was removed or is not readable.
    #[error("cannot find the working directory: {0}")]
    WorkingDirectory(std::io::Error),
    /// The system provides no event queue (epoll).
    #[error("cannot create an event queue: {0}")]
    EventQueue(std::io::Error),
    /// Signal handlers cannot be installed.
    #[error("cannot watch signals: {0}")]
    Signals(std::io::Error),
    /// The standard streams to the client of `serve` cannot be used.
    #[error("cannot use standard input or output: {0}")]
    StandardStreams(std::io::Error),
    /// The terminal of the console cannot be read.
    #[error("cannot read the terminal: {0}")]
    Terminal(std::io::Error),
    /// The screen cannot be shown on the terminal.
    #[error("cannot show the screen: {}", super::with_sources(.0))]
    Screen(mcparley_console::screen::ScreenError),
    /// No completion script exists for the shell.
    #[error("cannot create the completion script: {0}")]
    CompletionScript(std::io::Error),
    /// The server was added, but its entry is not valid yet, so its secret could not be stored.
    #[error("the server was added, but its secret was not stored: the entry is not valid yet")]
    SecretNotStored,
    /// The schema of a tool is not valid JSON.
    #[error("cannot read the schema of `{tool}`: {error}")]
    ToolSchema { tool: String, error: serde_json::Error },
}

impl Explain for UnavailableError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::HomeDirectory => "set `HOME` to an absolute path",
            Self::WorkingDirectory(_) => "change to a folder that exists",
            Self::EventQueue(_) => "check the limit of open files: `ulimit -n`",
            Self::SecretNotStored => {
                "set the variables it needs, then run `mcparley remove` and `mcparley add` again"
            }
            Self::Signals(_)
            | Self::StandardStreams(_)
            | Self::Terminal(_)
            | Self::Screen(_)
            | Self::CompletionScript(_)
            | Self::ToolSchema { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
