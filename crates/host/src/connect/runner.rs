//! Package runners: programs that fetch a server before they start it (`npx`, `uvx`, `docker run`).
//!
//! The first start may download for minutes, and giving up after the usual limit would make every later start begin anew.
//! So a runner that is still at it gets more time.

use std::path::Path;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_platform::process::Activity;

use super::StartedProcess;

/// Runners that start the server as a child of theirs when they have it.
const PARENTS: [&str; 8] = ["npx", "npm", "pnpm", "pnpx", "yarn", "uvx", "uv", "pipx"];

/// Runners that say on standard error that they fetch something: the server is no process of ours then.
const SPEAKERS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// What they say while they do; the last word counts.
const FETCHING: [&str; 5] =
    ["Unable to find image", "Pulling from", "Pulling fs layer", "Trying to pull", "Copying blob"];

/// A package runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageRunner {
    /// Its name, without its folder.
    pub(super) name: String,
    is_parent: bool,
}

impl PackageRunner {
    /// The runner that an entry starts, if it starts one.
    pub(super) fn of(config: &ServerConfig) -> Option<Self> {
        let Transport::Stdio(stdio) = &config.transport else { return None };
        let name = Path::new(&stdio.command).file_name()?.to_str()?;
        let is_parent = PARENTS.contains(&name);
        (is_parent || SPEAKERS.contains(&name)).then(|| Self { name: name.to_owned(), is_parent })
    }

    /// Whether it still fetches the server, as far as can be seen from outside.
    pub(super) fn is_downloading(&self, process: &StartedProcess) -> bool {
        if self.is_parent {
            let tree = process.id().and_then(Activity::of_tree);
            return tree.is_some_and(|tree| tree.processes == 1);
        }
        let said = process.stderr();
        FETCHING.iter().any(|words| said.raw().contains(words)) && !said.raw().contains("Status: Downloaded")
    }
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
        assert_eq!(runner("docker").as_deref(), Some("docker"));
        assert_eq!(runner("node"), None);
    }
}
