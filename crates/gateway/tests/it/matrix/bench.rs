//! The parts of one cell: a server, a gateway before it, and a client.

use std::path::PathBuf;

use mcparley::model::name::ServerName;
use mcparley_gateway::GatewayMode;
use mcparley_testkit::{HttpServer, ScriptedStdio, client_message_violation, log_lines};
use serde_json::{Value, json};

use crate::client::{Client, LONG, NEW};
use crate::door::OpenDoors;
use crate::http_link::HttpLink;
use crate::link::ClientLink;
use crate::matrix::cell::{Cell, Door, Feature, Revision, Transport};
use crate::world::{Served, World};

/// The parts of one cell, while it runs.
pub(crate) struct Bench {
    pub(crate) cell: Cell,
    pub(crate) client: Client,
    /// The capabilities of the gateway, as the client got them.
    pub(crate) offered: Value,
    /// The server, if it is one over HTTP.
    http: Option<HttpServer>,
    served: Served,
    _doors: Option<OpenDoors>,
}

impl Bench {
    /// Starts the server and the gateway, and greets as the client.
    pub(crate) async fn open(cell: Cell) -> Self {
        let mut world = World::with([]).allow("mcp__one");
        let (log, described) = (world.path("log"), world.path("described"));
        std::fs::write(&described, "before").unwrap();
        let mut scripts = scripts(cell.feature);
        if cell.feature == Feature::ListChange {
            scripts.push(format!("described:{}", described.display()));
        }
        let is_legacy = cell.server == Revision::R2024November && cell.up == Transport::Http;
        if is_legacy {
            scripts.push("legacy-sse-only:good".to_owned());
        }
        let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
        let (version, log) = (cell.server.as_str(), log.to_string_lossy().into_owned());
        let http = match cell.up {
            Transport::Stdio => {
                let server = ScriptedStdio::new(&scripts);
                world.add("one", &server.with_option("--versions", version).with_option("--log", &log));
                None
            }
            Transport::Http => {
                let options = ["--versions", version, "--log", &log, "--answer", "sse"];
                let server = HttpServer::start_with(&scripts, &options);
                world.add_url("one", if is_legacy { "sse" } else { "http" }, server.url());
                Some(server)
            }
        };
        let served = match cell.is_transparent {
            true => world.in_mode(GatewayMode::transparent(ServerName::new("one"))),
            false => world.gateway(),
        };
        let (link, doors) = match cell.down {
            Door::Stdio => (ClientLink::over_streams(&served), None),
            Door::Http => {
                let doors = OpenDoors::open_plain(&served).await;
                let link = HttpLink::connect(doors.address, cell.client.as_str()).await;
                (ClientLink::Http(Box::new(link)), Some(doors))
            }
        };
        let mut client = Client::over(link, cell.client.as_str());
        let mut offered = client.greet(capabilities(&cell)).await;
        if cell.client.is_new() {
            offered = client.ask("server/discover", json!({})).await["result"]["capabilities"].clone();
        }
        Self { cell, client, offered, http, served, _doors: doors }
    }

    /// The client's name of a tool.
    pub(crate) fn tool(&self, name: &str) -> String {
        if self.cell.is_transparent { name.to_owned() } else { format!("one__{name}") }
    }

    /// The client's address of a resource.
    pub(crate) fn address(&self, uri: &str) -> String {
        if self.cell.is_transparent { uri.to_owned() } else { format!("one+{uri}") }
    }

    /// The parameters of a call of `echo`.
    pub(crate) fn echo(&self) -> Value {
        json!({ "name": self.tool("echo"), "arguments": { "message": "hello" } })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.served.world.path(name)
    }

    /// The messages that the server has received so far.
    pub(crate) fn server_messages(&self) -> Vec<Value> {
        let log = self.path("log");
        let lines = if log.exists() { log_lines(&log) } else { Vec::new() };
        lines.iter().filter_map(|line| self.parse_line(&line.text)).collect()
    }

    fn parse_line(&self, line: &str) -> Option<Value> {
        let line: Value = serde_json::from_str(line).ok()?;
        match self.cell.up {
            Transport::Stdio => Some(line),
            Transport::Http => serde_json::from_str(line["body"].as_str()?).ok(),
        }
    }

    /// Waits until the server has received a message of this method, and returns the first one.
    pub(crate) async fn await_server_message(&self, method: &str) -> Value {
        let look = async {
            loop {
                let found = self.server_messages().into_iter().find(|message| message["method"] == method);
                match found {
                    Some(message) => return message,
                    None => tokio::task::yield_now().await,
                }
            }
        };
        let found = tokio::time::timeout(LONG, look).await;
        found.unwrap_or_else(|_| panic!("the server got no {method}: {:?}", self.server_messages()))
    }

    /// Waits until the server has stopped a call that was canceled.
    pub(crate) async fn await_cancellation(&self) {
        let Some(http) = self.http.as_ref().filter(|_| self.cell.server.is_new()) else {
            self.await_server_message("notifications/cancelled").await;
            return;
        };
        let look = async {
            while http.stats()["cancelled"].as_array().is_none_or(Vec::is_empty) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, look).await.expect("the server stops the call");
    }

    /// Fails if the server has received a message that its revision does not have.
    pub(crate) fn check_server_messages(&self) {
        let messages = self.server_messages();
        assert!(!messages.is_empty(), "the server got nothing");
        for message in messages {
            // The request by which the era of a server is found is one of the new era.
            let is_probe = message["method"] == "server/discover";
            let revision = if is_probe { NEW } else { self.cell.server.as_str() };
            assert_eq!(client_message_violation(revision, &message), None);
        }
    }
}

fn scripts(feature: Feature) -> Vec<String> {
    let script = match feature {
        Feature::Call | Feature::Progress | Feature::Cancel => return Vec::new(),
        Feature::Form => "asks:form",
        Feature::Url => "asks:url",
        Feature::Sampling => "asks:sampling",
        Feature::Roots => "asks:roots",
        Feature::ListChange => "list-changed-storm:1",
        Feature::Subscription => "watched",
        Feature::Log => "logging",
        Feature::Task => "task:2",
    };
    vec![script.to_owned()]
}

/// The capabilities of the client, as its revision has them.
fn capabilities(cell: &Cell) -> Value {
    let mut capabilities = json!({ "sampling": {} });
    if cell.client >= Revision::R2025June {
        capabilities["elicitation"] = json!({});
    }
    if cell.client >= Revision::R2025November {
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
    }
    if cell.feature == Feature::Roots {
        capabilities["roots"] = json!({});
    }
    if cell.client.is_new() {
        capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    capabilities
}
