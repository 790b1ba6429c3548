//! One table: every kind of transport through a whole life. Connect, list, call, die, reconnect, close.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::config::EditorChoice;
use mcparley::model::config::TransportKind;
use mcparley::model::name::ServerName;
use mcparley::model::secret::Secret;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley::pool::organization::{Organization, StoredToken};
use mcparley::{Call, Host, HostBuilder};
use mcparley_testkit::{HttpServer, ScriptedStdio, processes_tagged};
use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};

use crate::alive::{LONG, own};
use crate::world::World;

const STEPS: [&str; 6] = ["connect", "list", "call", "server dies", "reconnect", "close"];

/// A server of one kind, and how it is ended and started from outside.
struct Subject {
    name: &'static str,
    host: Host,
    tool: &'static str,
    arguments: Value,
    answer: &'static str,
    life: Life,
    _world: World,
}

enum Life {
    /// A process with this tag; the host starts it again.
    Process(String),
    /// A server that others start, on its port and with these scripts.
    Remote { server: Option<HttpServer>, port: String, scripts: Vec<String> },
    /// A handler that panics when it is told to.
    Inside,
}

impl Life {
    fn remote(scripts: Vec<String>) -> (Self, String) {
        let server = start(&scripts, None);
        let address = server.address().to_owned();
        let port = address.rsplit(':').next().unwrap().to_owned();
        (Self::Remote { server: Some(server), port, scripts }, address)
    }
}

fn start(scripts: &[String], port: Option<&str>) -> HttpServer {
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let mut options = vec!["--versions", "2025-11-25"];
    options.extend(port.into_iter().flat_map(|port| ["--port", port]));
    HttpServer::start_with(&scripts, &options)
}

/// A server inside this program.
struct Within;

impl Handler for Within {
    fn handle_request(
        &self,
        Incoming { method, params, .. }: Incoming,
    ) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = match &*method {
            "server/discover" => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
            }
            "tools/list" => {
                let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
                json!({ "tools": [tool("hello"), tool("die")] })
            }
            "tools/call" if params.as_ref().is_some_and(|params| params.as_str().contains("\"die\"")) => {
                panic!("as it was told to");
            }
            _ => json!({ "content": [{ "type": "text", "text": "inside" }] }),
        };
        Box::pin(std::future::ready(RawJson::from_value(&answer).map_err(|_| RpcError::new(-32603, "x"))))
    }

    fn handle_notice(&self, _notice: Notice) {}
}

fn world_with(entry: &Value) -> World {
    let mut world = World::new();
    world.set("PATH", "/usr/bin:/bin");
    world.write("home/.claude.json", &json!({ "mcpServers": { "it": entry } }).to_string());
    world
}

fn configured(entry: &Value, life: Life) -> Subject {
    let world = world_with(entry);
    let host = HostBuilder::new(&world.paths(), world.load()).start();
    subject("it", host, life, world)
}

fn subject(name: &'static str, host: Host, life: Life, world: World) -> Subject {
    let arguments = json!({ "message": "hello" });
    Subject { name, host, tool: "echo", arguments, answer: "hello", life, _world: world }
}

/// An editor with the folder open, found through its lock file.
fn editor(transport: &str) -> Subject {
    let mut world = World::new();
    world.run_options.ide = Some(EditorChoice::Nearest);
    let mut scripts = vec!["ide:key-1".to_owned()];
    if transport == "sse" {
        scripts.insert(0, "legacy-sse-only".to_owned());
    }
    let (life, address) = Life::remote(scripts);
    let path = format!("home/.claude/ide/{}.lock", address.rsplit(':').next().unwrap());
    let lock = json!({
        "pid": std::process::id(), "workspaceFolders": [world.path("home/project")], "ideName": "Ed",
        "transport": transport, "authToken": "key-1",
    });
    world.write(&path, &lock.to_string());
    std::fs::set_permissions(world.path(&path), std::fs::Permissions::from_mode(0o600)).unwrap();
    let host = HostBuilder::new(&world.paths(), world.load()).start();
    let subject = subject("ide", host, life, world);
    Subject { tool: "executeCode", arguments: json!({ "code": "hello" }), ..subject }
}

/// A connector behind the organization's proxy.
async fn connector() -> Subject {
    let world = World::new();
    let page = json!({ "data": [{ "id": "s", "display_name": "Slack" }], "has_more": false });
    world.write("pages", &page.to_string());
    world.write("tokens", "token-1");
    let scripts = [("connectors", "pages"), ("token-file", "tokens")];
    let scripts = scripts.map(|(script, file)| format!("{script}:{}", world.path(file).display()));
    let (life, address) = Life::remote(scripts.to_vec());
    let token = StoredToken::new(Some(Secret::new("token-1".to_owned())), world.path("none"));
    let organization = Organization::from_url(&format!("http://{address}"), Arc::new(token)).unwrap();
    let builder = Host::builder(&world.paths(), &world.run_options).organization(Some(organization));
    let host = builder.start();
    let begun = Instant::now();
    while host.servers().len() < 2 {
        assert!(begun.elapsed() < LONG, "the connectors never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    subject("claude.ai Slack", host, life, world)
}

async fn subject_of(kind: TransportKind) -> Subject {
    let remote = |scripts: &[&str]| Life::remote(scripts.iter().map(|it| (*it).to_owned()).collect());
    match kind {
        TransportKind::Stdio => {
            let (_folder, _, tag) = own("transports");
            let scripted = ScriptedStdio::new(&[]).with_option("--tag", &tag);
            configured(&json!({ "command": scripted.program, "args": scripted.args }), Life::Process(tag))
        }
        TransportKind::Sse => {
            let (life, address) = remote(&["legacy-sse-only"]);
            configured(&json!({ "type": "sse", "url": format!("http://{address}/mcp") }), life)
        }
        TransportKind::Http => {
            let (life, address) = remote(&[]);
            configured(&json!({ "type": "http", "url": format!("http://{address}/mcp") }), life)
        }
        TransportKind::Ws => {
            let (life, address) = remote(&[]);
            configured(&json!({ "type": "ws", "url": format!("ws://{address}/mcp") }), life)
        }
        TransportKind::Sdk => {
            let world = World::new();
            let builder = HostBuilder::new(&world.paths(), world.load());
            let host = builder.in_process_handler("inside", Arc::new(Within)).start();
            Subject { tool: "hello", answer: "inside", ..subject("inside", host, Life::Inside, world) }
        }
        TransportKind::SseIde => editor("sse"),
        TransportKind::WsIde => editor("ws"),
        TransportKind::ClaudeAiProxy => connector().await,
    }
}

impl Subject {
    fn status(&self) -> ServerStatus {
        let servers = self.host.servers();
        servers.into_iter().find(|server| server.name.as_str() == self.name).unwrap().state.status
    }

    fn kind(&self) -> TransportKind {
        let servers = self.host.servers();
        servers.into_iter().find(|server| server.name.as_str() == self.name).unwrap().kind
    }

    async fn call(&self, tool: &str) -> Result<String, String> {
        let call = Call::on_server(self.name, tool, self.arguments.clone()).with_consent(Consent::Given);
        match self.host.call(call).await {
            Ok(outcome) if outcome.to_text() == self.answer => Ok(outcome.to_text()),
            Ok(outcome) => Err(format!("answered `{}`", outcome.to_text())),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn until(&self, wanted: fn(&ServerStatus) -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !wanted(&self.status()) {
            if begun.elapsed() > LONG {
                return Err(format!("stays {:?}", self.status()));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    async fn step(&mut self, step: &str) -> Result<(), String> {
        let name = ServerName::new(self.name);
        match step {
            "connect" => self.host.connect_server(&name).await.map_err(|error| error.to_string()),
            "list" => {
                let catalog = self.host.publish_catalog();
                let mut own = catalog.iter().filter(|entry| entry.server() == Some(&name));
                let is_there = own.any(|entry| entry.tool.name.as_str() == self.tool);
                is_there.then_some(()).ok_or_else(|| "its tool is not listed".to_owned())
            }
            "call" => self.call(self.tool).await.map(drop),
            "server dies" => self.die().await,
            "reconnect" => {
                if let Life::Remote { server, port, scripts } = &mut self.life {
                    *server = Some(start(scripts, Some(port)));
                }
                self.until(|status| matches!(status, ServerStatus::Connected { .. })).await?;
                self.call(self.tool).await.map(drop)
            }
            _ => self.close().await,
        }
    }

    async fn die(&mut self) -> Result<(), String> {
        // Before it can be noticed: one inside this program is back at once.
        let mut events = self.host.server_events();
        match &mut self.life {
            Life::Process(tag) => {
                let [process] = processes_tagged(tag)[..] else {
                    return Err("more than one process".to_owned());
                };
                std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
            }
            Life::Remote { server, .. } => drop(server.take()),
            Life::Inside => drop(self.call("die").await.unwrap_err()),
        }
        let noticed = async {
            loop {
                match events.recv().await {
                    Ok(event) if event.server.as_str() == self.name => return event.status,
                    Ok(_) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        };
        match tokio::time::timeout(LONG, noticed).await {
            Ok(ServerStatus::Pending { because: Some(_), .. }) => Ok(()),
            Ok(other) => Err(format!("it became {other:?}")),
            Err(_) => Err("nobody noticed".to_owned()),
        }
    }

    async fn close(&self) -> Result<(), String> {
        let begun = Instant::now();
        self.host.shut_down().await;
        let took = begun.elapsed();
        let left = match &self.life {
            Life::Process(tag) => processes_tagged(tag).len(),
            Life::Remote { .. } | Life::Inside => 0,
        };
        match (self.status(), self.call(self.tool).await) {
            (ServerStatus::Stopped, Err(_)) if left == 0 && took < Duration::from_secs(3) => Ok(()),
            (status, answer) => Err(format!("{status:?}, {answer:?}, {left} left, after {took:?}")),
        }
    }
}

// T1 T2 T3 T4 T5 T6 T7 L1 L5 L6 L8
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the table is what this test is for")]
async fn every_transport_connects_calls_dies_reconnects_and_closes() {
    let mut table = format!("| transport | {} |\n|{}\n", STEPS.join(" | "), "---|".repeat(7));
    let mut wrong = Vec::new();
    for kind in TransportKind::ALL {
        let mut subject = subject_of(kind).await;
        assert_eq!(subject.kind(), kind);
        write!(table, "| `{kind}` |").unwrap();
        for step in STEPS {
            let begun = Instant::now();
            let late = Err("it never ended".to_owned());
            let done = tokio::time::timeout(2 * LONG, subject.step(step)).await.unwrap_or(late);
            let took = begun.elapsed().as_millis();
            match done {
                Ok(()) => write!(table, " ok, {took} ms |").unwrap(),
                Err(why) => {
                    write!(table, " FAILED |").unwrap();
                    wrong.push(format!("{kind}, {step}: {why}"));
                }
            }
        }
        table.push('\n');
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:#?}\n{table}");
}
