//! Measures the start of many local servers, against the least possible time.
//!
//! The limit is a loop over the client without a library, in threads each of which starts a server, does the
//! handshake, lists its tools and takes the next. Servers that compute are started by one thread more than
//! there are processors; servers that wait are all started at once. Ending the servers is not measured.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley::pool::connection::ServerStatus;
use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::raw::RawClient;
use serde::de::IgnoredAny;
use tokio::runtime::Runtime;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds;
use crate::stage::BenchStage;

const SERVERS: usize = 20;
/// The startup time of a light server: less than an interpreter takes to start.
const LIGHT: Duration = Duration::from_millis(10);
/// The startup time of a slow server.
const SLOW: Duration = Duration::from_secs(1);
/// The number of rounds with slow servers: each takes more than a second, nearly all of it waiting, so few
/// are enough.
const SLOW_ROUNDS: usize = 5;
/// The timeout for starting all servers on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn measure_startup(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let empty = (format!("start of {SERVERS} servers that do nothing"), Vec::new(), cores + 1, 1.5);
    let light = (format!("start of {SERVERS} light servers"), delay_arguments(LIGHT), SERVERS, 2.5);
    for (name, arguments, at_once, most) in [empty, light].into_iter().filter(|(name, ..)| wanted(name)) {
        let samples = rounds::run_rounds(rounds, 2, |contender| match contender {
            0 => time_raw_clients(stage, SERVERS, &arguments, at_once),
            _ => time_host(stage, &arguments),
        })?;
        figures.push(startup_figure(name, samples, most));
    }
    let slow = format!("start of {SERVERS} servers that take {} ms each", SLOW.as_millis());
    if wanted(&slow) {
        let arguments = delay_arguments(SLOW);
        // No client can be faster than this, so it is not measured.
        let ideal = SLOW.as_secs_f64();
        let samples = rounds::run_rounds(rounds.min(SLOW_ROUNDS), 2, |contender| match contender {
            0 => Ok(ideal),
            _ => time_host(stage, &arguments),
        })?;
        figures.push(startup_figure(slow, samples, 1.3));
    }
    Ok(figures)
}

/// The arguments that delay a server's start.
fn delay_arguments(by: Duration) -> Vec<String> {
    vec!["--delay".to_owned(), by.as_millis().to_string()]
}

fn startup_figure(name: String, samples: Vec<rounds::RoundSamples>, most: f64) -> BenchFigure {
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound: FigureBound::AtMost(most) }
}

/// Starts a host; returns the seconds until every server has answered.
fn time_host(stage: &BenchStage, arguments: &[String]) -> io::Result<f64> {
    let file = stage.write_configuration_with(SERVERS, arguments)?;
    let run_options = RunOptions {
        mcp_config: vec![file.to_string_lossy().into_owned()],
        strict: true,
        ..RunOptions::default()
    };
    let paths = Paths::new(stage.home(), stage.home());
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let begun = Instant::now();
        let host = Host::builder(&paths, &run_options).without_built_in_server().start();
        let readiness = host.wait_until_ready(LIMIT).await;
        let took = begun.elapsed().as_secs_f64();
        host.shut_down().await;
        let is_connected = |status: &ServerStatus| matches!(status, ServerStatus::Connected { .. });
        match readiness.servers.iter().all(|server| is_connected(&server.state.status)) {
            true => Ok(took),
            false => Err(io::Error::other("a server is not ready")),
        }
    })
}

/// Starts the servers without a library, `at_once` at a time; returns the seconds.
pub(crate) fn time_raw_clients(
    stage: &BenchStage,
    servers: usize,
    arguments: &[String],
    at_once: usize,
) -> io::Result<f64> {
    let taken = AtomicUsize::new(0);
    let worker = || {
        let mut started = Vec::new();
        while taken.fetch_add(1, Ordering::Relaxed) < servers {
            let mut server = RawClient::start(&stage.server, arguments)?;
            server.send_request::<IgnoredAny>("server/discover", "")?;
            server.send_request::<IgnoredAny>("tools/list", "")?;
            started.push(server);
        }
        Ok::<_, io::Error>(started)
    };
    let begun = Instant::now();
    let started: io::Result<Vec<Vec<RawClient>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        let panicked = |_| Err(io::Error::other("a worker panicked"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(panicked)).collect()
    });
    let took = begun.elapsed().as_secs_f64();
    started?.into_iter().flatten().try_for_each(RawClient::wait_for_exit)?;
    Ok(took)
}
