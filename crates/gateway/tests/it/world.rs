//! A home of one test's own, and a host in it.

use std::path::{Path, PathBuf};

use mcparley::{Budget, Host, Paths, RunOptions, Start};
use mcparley_gateway::Gateway;
use mcparley_testkit::Scripted;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// What a gateway is to be made of.
pub(crate) struct World {
    folder: TempDir,
    servers: Map<String, Value>,
    run_options: RunOptions,
}

impl World {
    /// A world with these servers.
    pub(crate) fn with<'s>(servers: impl IntoIterator<Item = (&'s str, Scripted)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("home/project")).unwrap();
        let mut run_options = RunOptions::default();
        run_options.env.set("PATH", "/usr/bin:/bin");
        let entry = |(name, server): (&str, Scripted)| {
            (name.to_owned(), json!({ "command": server.program, "args": server.args }))
        };
        Self { folder, servers: servers.into_iter().map(entry).collect(), run_options }
    }

    /// One correct server, called `one`.
    pub(crate) fn one() -> Self {
        Self::with([("one", Scripted::stdio(&[]))])
    }

    pub(crate) fn allow(mut self, rule: &str) -> Self {
        self.run_options.allowed_tools.push(rule.to_owned());
        self
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        self.run_options.disallowed_tools.push(rule.to_owned());
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the file of servers that the host reads.
    pub(crate) fn configure(&self) {
        let file = self.path("home/.claude.json");
        std::fs::write(file, json!({ "mcpServers": self.servers }).to_string()).unwrap();
    }

    /// Adds a server to the file of a host that runs.
    pub(crate) fn add(&mut self, name: &str, server: &Scripted) {
        self.servers.insert(name.to_owned(), json!({ "command": server.program, "args": server.args }));
        self.configure();
    }

    /// Starts the host, without the built-in server.
    pub(crate) fn gateway(self) -> Served {
        self.within(Budget::unlimited())
    }

    /// The same with what tools may take of a model's context.
    pub(crate) fn within(self, budget: Budget) -> Served {
        self.configure();
        let paths = self.paths();
        let host = Host::builder(&paths, &self.run_options).start_with(Start::All).without_own_server();
        Served { gateway: Gateway::new(Gateway::prepare(host).start(), budget), world: self }
    }

    fn paths(&self) -> Paths {
        let root = self.folder.path().canonicalize().unwrap();
        let mut paths = Paths::of(&root.join("home"), &root.join("home/project"));
        paths.managed = root.join("managed");
        paths
    }
}

/// A gateway, and the files it follows.
pub(crate) struct Served {
    gateway: Gateway,
    pub(crate) world: World,
}

impl std::ops::Deref for Served {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}

/// A scripted server that writes down what it receives.
pub(crate) fn logged(scripts: &[&str], log: &Path) -> Scripted {
    Scripted::stdio(scripts).logged(log)
}
