//! Measures other programs beside mcparley, where they are installed: command lines that list tools or call one, and
//! gateways ([`gateways`]).

mod gateway_programs;
mod gateways;
mod http_connection;

pub(crate) use http_connection::ResponseHead;

use std::io;
use std::path::Path;
use std::process::Command;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::programs;
use crate::rounds::RoundSamples;
use crate::stage::BenchStage;

/// The promised share of the time of the fastest peer: a twentieth.
const SHARE: f64 = 0.05;
const SIZES: [usize; 2] = [1, 20];

/// A peer and its arguments for listing tools.
struct PeerProgram {
    name: &'static str,
    /// The program, below the folder of the peers.
    program: &'static str,
    arguments: fn(&str) -> Vec<&str>,
    /// Whether one run lists several servers.
    several: bool,
    /// The arguments for a call of `echo`, where a run can make one.
    call: Option<fn(&str) -> Vec<&str>>,
}

const PEERS: [PeerProgram; 4] = [
    PeerProgram {
        name: "mcporter",
        program: "npm/mcporter/node_modules/.bin/mcporter",
        arguments: |file| vec!["--config", file, "list", "--json"],
        several: true,
        call: Some(|file| vec!["--config", file, "call", "s00.echo", "size=100"]),
    },
    PeerProgram {
        name: "inspector",
        program: "npm/inspector/node_modules/.bin/mcp-inspector",
        arguments: |file| vec!["--cli", "--config", file, "--server", "s00", "--method", "tools/list"],
        several: false,
        call: Some(|file| {
            let words = ["--cli", "--config", file, "--server", "s00", "--method", "tools/call"];
            [&words[..], &["--tool-name", "echo", "--tool-arg", "size=100"]].concat()
        }),
    },
    PeerProgram {
        name: "fastmcp",
        program: "py/fastmcp/bin/fastmcp",
        arguments: |file| vec!["list", file, "--json"],
        several: true,
        call: Some(|file| vec!["call", file, "echo", "size=100"]),
    },
    PeerProgram {
        name: "Python SDK",
        program: "py/mcp/bin/python",
        arguments: |file| vec!["-c", include_str!("peers/list_tools.py"), file],
        several: true,
        call: None,
    },
];

pub(crate) fn measure_peers(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    // The programs run in another folder.
    let folder = &folder.canonicalize()?;
    let mut figures = Vec::new();
    for count in SIZES {
        let configuration = stage.write_configuration(count)?;
        for peer in PEERS.iter().filter(|peer| count == 1 || peer.several) {
            let servers = if count == 1 { "server" } else { "servers" };
            let name = format!("`mcparley list`, {count} {servers}, limit is {}", peer.name);
            let program = folder.join(peer.program);
            if !wanted(&name) {
                continue;
            }
            if !program.exists() {
                figures.push(BenchFigure::Missing { name, why: "not installed".to_owned() });
                continue;
            }
            let mut theirs = stage.command(&program);
            theirs.args((peer.arguments)(&configuration.to_string_lossy()));
            let mut ours = programs::list_command(stage, &configuration);
            figures.push(share_figure(rounds, name, &mut theirs, &mut ours, FigureBound::AtMost(SHARE))?);
        }
    }
    figures.extend(measure_calls(stage, folder, rounds, wanted)?);
    figures.extend(gateways::measure_gateways(stage, folder, rounds, wanted)?);
    Ok(figures)
}

/// Measures a call from the start of the command line to its end.
fn measure_calls(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    let configuration = stage.write_configuration(1)?;
    for peer in &PEERS {
        let name = format!("`mcparley call`, 1 server, limit is {}", peer.name);
        let Some(arguments) = peer.call.filter(|_| wanted(&name)) else { continue };
        let program = folder.join(peer.program);
        if !program.exists() {
            figures.push(BenchFigure::Missing { name, why: "not installed".to_owned() });
            continue;
        }
        let mut theirs = stage.command(&program);
        theirs.args(arguments(&configuration.to_string_lossy()));
        let mut ours = programs::call_command(stage, &configuration);
        figures.push(share_figure(rounds, name, &mut theirs, &mut ours, FigureBound::None)?);
    }
    Ok(figures)
}

fn share_figure(
    rounds: usize,
    name: String,
    theirs: &mut Command,
    ours: &mut Command,
    bound: FigureBound,
) -> io::Result<BenchFigure> {
    // The times differ by far, so three rounds are enough.
    let samples: Vec<RoundSamples> = programs::compare_programs(rounds.min(3), &mut [theirs, ours])?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Ok(BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound })
}
