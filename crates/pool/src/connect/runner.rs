//! Package runners: programs that download a server before they start it (`npx`, `bunx`, `uvx`, `docker
//! run`).
//!
//! The first start may download for minutes, and giving up at the connect timeout would make every later
//! start download again. So a runner that is still downloading gets more time, and the user is told.

use mcparley_model::command_line::program_name;
use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_platform::process::{Activity, command_lines_of_tree};

use crate::started_process::StartedProcess;

/// The known runners, each with the way to detect its download. `pnpm`, `yarn` and `bun` start an installed
/// server at once.
const RUNNERS: [(&str, DownloadDetection); 13] = [
    ("npx", DownloadDetection::NoChild),
    ("npm", DownloadDetection::NoChild),
    ("pnpm", DownloadDetection::NoChild),
    ("pnpx", DownloadDetection::NoChild),
    ("yarn", DownloadDetection::NoChild),
    ("uvx", DownloadDetection::NoChild),
    ("uv", DownloadDetection::NoChild),
    ("bunx", DownloadDetection::Installer),
    ("bun", DownloadDetection::Installer),
    ("pipx", DownloadDetection::ReplacedByServer),
    ("docker", DownloadDetection::StderrReport),
    ("podman", DownloadDetection::StderrReport),
    ("nerdctl", DownloadDetection::StderrReport),
];

/// The way to detect from outside that a runner is downloading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DownloadDetection {
    /// The runner downloads itself and then starts the server as a child: it downloads while it has no child.
    NoChild,
    /// The runner starts an installer first (`bun add`), then the server: it downloads while the installer
    /// runs.
    Installer,
    /// The runner starts installers and then replaces itself by the server (`exec`).
    ReplacedByServer,
    /// The runner reports it on standard error: the server is not a child process of ours.
    StderrReport,
}

/// Texts on standard error that show a download.
const FETCHING: [&str; 5] =
    ["Unable to find image", "Pulling from", "Pulling fs layer", "Trying to pull", "Copying blob"];

/// A package runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageRunner {
    /// The program name, without its folder.
    pub(super) name: String,
    detection: DownloadDetection,
}

impl PackageRunner {
    /// The package runner in an entry's command, if it is one.
    pub(super) fn from_config(config: &ServerConfig) -> Option<Self> {
        let TransportConfig::Stdio(stdio) = &config.transport else { return None };
        let name = program_name(&stdio.command);
        let (name, detection) = RUNNERS.iter().find(|(known, _)| *known == name)?;
        Some(Self { name: (*name).to_owned(), detection: *detection })
    }

    /// Whether the runner is still downloading the server, as far as can be seen from outside.
    pub(super) fn is_downloading(&self, process: &StartedProcess) -> bool {
        match self.detection {
            DownloadDetection::NoChild => {
                let tree = process.id().and_then(Activity::of_tree);
                tree.is_some_and(|tree| tree.processes == 1)
            }
            DownloadDetection::Installer => {
                let lines = process.id().map(command_lines_of_tree).unwrap_or_default();
                lines.iter().skip(1).any(|words| is_installer(words))
            }
            DownloadDetection::ReplacedByServer => {
                let lines = process.id().map(command_lines_of_tree).unwrap_or_default();
                lines.first().is_some_and(|words| self.is_named_in(words))
            }
            DownloadDetection::StderrReport => {
                let stderr = process.stderr();
                FETCHING.iter().any(|words| stderr.raw().contains(words))
                    && !stderr.raw().contains("Status: Downloaded")
            }
        }
    }

    /// Whether a command line is that of the runner itself: the program, or the script that an interpreter
    /// runs.
    fn is_named_in(&self, words: &[String]) -> bool {
        words.iter().take(2).any(|word| program_name(word) == self.name)
    }
}

/// Whether a command line is that of an installer: `bun add …`.
fn is_installer(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| matches!(word.as_str(), "add" | "install"))
}

#[cfg(test)]
mod tests {
    //! Detection of package runners by their commands.
    use mcparley_model::config::StdioConfig;
    use mcparley_model::secret::Secret;

    use super::*;

    // L3
    #[test]
    fn package_runners_are_detected_by_program_name() {
        let runner = |command: &str| {
            let stdio = StdioConfig {
                command: command.to_owned(),
                args: vec![Secret::new("server".to_owned())],
                env: Vec::new(),
                cwd: None,
                inherit_env: false,
            };
            PackageRunner::from_config(&ServerConfig::new(TransportConfig::Stdio(stdio)))
                .map(|runner| runner.name)
        };
        assert_eq!(runner("/usr/bin/npx").as_deref(), Some("npx"));
        for name in ["docker", "bunx", "bun", "pnpm", "yarn", "pipx", "uvx"] {
            assert_eq!(runner(name).as_deref(), Some(name));
        }
        assert_eq!(runner("npx.cmd").as_deref(), Some("npx"));
        assert_eq!(runner("node"), None);
    }

    // L3
    #[test]
    fn installer_and_runner_are_detected_by_command_line() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_installer(&words("/usr/bin/bun add server@latest --no-summary")));
        assert!(!is_installer(&words("node /cache/server add")));
        let pipx = PackageRunner { name: "pipx".to_owned(), detection: DownloadDetection::ReplacedByServer };
        assert!(pipx.is_named_in(&words("/usr/bin/python3 /usr/bin/pipx run server")));
        assert!(!pipx.is_named_in(&words("/venv/bin/python /venv/bin/server")));
    }
}
