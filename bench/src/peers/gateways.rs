//! Other gateways before the same light server, over Streamable HTTP, with the same client as `mcparley serve`.
//!
//! All are started with one stdio server and without a token. Each figure compares mcparley with one of them; those with
//! calls at once also with the best of them, which is what is promised.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::gateway_programs::{GATEWAYS, GatewaySetup, PeerGateway};
use super::http_connection::PeerConnection;
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::gateway::{EndOnDrop, free_address, retry_until_listening, serve_command};
use crate::rounds::{self, RoundSamples, median};
use crate::stage::BenchStage;

/// Work that all gateways do.
struct GatewayWork {
    name: &'static str,
    size: usize,
    count: usize,
    /// The number of concurrent calls. With one the median time of a call is compared, else the calls per second.
    width: usize,
    /// How many times the rate of the best of them is promised.
    promise: Option<f64>,
}

const WORKS: [GatewayWork; 4] = [
    GatewayWork {
        name: "gateway over HTTP, 100 B, one by one",
        size: 100,
        count: 300,
        width: 1,
        promise: None,
    },
    GatewayWork {
        name: "gateway over HTTP, 100 B, 64 at once",
        size: 100,
        count: 1920,
        width: 64,
        promise: Some(2.0),
    },
    GatewayWork {
        name: "gateway over HTTP, 100 kB, 16 at once",
        size: 100_000,
        count: 320,
        width: 16,
        promise: Some(3.0),
    },
    GatewayWork {
        name: "gateway over HTTP, 1 MB, 16 at once",
        size: 1_000_000,
        count: 48,
        width: 16,
        promise: Some(3.0),
    },
];

/// A gateway that runs, with a client.
struct GatewaySide {
    connection: PeerConnection,
    tool: &'static str,
    _running: EndOnDrop,
}

impl GatewaySide {
    /// Starts a gateway, and makes one call.
    fn start(
        mut command: Command,
        address: &str,
        (path, tool): (&'static str, &'static str),
    ) -> io::Result<Self> {
        let running = EndOnDrop(command.spawn()?);
        let mut connection = retry_until_listening(|| PeerConnection::open(address, path))?;
        connection.call_echo(tool, 1)?;
        Ok(Self { connection, tool, _running: running })
    }

    fn start_mcparley(stage: &BenchStage) -> io::Result<Self> {
        let address = free_address()?;
        let mut command = serve_command(stage, &stage.write_configuration(1)?);
        command.args(["--no-prefix", "--http", &address, "--no-token"]);
        Self::start(command, &address, ("/mcp", "echo"))
    }

    fn start_peer(stage: &BenchStage, program: &Path, peer: &PeerGateway) -> io::Result<Self> {
        let configuration = stage.write_configuration(1)?;
        let address = free_address()?;
        let setup = GatewaySetup {
            port: address.rsplit(':').next().unwrap_or_default(),
            server: &stage.server.to_string_lossy(),
            servers: &configuration.to_string_lossy(),
            home: stage.home(),
        };
        let mut command = stage.command(program);
        command.args((peer.arguments)(&setup)?);
        Self::start(command, &address, (peer.path, peer.tool))
    }

    /// The median time of a call, or the calls per second.
    fn measure_round(&mut self, work: &GatewayWork) -> io::Result<f64> {
        if work.width > 1 {
            return self.measure_rate(work);
        }
        let mut call = || {
            let start = Instant::now();
            self.connection.call_echo(self.tool, work.size)?;
            Ok(start.elapsed().as_secs_f64())
        };
        Ok(median((0..work.count).map(|_| call()).collect::<io::Result<_>>()?))
    }

    /// Calls at once, each on a connection of its own.
    fn measure_rate(&mut self, work: &GatewayWork) -> io::Result<f64> {
        let (tool, each) = (self.tool, work.count / work.width);
        let connections: Vec<PeerConnection> =
            (0..work.width).map(|number| self.connection.fork_connection(number)).collect();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let run = |mut connection: PeerConnection| {
                scope.spawn(move || (0..each).try_for_each(|_| connection.call_echo(tool, work.size)))
            };
            let threads: Vec<_> = connections.into_iter().map(run).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, io::Result<()>>| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a client ended early")))
            };
            threads.into_iter().try_for_each(join)
        })?;
        // A count of calls is far below the precision limit of a float.
        Ok((each * work.width) as f64 / start.elapsed().as_secs_f64())
    }
}

impl GatewayWork {
    fn figure_name(&self, peer: &str) -> String {
        format!("{}, limit is {peer}", self.name)
    }

    fn figure_unit(&self) -> FigureUnit {
        if self.width > 1 { FigureUnit::Rate } else { FigureUnit::Time }
    }

    fn to_figure(
        &self,
        peer: &str,
        limit: RoundSamples,
        ours: RoundSamples,
        bound: FigureBound,
    ) -> BenchFigure {
        BenchFigure::Compared { name: self.figure_name(peer), unit: self.figure_unit(), limit, ours, bound }
    }
}

/// The name of the fastest gateway of each round.
const BEST: &str = "the best of them";

/// Measures all gateways that are installed, in rounds with mcparley.
pub(super) fn measure_gateways(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for work in &WORKS {
        let is_best_wanted = work.promise.is_some() && wanted(&work.figure_name(BEST));
        let peers: Vec<&PeerGateway> =
            GATEWAYS.iter().filter(|peer| wanted(&work.figure_name(peer.name)) || is_best_wanted).collect();
        if peers.is_empty() {
            continue;
        }
        figures.extend(measure_work(stage, folder, rounds, (work, &peers))?);
    }
    Ok(figures)
}

/// Measures one work of these gateways. The comparison with the best needs all of them.
fn measure_work(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    (work, peers): (&GatewayWork, &[&PeerGateway]),
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    let mut names = Vec::new();
    let mut sides = vec![GatewaySide::start_mcparley(stage)?];
    for peer in peers {
        let program = folder.join(peer.program);
        let started = if program.exists() {
            GatewaySide::start_peer(stage, &program, peer).map_err(|error| error.to_string())
        } else {
            Err("not installed".to_owned())
        };
        match started {
            Ok(side) => {
                names.push(peer.name);
                sides.push(side);
            }
            Err(why) => figures.push(BenchFigure::Missing { name: work.figure_name(peer.name), why }),
        }
    }
    let samples = rounds::run_rounds(rounds.min(5), sides.len(), |side| {
        sides.get_mut(side).ok_or(io::ErrorKind::NotFound)?.measure_round(work)
    })?;
    let Some((ours, theirs)) = samples.split_first() else { return Ok(figures) };
    for (name, limit) in names.iter().zip(theirs) {
        figures.push(work.to_figure(name, limit.clone(), ours.clone(), FigureBound::None));
    }
    match work.promise {
        Some(promise) if peers.len() == GATEWAYS.len() && !theirs.is_empty() => {
            let (limit, bound) = (RoundSamples::best_of(theirs), FigureBound::AtLeast(promise));
            figures.push(work.to_figure(BEST, limit, ours.clone(), bound));
        }
        Some(_) if peers.len() == GATEWAYS.len() => {
            let (name, why) = (work.figure_name(BEST), "none of them runs".to_owned());
            figures.push(BenchFigure::Missing { name, why });
        }
        Some(_) | None => {}
    }
    Ok(figures)
}
