//! Where one test with a real server happens: a world, files to work on, and what the fleet has installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use mcparley_testkit::{ExternalServer, processes_with_variable};
use serde_json::{Value, json};

use crate::world::World;

/// Marks every process that belongs to a place.
const MARK: &str = "MCPARLEY_FLEET_PLACE";

/// Who commits, whatever the machine's own configuration says.
const GIT: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "Fleet"),
    ("GIT_AUTHOR_EMAIL", "fleet@example.com"),
    ("GIT_COMMITTER_NAME", "Fleet"),
    ("GIT_COMMITTER_EMAIL", "fleet@example.com"),
];

/// A world whose project has a file `hello.txt`, and a repository `repo` with one commit.
pub(crate) struct Place {
    pub(crate) world: World,
    mark: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        static PLACES: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), PLACES.fetch_add(1, Ordering::Relaxed));
        let mut world =
            World::with(&[("home/project/hello.txt", "hello fleet"), ("home/project/repo/a.txt", "a\n")]);
        world.set(MARK, &mark);
        // Servers start programs of their own, such as git, and these may be anywhere.
        world.set("PATH", std::env::var_os("PATH").unwrap());
        let place = Self { world, mark };
        for arguments in
            [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "first commit"]]
        {
            place.git(arguments);
        }
        place
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = self.world.command_of("git".as_ref(), arguments);
        let done = self.world.finish(git.current_dir(self.work().join("repo")).envs(GIT));
        assert_eq!(done.code, 0, "git {arguments:?}: {done:?}");
    }

    /// The folder that servers work in: where the user stands, because some confine themselves to that.
    pub(crate) fn work(&self) -> &Path {
        &self.world.project
    }

    /// An entry that starts `program` with these arguments and variables.
    pub(crate) fn stdio(&self, program: &Path, args: &[&str], env: &[(&str, &str)]) -> Value {
        let mut variables = json!({MARK: self.mark});
        for (name, value) in env {
            variables[name] = (*value).into();
        }
        json!({"command": program, "args": args, "env": variables})
    }

    /// Starts `program` as an HTTP server; `adjust` tells it the port. The entry leads to its `/mcp`.
    pub(crate) fn http(
        &self,
        program: &Path,
        args: &[&str],
        adjust: impl FnOnce(&mut Command, &str),
    ) -> (Value, ExternalServer) {
        let server = ExternalServer::start(|port| {
            let mut command = self.world.command_of(program, args);
            // It is not mcparley's to end.
            command.env_remove(MARK);
            adjust(&mut command, &port.to_string());
            command
        });
        (json!({"type": "http", "url": format!("http://{}/mcp", server.address())}), server)
    }

    /// Makes it a server of the user.
    pub(crate) fn configure(&self, name: &str, entry: &Value) {
        self.world.write("home/.claude.json", &json!({"mcpServers": {name: entry}}).to_string());
    }

    /// What is left of mcparley and of all it started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_with_variable(MARK, &self.mark)
    }
}

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A file of the fleet, such as `fastmcp/bin/fastmcp`.
pub(crate) fn installed(path: &str) -> PathBuf {
    let file = repository().join(".tools/fleet").join(path);
    assert!(file.exists(), "{} is missing: run `cargo xtask fleet`", file.display());
    file
}
