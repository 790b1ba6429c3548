//! Measures the peak memory of `mcparley list`.

use std::io;
use std::process::Command;
use std::time::Duration;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::processes;
use crate::programs;
use crate::rounds;
use crate::stage::BenchStage;

/// The name of the figure.
pub(crate) const NAME: &str = "`mcparley list`, 20 servers, peak memory";
const SERVERS: usize = 20;
const LIMIT: f64 = 25e6;

/// The sampling interval. The kernel records the peak itself, so only growth after the last sample is missed.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) fn measure_memory(stage: &BenchStage, rounds: usize) -> io::Result<BenchFigure> {
    let configuration = stage.write_configuration(SERVERS)?;
    let mut command = programs::list_command(stage, &configuration);
    let samples = rounds::run_rounds(rounds, 1, |_| peak_memory(&mut command))?;
    let ours = samples.into_iter().next().unwrap_or_default();
    let bound = FigureBound::Absolute(LIMIT);
    Ok(BenchFigure::Alone { name: NAME.to_owned(), unit: FigureUnit::Memory, ours, bound })
}

fn peak_memory(command: &mut Command) -> io::Result<f64> {
    let mut child = command.spawn()?;
    let process = child.id().to_string();
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(processes::memory_size(&process, "VmHWM").unwrap_or(0));
        std::thread::sleep(PAUSE);
    }
    // A number of bytes is far below the precision limit of a float.
    if peak > 0 { Ok(peak as f64) } else { Err(io::Error::other("this system has no `/proc`")) }
}
