//! The fault measurement: what clients of the gateway see while servers are slow, dead or crash, while clients vanish, and
//! under twice the load that is allowed.
//!
//! | part | module |
//! |---|---|
//! | the gateway over HTTP and its servers, as processes | [`stand`] |
//! | a client over HTTP without sessions | [`client`] |
//! | rows, promises and the table | [`report`] |
//!
//! The tests of the gateway have the same faults with bounds that hold on any machine; here the promised times are
//! measured, on a machine that does nothing else.

mod client;
mod report;
mod stand;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::rounds::median;
use crate::stage::BenchStage;
use client::{FaultClient, FaultStatus};
pub(crate) use report::FaultReport;
use report::FaultRow;
use stand::FaultStand;

/// Measure the faults of the gateway: slow, dead and crashing servers, lost clients, overload
///
/// Runs `mcparley serve` over HTTP before servers that are processes of their own, and ends all of them.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The program to measure, instead of building it
    #[arg(long, value_name = "PROGRAM")]
    mcparley: Option<PathBuf>,
    /// The number of rounds
    #[arg(long, default_value_t = 5, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The time of the overload
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
}

/// The calls whose times are compared.
const CALLS: usize = 1000;
/// The calls that wait at the faulty server meanwhile.
const WAITING: usize = 20;
/// The time that such a call would take: longer than the calls beside it.
const LONG_MS: u64 = 30_000;
/// The time for a call to reach its server before its client vanishes.
const REACH: Duration = Duration::from_millis(50);
/// A call without an answer after this time hangs.
const HANGS: Duration = Duration::from_secs(15);
/// The allowed calls in a second, of which twice as many are offered.
const RATE: u32 = 500;
const CLIENTS: u32 = 8;

pub(crate) fn run_faults(options: &Options) -> io::Result<FaultReport> {
    let stage = BenchStage::new(options.mcparley.clone())?;
    let stand = FaultStand::start_gateway(&stage, None)?;
    let mut rows = vec![
        measure_neighbors(&stand, options, "slow")?,
        measure_neighbors(&stand, options, "dead")?,
        measure_cancellation(&stand, options)?,
        measure_crashes(&stand)?,
    ];
    drop(stand);
    rows.push(measure_overload(&stage, options)?);
    Ok(FaultReport { rows })
}

/// F90: the 99th percentile of calls beside a server with calls that do not end, against that without.
fn measure_neighbors(stand: &FaultStand, options: &Options, faulty: &str) -> io::Result<FaultRow> {
    let (mut ratios, mut times) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let alone = slow_percentile(stand)?;
        let stopped = if faulty == "dead" { Some(stand.stop_process(faulty)?) } else { None };
        let waiting = (0..WAITING)
            .map(|_| {
                let mut client = FaultClient::open_connection(&stand.address)?;
                client.send_call(&format!("{faulty}__work"), LONG_MS)?;
                Ok(client)
            })
            .collect::<io::Result<Vec<_>>>()?;
        std::thread::sleep(REACH);
        let beside = slow_percentile(stand)?;
        drop((waiting, stopped));
        ratios.push(beside / alone);
        times.push(beside);
    }
    let (ratio, time) = (median(ratios), median(times));
    let what = format!("one server is {faulty}: {WAITING} calls wait for it");
    Ok(FaultRow::new("F90", what)
        .with_outcome(format!("p99 of the others {ratio:.2} times that alone"), Duration::from_secs_f64(time))
        .with_promise("at most 1.2 times", ratio <= 1.2))
}

/// The 99th percentile of the times of calls, one by one.
fn slow_percentile(stand: &FaultStand) -> io::Result<f64> {
    let mut client = FaultClient::open_connection(&stand.address)?;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begun = Instant::now();
        client.make_call("quick__echo", 0)?.require_result()?;
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN))
}

/// F91: the time from a lost connection until its call is canceled at the server.
fn measure_cancellation(stand: &FaultStand, options: &Options) -> io::Result<FaultRow> {
    let mut longest = Duration::ZERO;
    for _ in 0..options.rounds * 4 {
        let before = stand.count_canceled()?;
        let mut client = FaultClient::open_connection(&stand.address)?;
        client.send_call("slow__work", LONG_MS)?;
        std::thread::sleep(REACH);
        let begun = Instant::now();
        drop(client);
        while stand.count_canceled()? == before {
            if begun.elapsed() > HANGS {
                return Err(io::Error::other("a call of a lost client is never canceled"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        longest = longest.max(begun.elapsed());
    }
    Ok(FaultRow::new("F91", "a client vanishes in the middle of a call".to_owned())
        .with_outcome("its call is canceled at the server".to_owned(), longest)
        .with_promise("within 100 ms", longest <= Duration::from_millis(100)))
}

/// F99: calls to a server that is killed all the time.
fn measure_crashes(stand: &FaultStand) -> io::Result<FaultRow> {
    let (mut longest, mut failed, mut answered) = (Duration::ZERO, 0, 0);
    for _ in 0..WAITING {
        let _killed = stand.kill_process("crashing")?;
        let begun = Instant::now();
        let status = FaultClient::open_connection(&stand.address)?.make_call("crashing__note", 0)?;
        longest = longest.max(begun.elapsed());
        if status.is_result() { answered += 1 } else { failed += 1 }
    }
    Ok(FaultRow::new("F99", format!("a server is killed before each of {WAITING} calls"))
        .with_outcome(format!("{answered} answered, {failed} errors, the slowest"), longest)
        .with_promise("no call hangs", longest < HANGS))
}

/// F97: twice as many calls as are allowed, and the time until calls succeed again.
fn measure_overload(stage: &BenchStage, options: &Options) -> io::Result<FaultRow> {
    let stand = FaultStand::start_gateway(stage, Some(RATE))?;
    let lasts = Duration::from_secs(options.seconds);
    let pause = Duration::from_secs(1) * CLIENTS / (2 * RATE);
    let begun = Instant::now();
    let load = || -> io::Result<[u64; 3]> {
        let mut client = FaultClient::open_connection(&stand.address)?;
        let [mut served, mut shed, mut other] = [0; 3];
        for number in 0.. {
            let due = begun + pause * number;
            if due >= begun + lasts {
                break;
            }
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            match client.make_call("quick__echo", 0)? {
                status if status.is_result() => served += 1,
                FaultStatus::Refused(429 | 503) => shed += 1,
                FaultStatus::Refused(_) | FaultStatus::Answered { .. } => other += 1,
            }
        }
        Ok([served, shed, other])
    };
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(load)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, io::Result<[u64; 3]>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a client ended early")))
        };
        threads.into_iter().map(join).collect::<io::Result<Vec<_>>>()
    })?;
    let sum = |place: usize| counts.iter().filter_map(|counts| counts.get(place)).sum::<u64>();
    let (served, shed, other) = (sum(0), sum(1), sum(2));
    let calm = Instant::now();
    let mut client = FaultClient::open_connection(&stand.address)?;
    while !client.make_call("quick__echo", 0)?.is_result() && calm.elapsed() < HANGS {
        std::thread::sleep(Duration::from_millis(10));
    }
    let recovery = calm.elapsed();
    // Numbers of calls are far below the precision limit of a float.
    let share = served as f64 / (f64::from(RATE) * lasts.as_secs_f64());
    let is_kept = other == 0 && shed > 0 && share >= 0.9 && recovery <= Duration::from_secs(5);
    let outcome = format!(
        "{:.0} % of {RATE}/s served, {shed} refused with 429 or 503, {other} otherwise; back to normal",
        share * 100.0
    );
    Ok(FaultRow::new("F97", format!("twice the allowed calls for {} s", options.seconds))
        .with_outcome(outcome, recovery)
        .with_promise("90 % served, the rest refused, 5 s", is_kept))
}
