//! `serve --one` before servers that others wrote: every definition, result and error is the same with and without the
//! gateway, token by token.
//!
//! Each server is compared over both transports of the gateway, by clients of both eras. The differences that the
//! gateway may make are listed in `fleet/transparency/src/allowed.rs`.

use std::path::Path;
use std::thread;

use mcparley_testkit::{ExternalServer, testkit_path};
use mcparley_transparency::{
    Comparison, GatewayDoor, GatewayProcess, ProtocolEra, Recording, RecordingOptions, ServerEndpoint,
    ServerProgram,
};
use serde_json::{Value, json};

use super::place::{Place, installed};
use super::servers::{EVERYTHING, FASTMCP, RMCP, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");

/// A PDF with one empty page.
const PDF: &str = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] \
    /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>\nendobj\nxref\n0 4\n0000000000 \
    65535 f \n0000000009 00000 n \n0000000058 00000 n \n0000000115 00000 n \ntrailer\n<< /Size 4 /Root 1 0 R \
    >>\nstartxref\n186\n%%EOF\n";

/// A server and the way to compare it.
struct ComparedServer {
    /// The entry in the configuration of the gateway.
    entry: Value,
    /// The eras that the server speaks.
    eras: &'static [ProtocolEra],
    options: RecordingOptions,
    /// Tools that are not called across eras, where the gateway does more than to pass messages on: it follows tasks
    /// for a client of the old era, and asks one of the new era for its roots in a call.
    bridged_tools: &'static [&'static str],
}

const BOTH: &[ProtocolEra] = &[ProtocolEra::Old, ProtocolEra::New];
const OLD: &[ProtocolEra] = &[ProtocolEra::Old];

impl ComparedServer {
    fn new(entry: Value, eras: &'static [ProtocolEra]) -> Self {
        Self { entry, eras, options: RecordingOptions::default(), bridged_tools: &[] }
    }

    fn without_calls(mut self, tools: &[&str]) -> Self {
        self.options.uncalled.extend(tools.iter().copied().map(str::to_owned));
        self
    }

    fn with_arguments(mut self, tool: &str, arguments: Value) -> Self {
        self.options.arguments.insert(tool.to_owned(), arguments);
        self
    }

    /// The server without a gateway.
    fn endpoint(&self, home: &Path) -> ServerEndpoint {
        if let Some(url) = self.entry["url"].as_str() {
            return ServerEndpoint::Url(url.to_owned());
        }
        let words = self.entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let variables = self.entry["env"].as_object().into_iter().flatten();
        let own = [("HOME".into(), home.into()), ("PATH".into(), std::env::var_os("PATH").unwrap())];
        let given = variables.map(|(name, value)| (name.into(), value.as_str().unwrap().into()));
        ServerEndpoint::Program(ServerProgram {
            program: self.entry["command"].as_str().unwrap().into(),
            arguments: words.map(Into::into).collect(),
            environment: own.into_iter().chain(given).collect(),
            folder: Some(home.to_owned()),
        })
    }

    /// The requests for a client and a server of these eras.
    fn options_for(&self, client: ProtocolEra, server: ProtocolEra) -> RecordingOptions {
        let mut options = self.options.clone();
        if client != server {
            options.uncalled.extend(self.bridged_tools.iter().copied().map(str::to_owned));
        }
        options
    }

    /// Compares the server in every combination of eras and transports, side by side.
    fn assert_same_behind_gateway(&self, place: &Place, at_least: usize) {
        let legs: Vec<_> =
            self.eras.iter().flat_map(|server| BOTH.iter().map(move |client| (*client, *server))).collect();
        let failed: Vec<String> = thread::scope(|scope| {
            let run = |leg: &(ProtocolEra, ProtocolEra)| {
                let leg = *leg;
                scope.spawn(move || self.compare_leg(place, leg, at_least))
            };
            let running: Vec<_> = legs.iter().map(run).collect();
            running.into_iter().flat_map(|leg| leg.join().unwrap()).collect()
        });
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }

    fn compare_leg(
        &self,
        place: &Place,
        (client, server): (ProtocolEra, ProtocolEra),
        at_least: usize,
    ) -> Vec<String> {
        let options = self.options_for(client, server);
        let endpoint = self.endpoint(&place.world.home);
        let record = || Recording::record(&endpoint, server, &options).unwrap();
        let direct = [record(), record()];
        let mut entry = self.entry.clone();
        entry["era"] = json!(if server == ProtocolEra::Old { "old" } else { "new" });
        let mut failed = Vec::new();
        for door in [GatewayDoor::Stdio, GatewayDoor::Http] {
            let folder = place.world.root.join(format!("{client:?}-{server:?}-{door:?}"));
            let gateway = GatewayProcess::start(PROGRAM.as_ref(), &entry, door, &folder).unwrap();
            let behind = Recording::record(&gateway.endpoint, client, &options).unwrap();
            let compared = Comparison::new([&direct[0], &direct[1]], &behind);
            let leg = format!("client {client:?}, server {server:?}, {door:?}");
            assert!(compared.items.len() >= at_least, "{leg}: {} items\n{compared}", compared.items.len());
            if compared.same() < compared.items.len() {
                failed.push(format!("{leg}:\n{}", compared.differences()));
            }
        }
        failed
    }
}

// G7
#[test]
fn fleet_everything_is_the_same_behind_the_gateway() {
    let place = Place::new();
    let mut server = ComparedServer::new((EVERYTHING.entry)(&place).0, OLD)
        // It shows the environment of its process, and it requires a task.
        .without_calls(&["get-env", "simulate-research-query", "toggle-simulated-logging"])
        // Its default is a page of the internet.
        .with_arguments("gzip-file-as-resource", json!({ "name": "x.gz", "data": "data:text/plain,x" }));
    // It asks for the roots at some time after the handshake.
    server.options.unrelated_logs.push("Roots updated".to_owned());
    ComparedServer { bridged_tools: &["get-roots-list"], ..server }.assert_same_behind_gateway(&place, 80);
}

// G7: the official server of MCP Apps.
#[test]
fn fleet_pdf_server_is_the_same_behind_the_gateway() {
    let place = Place::new();
    place.world.write("home/page.pdf", PDF);
    let file = text(place.world.home.join("page.pdf"));
    let script = text(installed("apps/node_modules/.bin/mcp-pdf-server"));
    let entry = place.stdio(&installed("apps/node"), &[&script, "--stdio", &file], &[]);
    let server = ComparedServer::new(entry, OLD)
        // They wait for the page of the app.
        .without_calls(&["interact", "poll_pdf_commands"])
        .with_arguments("display_pdf", json!({ "url": file }))
        .with_arguments("read_pdf_bytes", json!({ "url": file }));
    server.assert_same_behind_gateway(&place, 30);
}

// G7
#[test]
fn fleet_fastmcp_is_the_same_behind_the_gateway() {
    let place = Place::new();
    ComparedServer::new((FASTMCP.entry)(&place).0, BOTH).assert_same_behind_gateway(&place, 34);
}

// G7
#[test]
fn fleet_rmcp_is_the_same_behind_the_gateway() {
    let place = Place::new();
    let server = ComparedServer::new((RMCP.entry)(&place).0, BOTH);
    ComparedServer { bridged_tools: &["chore"], ..server }.assert_same_behind_gateway(&place, 14);
}

// G7: everything that the official scenarios name, with questions, logs, progress and skills.
#[test]
fn fleet_upstream_is_the_same_behind_the_gateway() {
    let place = Place::new();
    let upstream = ExternalServer::start(|port| {
        place.world.command_of(&testkit_path(), &["upstream", "--port", &port.to_string()])
    });
    let url = format!("http://{}/mcp", upstream.address());
    let server = ComparedServer::new(json!({ "type": "http", "url": url }), BOTH);
    ComparedServer { bridged_tools: &["slow_compute"], ..server }.assert_same_behind_gateway(&place, 100);
}
