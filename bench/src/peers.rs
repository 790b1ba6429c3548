//! Measures other command lines that list the tools of servers, where they are installed.

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
}

const PEERS: [PeerProgram; 4] = [
    PeerProgram {
        name: "mcporter",
        program: "npm/mcporter/node_modules/.bin/mcporter",
        arguments: |file| vec!["--config", file, "list", "--json"],
        several: true,
    },
    PeerProgram {
        name: "inspector",
        program: "npm/inspector/node_modules/.bin/mcp-inspector",
        arguments: |file| vec!["--cli", "--config", file, "--server", "s00", "--method", "tools/list"],
        several: false,
    },
    PeerProgram {
        name: "fastmcp",
        program: "py/fastmcp/bin/fastmcp",
        arguments: |file| vec!["list", file, "--json"],
        several: true,
    },
    PeerProgram {
        name: "Python SDK",
        program: "py/mcp/bin/python",
        arguments: |file| vec!["-c", include_str!("peers/list_tools.py"), file],
        several: true,
    },
];

pub(crate) fn measure_peers(
    stage: &BenchStage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
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
            figures.push(share_figure(stage, &configuration, rounds, name, &mut theirs)?);
        }
    }
    Ok(figures)
}

fn share_figure(
    stage: &BenchStage,
    configuration: &Path,
    rounds: usize,
    name: String,
    theirs: &mut Command,
) -> io::Result<BenchFigure> {
    let mut ours = programs::list_command(stage, configuration);
    // The times differ by far, so three rounds are enough.
    let samples: Vec<RoundSamples> = programs::compare_programs(rounds.min(3), &mut [theirs, &mut ours])?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Ok(BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound: FigureBound::AtMost(SHARE) })
}
