//! Measures the heap of a host and its catalog for thousands of tools, against the size of the tools' JSON.
//!
//! Resident memory cannot show that: a heap that has grown once has room for later allocations. So
//! `mcparley-bench-heap` counts every byte in a separate process, and the fixed cost of a host is subtracted
//! by another run with nearly no tools.

use std::io;
use std::process::Stdio;

use mcparley_bench::inside::ManyToolsServer;

use crate::catalog::{SERVERS, TOOLS};
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds::RoundSamples;
use crate::stage::{BenchStage, sibling_program};

/// The number of tools per server in the run that measures the fixed cost.
const FEW: usize = 1;

pub(crate) fn figure_name() -> String {
    format!("hold {} tools, heap against JSON", SERVERS * TOOLS)
}

pub(crate) fn measure_heap(stage: &BenchStage, rounds: usize) -> io::Result<BenchFigure> {
    let (mut json, mut heap) = (Vec::new(), Vec::new());
    for _ in 0..=rounds {
        // A number of bytes is far below the precision limit of a float.
        json.push((lists_size(TOOLS)? - lists_size(FEW)?) as f64);
        heap.push(run_heap_program(stage, TOOLS)? - run_heap_program(stage, FEW)?);
    }
    let [limit, ours] = [json, heap].map(|samples| RoundSamples::after_warming_up(&samples));
    let bound = FigureBound::AtMost(1.5);
    Ok(BenchFigure::Compared { name: figure_name(), unit: FigureUnit::Memory, limit, ours, bound })
}

/// The size of the lists of all servers.
fn lists_size(tools: usize) -> io::Result<usize> {
    (0..SERVERS).map(|number| ManyToolsServer::new(number, tools).map(|server| server.list_size())).sum()
}

fn run_heap_program(stage: &BenchStage, tools: usize) -> io::Result<f64> {
    let mut command = stage.command(&sibling_program("mcparley-bench-heap")?);
    command.args([SERVERS.to_string(), tools.to_string()]).stdout(Stdio::piped());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().map_err(|_| io::Error::other(format!("{command:?} failed: {}", output.status)))
}
