//! Package runners: programs that fetch a server before they start it (`npx`, `bunx`, `uvx`, `docker run`).
//!
//! The first start may download for minutes, and giving up after the usual limit would make every later start begin anew.
//! So a runner that is still at it gets more time, and whoever waits is told.

use mcparley_model::command_line::program_name;
use mcparley_model::config::{ServerConfig, Transport};
use mcparley_platform::process::{Activity, command_lines_of_tree};

use super::StartedProcess;

/// The known runners, and how each lets see that it downloads. Where `pnpm`, `yarn` or `bun` run what is installed already,
/// they start it at once.
const RUNNERS: [(&str, Manner); 13] = [
    ("npx", Manner::Alone),
    ("npm", Manner::Alone),
    ("pnpm", Manner::Alone),
    ("pnpx", Manner::Alone),
    ("yarn", Manner::Alone),
    ("uvx", Manner::Alone),
    ("uv", Manner::Alone),
    ("bunx", Manner::Installer),
    ("bun", Manner::Installer),
    ("pipx", Manner::Replaced),
    ("docker", Manner::Speaker),
    ("podman", Manner::Speaker),
    ("nerdctl", Manner::Speaker),
];

/// How a runner lets see from outside that it downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It downloads itself, and starts the server as a child of its own when it has it.
    Alone,
    /// It starts an installer first (`bun add`), and the server afterwards.
    Installer,
    /// It starts installers, and becomes the server when they are done.
    Replaced,
    /// It says so on standard error: the server is no process of ours.
    Speaker,
}

/// What runners say on standard error while they fetch something.
const FETCHING: [&str; 5] =
    ["Unable to find image", "Pulling from", "Pulling fs layer", "Trying to pull", "Copying blob"];

/// A package runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageRunner {
    /// Its name, without its folder.
    pub(super) name: String,
    manner: Manner,
}

impl PackageRunner {
    /// The runner that an entry starts, if it starts one.
    pub(super) fn of(config: &ServerConfig) -> Option<Self> {
        let Transport::Stdio(stdio) = &config.transport else { return None };
        let name = program_name(&stdio.command);
        let (name, manner) = RUNNERS.iter().find(|(known, _)| *known == name)?;
        Some(Self { name: (*name).to_owned(), manner: *manner })
    }

    /// Whether it still fetches the server, as far as can be seen from outside.
    pub(super) fn is_downloading(&self, process: &StartedProcess) -> bool {
        match self.manner {
            Manner::Alone => {
                let tree = process.id().and_then(Activity::of_tree);
                tree.is_some_and(|tree| tree.processes == 1)
            }
            Manner::Installer => {
                let lines = process.id().map(command_lines_of_tree).unwrap_or_default();
                lines.iter().skip(1).any(|words| is_installer(words))
            }
            Manner::Replaced => {
                let lines = process.id().map(command_lines_of_tree).unwrap_or_default();
                lines.first().is_some_and(|words| self.is_named_in(words))
            }
            Manner::Speaker => {
                let said = process.stderr();
                FETCHING.iter().any(|words| said.raw().contains(words))
                    && !said.raw().contains("Status: Downloaded")
            }
        }
    }

    /// Whether a command line is the runner's own: the program, or the script that an interpreter runs.
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
    //! Which commands are runners.
    use mcparley_model::config::Stdio;
    use mcparley_model::secret::Secret;

    use super::*;

    // L3
    #[test]
    fn package_runners_are_known_by_their_names() {
        let runner = |command: &str| {
            let stdio = Stdio {
                command: command.to_owned(),
                args: vec![Secret::new("server".to_owned())],
                env: Vec::new(),
                cwd: None,
                inherit_env: false,
            };
            PackageRunner::of(&ServerConfig::new(Transport::Stdio(stdio))).map(|runner| runner.name)
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
    fn installer_and_runner_are_known_by_their_command_lines() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_installer(&words("/usr/bin/bun add server@latest --no-summary")));
        assert!(!is_installer(&words("node /cache/server add")));
        let pipx = PackageRunner { name: "pipx".to_owned(), manner: Manner::Replaced };
        assert!(pipx.is_named_in(&words("/usr/bin/python3 /usr/bin/pipx run server")));
        assert!(!pipx.is_named_in(&words("/venv/bin/python /venv/bin/server")));
    }
}
