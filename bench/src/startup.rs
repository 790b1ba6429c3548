//! Starting many local servers, against the least that it can take.
//!
//! The limit is a loop over the client without a library, in threads each of which starts a server, greets it, lists its
//! tools and takes the next. Servers that only work are started by as many threads as there are processors and one more;
//! servers that wait are all started at once. Ending the servers is not measured.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley::{Host, Paths, RunOptions, Status};
use mcparley_bench::raw::Raw;
use serde::de::IgnoredAny;
use tokio::runtime::Builder;

use crate::figure::{Bound, Figure, Unit};
use crate::rounds;
use crate::stage::Stage;

const SERVERS: usize = 20;
/// How long a light server takes before it listens: less than an interpreter takes to start.
const LIGHT: Duration = Duration::from_millis(10);
/// How long a slow server takes before it listens.
const SLOW: Duration = Duration::from_secs(1);
/// Each takes more than a second, nearly all of it waiting, so few rounds tell enough.
const SLOW_ROUNDS: usize = 5;
/// As long as starting all can take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn measure(
    stage: &Stage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let empty = (format!("start of {SERVERS} servers that do nothing"), Vec::new(), cores + 1, 1.5);
    let light = (format!("start of {SERVERS} light servers"), delayed(LIGHT), SERVERS, 2.5);
    for (name, arguments, at_once, most) in [empty, light].into_iter().filter(|(name, ..)| wanted(name)) {
        let samples = rounds::run(rounds, 2, |contender| match contender {
            0 => bare(stage, &arguments, at_once),
            _ => ours(stage, &arguments),
        })?;
        figures.push(figure(name, samples, most));
    }
    let slow = format!("start of {SERVERS} servers that take {} ms each", SLOW.as_millis());
    if wanted(&slow) {
        let arguments = delayed(SLOW);
        // Nobody can be faster than this, so it need not be measured.
        let ideal = SLOW.as_secs_f64();
        let samples = rounds::run(rounds.min(SLOW_ROUNDS), 2, |contender| match contender {
            0 => Ok(ideal),
            _ => ours(stage, &arguments),
        })?;
        figures.push(figure(slow, samples, 1.3));
    }
    Ok(figures)
}

/// What makes a server take its time before it listens.
fn delayed(by: Duration) -> Vec<String> {
    vec!["--delay".to_owned(), by.as_millis().to_string()]
}

fn figure(name: String, samples: Vec<rounds::Samples>, most: f64) -> Figure {
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Figure::Compared { name, unit: Unit::Time, limit, ours, bound: Bound::AtMost(most) }
}

/// A host from its making until every server has answered, in seconds.
fn ours(stage: &Stage, arguments: &[String]) -> io::Result<f64> {
    let file = stage.configuration_of(SERVERS, arguments)?;
    let run_options = RunOptions {
        mcp_config: vec![file.to_string_lossy().into_owned()],
        strict: true,
        ..RunOptions::default()
    };
    let paths = Paths::of(stage.home(), stage.home());
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let begun = Instant::now();
        let host = Host::builder(&paths, &run_options).without_own_server().start();
        let readiness = host.ready(LIMIT).await;
        let took = begun.elapsed().as_secs_f64();
        host.shut_down().await;
        let is_connected = |status: &Status| matches!(status, Status::Connected { .. });
        match readiness.servers.iter().all(|server| is_connected(&server.state.status)) {
            true => Ok(took),
            false => Err(io::Error::other("a server is not ready")),
        }
    })
}

/// The same without a library, so many at once, in seconds.
fn bare(stage: &Stage, arguments: &[String], at_once: usize) -> io::Result<f64> {
    let taken = AtomicUsize::new(0);
    let worker = || {
        let mut started = Vec::new();
        while taken.fetch_add(1, Ordering::Relaxed) < SERVERS {
            let mut server = Raw::start(&stage.server, arguments)?;
            server.request::<IgnoredAny>("server/discover", "")?;
            server.request::<IgnoredAny>("tools/list", "")?;
            started.push(server);
        }
        Ok::<_, io::Error>(started)
    };
    let begun = Instant::now();
    let started: io::Result<Vec<Vec<Raw>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        let panicked = |_| Err(io::Error::other("a worker panicked"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(panicked)).collect()
    });
    let took = begun.elapsed().as_secs_f64();
    started?.into_iter().flatten().try_for_each(Raw::wait)?;
    Ok(took)
}
