//! The most memory that `mcparley list` ever holds.

use std::io;
use std::process::Command;
use std::time::Duration;

use crate::figure::{Bound, Figure, Unit};
use crate::processes;
use crate::programs;
use crate::rounds;
use crate::stage::Stage;

/// The name of the figure.
pub(crate) const NAME: &str = "`mcparley list`, 20 servers, peak memory";
const SERVERS: usize = 20;
const LIMIT: f64 = 25e6;

/// Between two looks. The kernel keeps the mark itself, so only what is gained after the last look is lost.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) fn measure(stage: &Stage, rounds: usize) -> io::Result<Figure> {
    let configuration = stage.configuration(SERVERS)?;
    let mut command = programs::list(stage, &configuration);
    let samples = rounds::run(rounds, 1, |_| peak(&mut command))?;
    let ours = samples.into_iter().next().unwrap_or_default();
    let bound = Bound::Absolute(LIMIT);
    Ok(Figure::Alone { name: NAME.to_owned(), unit: Unit::Memory, ours, bound })
}

fn peak(command: &mut Command) -> io::Result<f64> {
    let mut child = command.spawn()?;
    let process = child.id().to_string();
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(processes::memory(&process, "VmHWM").unwrap_or(0));
        std::thread::sleep(PAUSE);
    }
    // Bytes, far fewer than a float can tell apart.
    if peak > 0 { Ok(peak as f64) } else { Err(io::Error::other("this system has no `/proc`")) }
}
