//! The soak test: load on many servers while they are being killed, with a check of every promise.
//!
//! | part | module |
//! |---|---|
//! | duration, number of servers, rates | [`options`] |
//! | the servers, and the process that kills and restarts them | [`targets`], [`shooter`] |
//! | the calls, their possible outcomes, and their counts | [`load`], [`ending`], [`tally`] |
//! | memory; processes | [`watch`], [`census`] |
//! | promises | [`report`] |
//!
//! The library runs in this process, so the memory of this process is measured: all counters here have a
//! fixed size.

pub(crate) mod census;
pub(crate) mod chance;
mod ending;
mod histogram;
mod load;
mod options;
mod report;
mod shooter;
mod tally;
mod targets;
mod watch;

use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mcparley::pool::connection::ServerStatus;
use mcparley::{Host, Paths, RunOptions};
use tokio::runtime::{Builder, Runtime};

use crate::processes;
use census::ProcessCensus;
use chance::SeededRandom;
use load::LoadGenerator;
pub(crate) use options::Options;
pub(crate) use report::SoakReport;
use shooter::{DownTimes, KillCounts, ServerKiller};
use tally::CallTally;
use targets::SoakTargets;
use watch::MemorySamples;

/// The timeout for starting all servers, and for the last one to recover.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time within which idle HTTP connections are closed; the files open after it belong to connected
/// servers.
const REST: Duration = Duration::from_secs(6);
/// The number of threads: more than one, so that tasks of the library really run in parallel.
const THREADS: usize = 2;

/// Runs the soak test.
pub(crate) fn run_soak(options: &Options) -> io::Result<SoakReport> {
    let program = crate::stage::sibling_program("mcparley-bench-target")?;
    let home = tempfile::tempdir()?;
    let seed = options.seed.unwrap_or_else(clock_seed);
    // Not from the seed: two runs with the same seed would want the same ports.
    let mut targets = SoakTargets::start(&program, options.servers, &mut SeededRandom::new(clock_seed()))?;
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let files_before = processes::count_open_files()?;
    let host = start_host(&runtime, home.path(), &targets)?;
    let names = targets.names().into();
    let mut load =
        LoadGenerator { host, names, locals: targets.local_count(), chance: SeededRandom::new(seed) };
    runtime.block_on(load.fill_buffers())?;
    let files_at_rest = min_open_files(REST)?;
    let (calls, kills, watched) = run_under_kills(options, &runtime, &mut load, &mut targets)?;
    let missing = runtime.block_on(load.find_missing_servers(PATIENCE));
    let (locals, remotes) = options.servers;
    let end = ProcessCensus::wait_for(ProcessCensus {
        locals,
        guardians: locals,
        houses: usize::from(locals > 0),
        remotes,
        zombies: 0,
    })?;
    let files_at_rest = (files_at_rest, wait_for_open_files(files_at_rest)?);
    let begun = Instant::now();
    runtime.block_on(load.host.shut_down());
    let shut_down = begun.elapsed();
    let after = ProcessCensus::wait_for(ProcessCensus { remotes, ..ProcessCensus::default() })?;
    drop(load);
    // Ending tasks of the library hold their resources until the runtime has dropped them.
    let files_after = wait_for_open_files(files_before)?;
    let warm_up = options.warm_up_time();
    Ok(SoakReport {
        options: options.clone(),
        seed,
        calls,
        kills,
        missing,
        memory: watched.memory_drift(warm_up),
        course: watched.memory_course(),
        files_at_rest,
        files_around: (files_before, files_after),
        processes: [end, after],
        shut_down,
    })
}

/// Loads, kills and samples memory at the same time, until the load ends.
fn run_under_kills(
    options: &Options,
    runtime: &Runtime,
    load: &mut LoadGenerator,
    targets: &mut SoakTargets,
) -> io::Result<(CallTally, KillCounts, MemorySamples)> {
    let wounds = DownTimes::new(targets.names().len());
    let chance = SeededRandom::new(load.chance.number_below(u64::MAX));
    let shooter = ServerKiller { targets, wounds: &wounds, chance, every: options.kill_every };
    let ((stop_shooting, shooting), (stop_watching, watching)) = (channel(), channel());
    std::thread::scope(|scope| {
        let shooter = scope.spawn(move || shooter.run_until(&shooting));
        let watch = scope.spawn(move || watch::sample_memory(options.lasts, &watching));
        let calls = runtime.block_on(load.generate_load(options.lasts, options.rate, &wounds));
        drop((stop_shooting, stop_watching));
        let kills = shooter.join().map_err(|_| io::Error::other("killing ended by a panic"))??;
        let watched = watch.join().map_err(|_| io::Error::other("watching ended by a panic"))??;
        Ok((calls, kills, watched))
    })
}

/// Starts a host and waits until every server has answered.
fn start_host(runtime: &Runtime, home: &Path, targets: &SoakTargets) -> io::Result<Host> {
    let file = home.join("servers.json");
    std::fs::write(&file, targets.configuration().to_string())?;
    let mut paths = Paths::new(home, home);
    paths.logs = Some(home.join("logs"));
    let run_options = RunOptions {
        mcp_config: vec![file.to_string_lossy().into_owned()],
        strict: true,
        allowed_tools: targets.names().iter().map(|name| format!("mcp__{name}")).collect(),
        ..RunOptions::default()
    };
    runtime.block_on(async {
        let host =
            Host::builder(&paths, &run_options).without_built_in_server().without_result_limit().start();
        let readiness = host.wait_until_ready(PATIENCE).await;
        let is_connected = |status: &ServerStatus| matches!(status, ServerStatus::Connected { .. });
        match readiness.servers.iter().find(|server| !is_connected(&server.state.status)) {
            Some(server) => {
                let (name, status) = (server.name.as_str(), &server.state.status);
                Err(io::Error::other(format!("`{name}` is {}: {:?}", status.as_str(), status.reason())))
            }
            None => Ok(host),
        }
    })
}

/// The fewest open files within `time`.
fn min_open_files(time: Duration) -> io::Result<usize> {
    let begun = Instant::now();
    let mut fewest = processes::count_open_files()?;
    while begun.elapsed() < time {
        std::thread::sleep(Duration::from_millis(20));
        fewest = fewest.min(processes::count_open_files()?);
    }
    Ok(fewest)
}

/// Waits until the number of open files is at most `most`, for a few seconds; returns the number.
fn wait_for_open_files(most: usize) -> io::Result<usize> {
    let begun = Instant::now();
    loop {
        let files = processes::count_open_files()?;
        if files <= most || begun.elapsed() > Duration::from_secs(10) {
            return Ok(files);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn clock_seed() -> u64 {
    // Any value of the clock will do, even zero.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos())
}
