//! Measures the gateway before one server against a relay that only moves bytes, and how lists and start grow
//! with the number of tools and servers.
//!
//! | measurement | module |
//! |---|---|
//! | the cost of the audit log | `audit` |
//! | a client over HTTP without a library | `http_client` |
//! | a gateway or relay that runs | `running` |
//! | lists of many tools, many servers, idle sessions | `growth` |

mod audit;
mod growth;
mod http_client;
mod running;

use std::io;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds::{self, median};
use crate::stage::BenchStage;
use running::{GatewayDoor, RunningGateway};

pub(crate) use audit::measure_audit;
pub(crate) use growth::measure_growth;
pub(crate) use running::{EndOnDrop, free_address, retry_until_listening, serve_command};

/// The calls of one round.
struct GatewayCalls {
    name: &'static str,
    door: GatewayDoor,
    size: usize,
    count: usize,
    /// The number of concurrent calls.
    width: usize,
    measure: Measured,
    bound: FigureBound,
}

/// The amount that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measured {
    /// Calls per second.
    Rate,
    /// The median time of a call.
    Time,
    /// The processor time of the gateway per call, without that of client and server.
    Processor,
}

const CALLS: [GatewayCalls; 12] = [
    calls("gateway over HTTP, 100 B, one by one", GatewayDoor::Http, (100, 1000, 1), Measured::Time, 1.5),
    calls("gateway over HTTP, 100 B, 64 at once", GatewayDoor::Http, (100, 6400, 64), Measured::Rate, 0.75),
    calls(
        "gateway over HTTP, 100 B, 64 at once, processor",
        GatewayDoor::Http,
        (100, 6400, 64),
        Measured::Processor,
        3.0,
    ),
    calls(
        "gateway over HTTP, 100 kB, 16 at once",
        GatewayDoor::Http,
        (100_000, 800, 16),
        Measured::Rate,
        0.7,
    ),
    calls(
        "gateway over HTTP, 100 kB, 16 at once, processor",
        GatewayDoor::Http,
        (100_000, 800, 16),
        Measured::Processor,
        3.0,
    ),
    calls(
        "gateway over HTTP, 1 MB, 16 at once",
        GatewayDoor::Http,
        (1_000_000, 160, 16),
        Measured::Rate,
        0.7,
    ),
    calls(
        "gateway over HTTP, 1 MB, 16 at once, processor",
        GatewayDoor::Http,
        (1_000_000, 160, 16),
        Measured::Processor,
        3.0,
    ),
    calls(
        "gateway on stdio, 100 B, one by one",
        GatewayDoor::Stdio,
        (100, 1000, 1),
        Measured::Time,
        f64::INFINITY,
    ),
    calls("gateway on stdio, 100 B, 64 at once", GatewayDoor::Stdio, (100, 12_800, 64), Measured::Rate, 0.6),
    calls(
        "gateway on stdio, 100 B, 64 at once, processor",
        GatewayDoor::Stdio,
        (100, 12_800, 64),
        Measured::Processor,
        f64::INFINITY,
    ),
    calls("gateway on stdio, 90 kB, 64 at once", GatewayDoor::Stdio, (90_000, 800, 64), Measured::Rate, 0.5),
    calls(
        "gateway on stdio, 90 kB, 64 at once, processor",
        GatewayDoor::Stdio,
        (90_000, 800, 64),
        Measured::Processor,
        f64::INFINITY,
    ),
];

/// Calls with their promise: at least that part of the relay's rate, or at most that many times its cost.
const fn calls(
    name: &'static str,
    door: GatewayDoor,
    (size, count, width): (usize, usize, usize),
    measure: Measured,
    promise: f64,
) -> GatewayCalls {
    let bound = match measure {
        Measured::Rate => FigureBound::AtLeast(promise),
        Measured::Time | Measured::Processor if promise.is_finite() => FigureBound::AtMost(promise),
        Measured::Time | Measured::Processor => FigureBound::None,
    };
    GatewayCalls { name, door, size, count, width, measure, bound }
}

pub(crate) fn measure_gateway(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for calls in CALLS.iter().filter(|calls| wanted(calls.name)) {
        let mut contenders = [
            RunningGateway::start_relay(stage, calls.door)?,
            RunningGateway::start_mcparley(stage, calls.door)?,
        ];
        let samples = rounds::run_rounds(rounds, contenders.len(), |contender| {
            let gateway = contenders.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
            calls.measure_round(gateway)
        })?;
        let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
        let unit = if calls.measure == Measured::Rate { FigureUnit::Rate } else { FigureUnit::Time };
        figures.push(BenchFigure::Compared {
            name: calls.name.to_owned(),
            unit,
            limit,
            ours,
            bound: calls.bound,
        });
    }
    Ok(figures)
}

impl GatewayCalls {
    fn measure_round(&self, gateway: &mut RunningGateway) -> io::Result<f64> {
        // A count of calls is far below the precision limit of a float.
        let count = self.count as f64;
        match self.measure {
            Measured::Time => {
                let times = gateway.caller().call_sequentially(self.size, self.count)?;
                Ok(median(times.into_iter().map(|time| time.as_secs_f64()).collect()))
            }
            Measured::Rate => {
                let took = gateway.caller().call_concurrently(self.size, self.count, self.width)?;
                Ok(count / took.as_secs_f64())
            }
            Measured::Processor => {
                let before = gateway.processor_seconds()?;
                gateway.caller().call_concurrently(self.size, self.count, self.width)?;
                // At least one tick of the clock that counts processor time.
                Ok((gateway.processor_seconds()? - before).max(0.01) / count)
            }
        }
    }
}
