//! Other gateways before the same light server, over Streamable HTTP, with the same client as `mcparley serve`.
//!
//! All are started with one stdio server and without a token, and answer one call after the other.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::http_connection::PeerConnection;
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::gateway::{EndOnDrop, free_address, retry_until_listening, serve_command};
use crate::rounds::{self, median};
use crate::stage::BenchStage;

/// The work of all gateways.
const WORK: &str = "gateway over HTTP, 100 B, one by one";
const SIZE: usize = 100;
const COUNT: usize = 300;

/// A gateway of others.
struct PeerGateway {
    name: &'static str,
    /// The program, below the folder of the peers.
    program: &'static str,
    /// Its arguments for a port, a server program, and the configuration with that server.
    arguments: fn(&str, &str, &str) -> Vec<String>,
    /// The public name of `echo`.
    tool: &'static str,
}

const GATEWAYS: [PeerGateway; 4] = [
    PeerGateway {
        name: "mcp-proxy (npm)",
        program: "npm/gateways/node_modules/.bin/mcp-proxy",
        arguments: |port, server, _| {
            words(&["--host", "127.0.0.1", "--port", port, "--server", "stream", "--", server])
        },
        tool: "echo",
    },
    PeerGateway {
        name: "supergateway",
        program: "npm/gateways/node_modules/.bin/supergateway",
        arguments: |port, server, _| {
            words(&["--stdio", server, "--outputTransport", "streamableHttp", "--stateful", "--port", port])
        },
        tool: "echo",
    },
    PeerGateway {
        name: "mcp-proxy (PyPI)",
        program: "py/mcp-proxy/bin/mcp-proxy",
        arguments: |port, server, _| words(&["--port", port, server]),
        tool: "echo",
    },
    PeerGateway {
        name: "FastMCP",
        program: "py/fastmcp/bin/fastmcp",
        arguments: |port, _, file| {
            words(&["run", file, "--no-banner", "--transport", "http", "--host", "127.0.0.1", "--port", port])
        },
        tool: "echo",
    },
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A gateway that runs, with a client.
struct GatewaySide {
    connection: PeerConnection,
    tool: &'static str,
    _running: EndOnDrop,
}

impl GatewaySide {
    fn start(mut command: Command, address: &str, tool: &'static str) -> io::Result<Self> {
        let running = EndOnDrop(command.spawn()?);
        let connection = retry_until_listening(|| PeerConnection::open(address))?;
        Ok(Self { connection, tool, _running: running })
    }

    /// The median time of a call.
    fn measure_round(&mut self) -> io::Result<f64> {
        let mut call = || {
            let start = Instant::now();
            self.connection.call_echo(self.tool, SIZE)?;
            Ok(start.elapsed().as_secs_f64())
        };
        Ok(median((0..COUNT).map(|_| call()).collect::<io::Result<_>>()?))
    }
}

/// Measures each gateway that is installed, in rounds with mcparley.
pub(super) fn measure_gateways(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for peer in &GATEWAYS {
        let name = format!("{WORK}, limit is {}", peer.name);
        if !wanted(&name) {
            continue;
        }
        let program = folder.join(peer.program);
        if !program.exists() {
            figures.push(BenchFigure::Missing { name, why: "not installed".to_owned() });
            continue;
        }
        let configuration = stage.write_configuration(1)?;
        let (server, file) = (stage.server.to_string_lossy(), configuration.to_string_lossy());
        let address = free_address()?;
        let port = address.rsplit(':').next().unwrap_or_default();
        let mut theirs = stage.command(&program);
        theirs.args((peer.arguments)(port, &server, &file));
        let own_address = free_address()?;
        let mut ours = serve_command(stage, &configuration);
        ours.args(["--no-prefix", "--http", &own_address, "--no-token"]);
        let mut sides = [
            GatewaySide::start(theirs, &address, peer.tool)?,
            GatewaySide::start(ours, &own_address, "echo")?,
        ];
        let samples = rounds::run_rounds(rounds.min(5), sides.len(), |side| {
            sides.get_mut(side).ok_or(io::ErrorKind::NotFound)?.measure_round()
        })?;
        let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
        let (unit, bound) = (FigureUnit::Time, FigureBound::None);
        figures.push(BenchFigure::Compared { name, unit, limit, ours, bound });
    }
    Ok(figures)
}
