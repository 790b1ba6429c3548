//! Other command lines that list the tools of servers, where somebody installed them.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::figure::{Bound, Figure, Unit};
use crate::programs;
use crate::rounds::Samples;
use crate::stage::Stage;

/// Of the time of the fastest of them, at most this share: a twentieth.
const SHARE: f64 = 0.05;
const SIZES: [usize; 2] = [1, 20];

/// A peer and how it is asked for a list.
struct Peer {
    name: &'static str,
    /// Below the folder of the peers.
    program: &'static str,
    arguments: fn(&str) -> Vec<&str>,
    /// Whether it lists several servers in one run.
    several: bool,
}

const PEERS: [Peer; 4] = [
    Peer {
        name: "mcporter",
        program: "npm/mcporter/node_modules/.bin/mcporter",
        arguments: |file| vec!["--config", file, "list", "--json"],
        several: true,
    },
    Peer {
        name: "inspector",
        program: "npm/inspector/node_modules/.bin/mcp-inspector",
        arguments: |file| vec!["--cli", "--config", file, "--server", "s00", "--method", "tools/list"],
        several: false,
    },
    Peer {
        name: "fastmcp",
        program: "py/fastmcp/bin/fastmcp",
        arguments: |file| vec!["list", file, "--json"],
        several: true,
    },
    Peer {
        name: "Python SDK",
        program: "py/mcp/bin/python",
        arguments: |file| vec!["-c", include_str!("peers/list_tools.py"), file],
        several: true,
    },
];

pub(crate) fn measure(
    stage: &Stage,
    folder: &Path,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in SIZES {
        let configuration = stage.configuration(count)?;
        for peer in PEERS.iter().filter(|peer| count == 1 || peer.several) {
            let servers = if count == 1 { "server" } else { "servers" };
            let name = format!("`mcparley list`, {count} {servers}, limit is {}", peer.name);
            let program = folder.join(peer.program);
            if !wanted(&name) {
                continue;
            }
            if !program.exists() {
                figures.push(Figure::Missing { name, why: "not installed".to_owned() });
                continue;
            }
            let mut theirs = stage.command(&program);
            theirs.args((peer.arguments)(&configuration.to_string_lossy()));
            figures.push(share(stage, &configuration, rounds, name, &mut theirs)?);
        }
    }
    Ok(figures)
}

fn share(
    stage: &Stage,
    configuration: &Path,
    rounds: usize,
    name: String,
    theirs: &mut Command,
) -> io::Result<Figure> {
    let mut ours = programs::list(stage, configuration);
    // Slow and far away: three rounds tell enough.
    let samples: Vec<Samples> = programs::compare(rounds.min(3), &mut [theirs, &mut ours])?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Ok(Figure::Compared { name, unit: Unit::Time, limit, ours, bound: Bound::AtMost(SHARE) })
}
