//! A home of one test's own, and a host in it.

use std::path::{Path, PathBuf};

use mcparley::catalog::Budget;
use mcparley::config::StartPolicy;
use mcparley::{Host, Paths, RunOptions};
use mcparley_gateway::{Gateway, GatewayMode};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// The configuration of a gateway for a test.
pub(crate) struct World {
    folder: TempDir,
    servers: Map<String, Value>,
    run_options: RunOptions,
    is_audited: bool,
    has_vault: bool,
}

impl World {
    /// A world with these servers.
    pub(crate) fn with<'s>(servers: impl IntoIterator<Item = (&'s str, ScriptedStdio)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("home/project")).unwrap();
        let mut run_options = RunOptions::default();
        run_options.env.set("PATH", "/usr/bin:/bin");
        let entry = |(name, server): (&str, ScriptedStdio)| {
            (name.to_owned(), json!({ "command": server.program, "args": server.args }))
        };
        let servers = servers.into_iter().map(entry).collect();
        Self { folder, servers, run_options, is_audited: false, has_vault: false }
    }

    /// A world with one server behind a URL.
    pub(crate) fn with_url(name: &str, url: &str) -> Self {
        let mut world = Self::with([]);
        world.add_url(name, "http", url);
        world
    }

    /// Stores sign-ins, and caches what is known about servers.
    pub(crate) fn with_vault(mut self) -> Self {
        self.run_options.env.set("MCPARLEY_VAULT_STORAGE", "file");
        self.has_vault = true;
        self
    }

    /// Changes the entry of a server.
    pub(crate) fn set_member(mut self, server: &str, member: &str, value: Value) -> Self {
        self.servers[server][member] = value;
        self
    }

    /// Adds a server behind a URL, with its type of transport.
    pub(crate) fn add_url(&mut self, name: &str, transport: &str, url: &str) {
        self.servers.insert(name.to_owned(), json!({ "type": transport, "url": url }));
    }

    /// One correct server, called `one`.
    pub(crate) fn one() -> Self {
        Self::with([("one", ScriptedStdio::new(&[]))])
    }

    pub(crate) fn allow(mut self, rule: &str) -> Self {
        self.run_options.allowed_tools.push(rule.to_owned());
        self
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        self.run_options.disallowed_tools.push(rule.to_owned());
        self
    }

    /// Keeps an audit log.
    pub(crate) fn audited(self) -> Self {
        Self { is_audited: true, ..self }
    }

    pub(crate) fn audit_path(&self) -> PathBuf {
        self.path("audit.jsonl")
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
    pub(crate) fn add(&mut self, name: &str, server: &ScriptedStdio) {
        self.servers.insert(name.to_owned(), json!({ "command": server.program, "args": server.args }));
        self.configure();
    }

    /// Starts the host, without the built-in server.
    pub(crate) fn gateway(self) -> Served {
        self.within(Budget::without_limit())
    }

    /// Sets the token budget for tool definitions.
    pub(crate) fn within(self, budget: Budget) -> Served {
        self.configure();
        let paths = self.paths();
        let host =
            Host::builder(&paths, &self.run_options).start_with(StartPolicy::All).without_built_in_server();
        let host = Gateway::prepare_host(host).start();
        Served { gateway: Gateway::new(host.clone(), budget), host, world: self }
    }

    /// Starts the host behind a gateway of this mode.
    pub(crate) fn in_mode(self, mode: GatewayMode) -> Served {
        let Served { gateway, host, world } = self.gateway();
        Served { gateway: gateway.with_mode(mode), host, world }
    }

    pub(crate) fn paths(&self) -> Paths {
        let root = self.folder.path().canonicalize().unwrap();
        let mut paths = Paths::new(&root.join("home"), &root.join("home/project"));
        paths.managed = root.join("managed");
        paths.audit = self.is_audited.then(|| root.join("audit.jsonl"));
        if self.has_vault {
            paths.secrets = Some(root.join("secrets"));
            paths.cache = Some(root.join("cache"));
        }
        paths
    }
}

/// A gateway, and the files it follows.
pub(crate) struct Served {
    gateway: Gateway,
    host: Host,
    pub(crate) world: World,
}

impl Served {
    /// The host behind the gateway.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }
}

impl std::ops::Deref for Served {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}

/// A scripted server that logs the messages it receives.
pub(crate) fn logged(scripts: &[&str], log: &Path) -> ScriptedStdio {
    ScriptedStdio::new(scripts).with_log(log)
}
