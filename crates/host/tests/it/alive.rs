//! A host with real servers, for one test.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcparley::config::StartPolicy;
use mcparley::host::HostServer;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley::{Call, CallError, CallOutcome, Host, HostBuilder, Paths};
use mcparley_testkit::{HttpServer, ScriptedStdio, processes_tagged};
use serde_json::{Map, Value, json};

use crate::world::World;

/// A timeout longer than any step takes on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A host, and the files it was made from.
pub(crate) struct Alive {
    pub(crate) host: Host,
    pub(crate) world: World,
}

/// The configuration of a host for a test.
pub(crate) struct Making {
    servers: Map<String, Value>,
    world: World,
    start: StartPolicy,
}

/// A host with these servers in the user's file.
pub(crate) fn servers<'s>(entries: impl IntoIterator<Item = (&'s str, Value)>) -> Making {
    let servers = entries.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect();
    let mut world = World::new();
    world.set("PATH", "/usr/bin:/bin");
    Making { servers, world, start: StartPolicy::All }
}

impl Making {
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.world.set(name, value);
        self
    }

    pub(crate) fn allow(mut self, rule: &str) -> Self {
        self.world.run_options.allowed_tools.push(rule.to_owned());
        self
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        self.world.run_options.disallowed_tools.push(rule.to_owned());
        self
    }

    pub(crate) fn wish(mut self, change: impl FnOnce(&mut mcparley::RunOptions)) -> Self {
        change(&mut self.world.run_options);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.world.path(path)
    }

    pub(crate) fn paths(&self) -> mcparley::Paths {
        self.world.paths()
    }

    pub(crate) fn run_options(&self) -> mcparley::RunOptions {
        self.world.run_options.clone()
    }

    pub(crate) fn file(self, path: &str, text: &Value) -> Self {
        self.world.write(path, &text.to_string());
        self
    }

    /// One more server.
    pub(crate) fn with_server(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        self
    }

    pub(crate) fn start_with(mut self, start: StartPolicy) -> Self {
        self.start = start;
        self
    }

    /// Starts the host.
    pub(crate) fn start(self) -> Alive {
        self.start_as(|builder| builder)
    }

    pub(crate) fn start_as(self, change: impl FnOnce(HostBuilder) -> HostBuilder) -> Alive {
        let paths = self.world.paths();
        self.start_among(&paths, change)
    }

    /// Starts the host with some files elsewhere than usual.
    pub(crate) fn start_in(self, change: impl FnOnce(&mut Paths)) -> Alive {
        let mut paths = self.world.paths();
        change(&mut paths);
        self.start_among(&paths, |builder| builder)
    }

    fn start_among(self, paths: &Paths, change: impl FnOnce(HostBuilder) -> HostBuilder) -> Alive {
        let Self { servers, world, start } = self;
        world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
        let builder = Host::builder(paths, &world.run_options).start_with(start);
        Alive { host: change(builder).start(), world }
    }

    /// Starts the host and waits for its servers.
    pub(crate) async fn ready(self) -> Alive {
        let alive = self.start();
        assert!(alive.host.wait_until_ready(LONG).await.settled);
        alive
    }
}

impl Alive {
    pub(crate) fn server(&self, name: &str) -> HostServer {
        self.host.servers().into_iter().find(|server| server.name.as_str() == name).unwrap()
    }

    pub(crate) fn status(&self, name: &str) -> ServerStatus {
        self.server(name).state.status
    }

    /// Calls as a person would.
    pub(crate) async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<CallOutcome, CallError> {
        self.host.call(Call::on_server(server, tool, arguments).with_consent(Consent::Given)).await
    }

    pub(crate) async fn echo(&self, server: &str, message: &str) -> Result<String, CallError> {
        self.call(server, "echo", json!({ "message": message })).await.map(|outcome| outcome.to_text())
    }

    /// Waits until the server is as wanted.
    pub(crate) async fn until(&self, name: &str, wanted: fn(&ServerStatus) -> bool) {
        let mut events = self.host.server_events();
        let waiting = async {
            while !wanted(&self.status(name)) {
                // One that fell behind looks again.
                let _event = events.recv().await;
            }
        };
        tokio::time::timeout(LONG, waiting).await.unwrap();
    }

    pub(crate) async fn reach(&self, name: &str) {
        self.host.connect_server(&ServerName::new(name)).await.unwrap();
    }
}

/// The entry of a scripted server.
pub(crate) fn stdio(scripted: &ScriptedStdio) -> Value {
    json!({ "command": scripted.program, "args": scripted.args })
}

/// The entry of a server that follows these scripts.
pub(crate) fn scripted(scripts: &[&str]) -> Value {
    stdio(&ScriptedStdio::new(scripts))
}

/// The entry of a server behind a URL.
pub(crate) fn http(server: &HttpServer) -> Value {
    json!({ "type": "http", "url": server.url() })
}

/// The entry of a server behind a WebSocket.
pub(crate) fn socket(server: &HttpServer) -> Value {
    json!({ "type": "ws", "url": server.socket_url() })
}

/// An entry with one more field.
pub(crate) fn with(mut entry: Value, name: &str, value: impl Into<Value>) -> Value {
    entry.as_object_mut().unwrap().insert(name.to_owned(), value.into());
    entry
}

/// A log file and a tag that no other test has.
pub(crate) fn own(name: &str) -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let tag = format!("{name}-{}", std::process::id());
    (folder, log, tag)
}

/// Waits until no process with the tag is left; the time is the caller's to judge.
pub(crate) fn until_gone(tag: &str, limit: Duration) -> Duration {
    let begun = Instant::now();
    while !processes_tagged(tag).is_empty() {
        assert!(begun.elapsed() < limit, "left: {:?}", processes_tagged(tag));
        std::thread::yield_now();
    }
    begun.elapsed()
}

pub(crate) fn is_connected(status: &ServerStatus) -> bool {
    matches!(status, ServerStatus::Connected { .. })
}
