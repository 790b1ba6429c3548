//! Measures four kinds of calls, by every contender, against the client without a library.

use std::io;

use rustix::time::{ClockId, clock_gettime};

use crate::caller::{self, BenchCaller, Contender};
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds::{self, median};
use crate::stage::BenchStage;

/// The calls of one round.
struct CallKind {
    name: &'static str,
    size: usize,
    count: usize,
    /// The number of concurrent calls. With more than one, the processor time of the client per call is
    /// measured: how many calls fit into a second depends on where the scheduler puts client and server.
    width: usize,
    /// The contenders.
    contenders: fn(&BenchStage) -> io::Result<Vec<Contender>>,
    bound: FigureBound,
}

const KINDS: [CallKind; 4] = [
    CallKind {
        name: "call of 100 B, one by one",
        size: 100,
        count: 1000,
        width: 1,
        contenders: caller::all_contenders,
        bound: FigureBound::AtMost(1.6),
    },
    CallKind {
        name: "calls of 100 B, 64 at once, processor time of the client",
        size: 100,
        count: 6400,
        width: 64,
        contenders: caller::all_contenders,
        bound: FigureBound::AtMost(1.7),
    },
    CallKind {
        name: "call of 1 MB, one by one",
        size: 1 << 20,
        count: 20,
        width: 1,
        contenders: caller::all_contenders,
        bound: FigureBound::AtMost(1.5),
    },
    CallKind {
        name: "result of 1 MB, stored",
        size: 1 << 20,
        count: 20,
        width: 1,
        contenders: caller::storing_contenders,
        bound: FigureBound::AtMost(2.0),
    },
];

pub(crate) fn measure_calls(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for kind in KINDS.iter().filter(|kind| wanted(kind.name)) {
        let mut callers = (kind.contenders)(stage)?;
        let samples = rounds::run_rounds(rounds, callers.len(), |contender| {
            let contender = callers.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
            kind.measure_round(contender.caller.as_mut())
        })?;
        let mut samples = samples.into_iter();
        let limit = samples.next().unwrap_or_default();
        for (contender, ours) in callers.iter().skip(1).zip(samples) {
            let (name, limit) = (format!("{}: {}", kind.name, contender.name), limit.clone());
            let bound = if contender.is_promised { kind.bound } else { FigureBound::None };
            figures.push(BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound });
        }
    }
    Ok(figures)
}

impl CallKind {
    fn measure_round(&self, caller: &mut dyn BenchCaller) -> io::Result<f64> {
        if self.width > 1 {
            let before = processor_seconds();
            caller.call_concurrently(self.size, self.count, self.width)?;
            // A count of calls is far below the precision limit of a float.
            return Ok((processor_seconds() - before) / self.count as f64);
        }
        let times = caller.call_sequentially(self.size, self.count)?;
        Ok(median(times.into_iter().map(|time| time.as_secs_f64()).collect()))
    }
}

/// The processor time of this process, without its children, in seconds.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // A measurement takes seconds, which a float holds to the nanosecond.
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
