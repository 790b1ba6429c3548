//! Calls of four kinds, by every contender, against the client without a library.

use std::io;

use crate::caller::{self, Caller, Contender};
use crate::cores::Cores;
use crate::figure::{Bound, Figure, Unit};
use crate::rounds::{self, median};
use crate::stage::Stage;

/// What is done in one round.
struct Kind {
    name: &'static str,
    size: usize,
    count: usize,
    /// How many calls are made at the same time.
    width: usize,
    /// Where client and server run.
    cores: Cores,
    /// Who does it.
    contenders: fn(&Stage) -> io::Result<Vec<Contender>>,
    bound: Bound,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "call of 100 B, one by one",
        size: 100,
        count: 1000,
        width: 1,
        cores: Cores::One,
        contenders: caller::all,
        bound: Bound::AtMost(1.6),
    },
    Kind {
        name: "calls of 100 B, 64 at once",
        size: 100,
        count: 6400,
        width: 64,
        cores: Cores::All,
        contenders: caller::all,
        bound: Bound::AtLeast(0.6),
    },
    Kind {
        name: "call of 1 MB, one by one",
        size: 1 << 20,
        count: 20,
        width: 1,
        cores: Cores::All,
        contenders: caller::all,
        bound: Bound::AtMost(1.5),
    },
    Kind {
        name: "result of 1 MB, stored",
        size: 1 << 20,
        count: 20,
        width: 1,
        cores: Cores::All,
        contenders: caller::storing,
        bound: Bound::AtMost(2.0),
    },
];

pub(crate) fn measure(
    stage: &Stage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for kind in KINDS.iter().filter(|kind| wanted(kind.name)) {
        let _kept = kind.cores.keep()?;
        let mut callers = (kind.contenders)(stage)?;
        let samples = rounds::run(rounds, callers.len(), |contender| {
            let contender = callers.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
            kind.measure(contender.caller.as_mut())
        })?;
        let mut samples = samples.into_iter();
        let limit = samples.next().unwrap_or_default();
        for (contender, ours) in callers.iter().skip(1).zip(samples) {
            let (name, limit) = (format!("{}: {}", kind.name, contender.name), limit.clone());
            let bound = if contender.is_promised { kind.bound } else { Bound::None };
            figures.push(Figure::Compared { name, unit: kind.unit(), limit, ours, bound });
        }
    }
    Ok(figures)
}

impl Kind {
    fn unit(&self) -> Unit {
        if self.width > 1 { Unit::Rate } else { Unit::Time }
    }

    fn measure(&self, caller: &mut dyn Caller) -> io::Result<f64> {
        if self.width > 1 {
            let took = caller.at_once(self.size, self.count, self.width)?;
            // A whole number of calls far below what a float can tell apart.
            return Ok(self.count as f64 / took.as_secs_f64());
        }
        let times = caller.one_by_one(self.size, self.count)?;
        Ok(median(times.into_iter().map(|time| time.as_secs_f64()).collect()))
    }
}
