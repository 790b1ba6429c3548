//! What a host and its catalogue hold of the heap for thousands of tools, against the size of the tools' JSON.
//!
//! The resident memory of a process says nothing about that: a heap that has grown once has room for what comes next. So
//! `mcparley-bench-heap` counts every byte in a process of its own, and what a host holds anyway is taken off by another
//! that has nearly no tools.

use std::io;
use std::process::Stdio;

use mcparley_bench::inside::Inside;

use crate::catalogue::{SERVERS, TOOLS};
use crate::figure::{Bound, Figure, Unit};
use crate::rounds::Samples;
use crate::stage::{Stage, beside};

/// How many tools each server has where nearly none are wanted.
const FEW: usize = 1;

pub(crate) fn name() -> String {
    format!("hold {} tools, heap against JSON", SERVERS * TOOLS)
}

pub(crate) fn measure(stage: &Stage, rounds: usize) -> io::Result<Figure> {
    let (mut json, mut heap) = (Vec::new(), Vec::new());
    for _ in 0..=rounds {
        // Bytes, far fewer than a float can tell apart.
        json.push((written(TOOLS)? - written(FEW)?) as f64);
        heap.push(held(stage, TOOLS)? - held(stage, FEW)?);
    }
    let [limit, ours] = [json, heap].map(|samples| Samples::after_warming_up(&samples));
    let bound = Bound::AtMost(1.5);
    Ok(Figure::Compared { name: name(), unit: Unit::Memory, limit, ours, bound })
}

/// The size of the lists of all servers.
fn written(tools: usize) -> io::Result<usize> {
    (0..SERVERS).map(|number| Inside::new(number, tools).map(|server| server.size())).sum()
}

fn held(stage: &Stage, tools: usize) -> io::Result<f64> {
    let mut command = stage.command(&beside("mcparley-bench-heap")?);
    command.args([SERVERS.to_string(), tools.to_string()]).stdout(Stdio::piped());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().map_err(|_| io::Error::other(format!("{command:?} failed: {}", output.status)))
}
