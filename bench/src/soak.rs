//! The soak: many servers under load while they are being killed, and every promise looked at.
//!
//! | what | where |
//! |---|---|
//! | how long, how many, how often | [`options`] |
//! | the servers, and who kills and revives them | [`targets`], [`shooter`] |
//! | the calls, how each can end, what became of all | [`load`], [`ending`], [`tally`] |
//! | memory; processes | [`watch`], [`census`] |
//! | promises | [`report`] |
//!
//! The library runs in this process, so what this process holds is what is measured: everything here that counts
//! has a fixed size.

mod census;
mod chance;
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

use mcparley::{Host, Paths, RunOptions, Status};
use tokio::runtime::{Builder, Runtime};

use crate::processes;
use census::Census;
use chance::Chance;
use load::Load;
pub(crate) use options::Options;
pub(crate) use report::Report;
use shooter::{Kills, Shooter, Wounds};
use tally::Tally;
use targets::Targets;
use watch::Watched;

/// How long starting all servers may take, and how long the last may take to come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// Idle HTTP connections are closed within this time, so that the files left open are those of connected servers.
const REST: Duration = Duration::from_secs(6);
/// So that tasks of the library really run at the same time.
const THREADS: usize = 2;

/// Runs it.
pub(crate) fn run(options: &Options) -> io::Result<Report> {
    let program = crate::stage::beside("mcparley-bench-target")?;
    let home = tempfile::tempdir()?;
    let seed = options.seed.unwrap_or_else(any_seed);
    // Not from the seed: two runs with the same would want the same ports.
    let mut targets = Targets::start(&program, options.servers, &mut Chance::new(any_seed()))?;
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let files_before = processes::open_files()?;
    let host = start(&runtime, home.path(), &targets)?;
    let names = targets.names().into();
    let mut load = Load { host, names, locals: targets.local(), chance: Chance::new(seed) };
    runtime.block_on(load.fill())?;
    let files_at_rest = fewest_files(REST)?;
    let (calls, kills, watched) = under_fire(options, &runtime, &mut load, &mut targets)?;
    let missing = runtime.block_on(load.missing(PATIENCE));
    let (locals, remotes) = options.servers;
    let end = Census::until(Census {
        locals,
        guardians: locals,
        houses: usize::from(locals > 0),
        remotes,
        zombies: 0,
    })?;
    let files_at_rest = (files_at_rest, until_at_most(files_at_rest)?);
    let begun = Instant::now();
    runtime.block_on(load.host.shut_down());
    let shut_down = begun.elapsed();
    let after = Census::until(Census { remotes, ..Census::default() })?;
    drop(load);
    // Tasks of the library that are still ending hold what they hold until the runtime has let them go.
    let files_after = until_at_most(files_before)?;
    let warm_up = options.warm_up();
    Ok(Report {
        options: options.clone(),
        seed,
        calls,
        kills,
        missing,
        memory: watched.memory(warm_up),
        course: watched.course(),
        files_at_rest,
        files_around: (files_before, files_after),
        processes: [end, after],
        shut_down,
    })
}

/// Loads, kills and watches at the same time, until the load ends.
fn under_fire(
    options: &Options,
    runtime: &Runtime,
    load: &mut Load,
    targets: &mut Targets,
) -> io::Result<(Tally, Kills, Watched)> {
    let wounds = Wounds::new(targets.names().len());
    let chance = Chance::new(load.chance.below(u64::MAX));
    let shooter = Shooter { targets, wounds: &wounds, chance, every: options.kill_every };
    let ((stop_shooting, shooting), (stop_watching, watching)) = (channel(), channel());
    std::thread::scope(|scope| {
        let shooter = scope.spawn(move || shooter.run(&shooting));
        let watch = scope.spawn(move || watch::watch(options.lasts, &watching));
        let calls = runtime.block_on(load.run(options.lasts, options.rate, &wounds));
        drop((stop_shooting, stop_watching));
        let kills = shooter.join().map_err(|_| io::Error::other("killing ended by a panic"))??;
        let watched = watch.join().map_err(|_| io::Error::other("watching ended by a panic"))??;
        Ok((calls, kills, watched))
    })
}

/// A host to which every server has answered.
fn start(runtime: &Runtime, home: &Path, targets: &Targets) -> io::Result<Host> {
    let file = home.join("servers.json");
    std::fs::write(&file, targets.configuration().to_string())?;
    let mut paths = Paths::of(home, home);
    paths.logs = Some(home.join("logs"));
    let run_options = RunOptions {
        mcp_config: vec![file.to_string_lossy().into_owned()],
        strict: true,
        allowed_tools: targets.names().iter().map(|name| format!("mcp__{name}")).collect(),
        ..RunOptions::default()
    };
    runtime.block_on(async {
        let host = Host::builder(&paths, &run_options).without_own_server().whole_results().start();
        let readiness = host.ready(PATIENCE).await;
        let is_connected = |status: &Status| matches!(status, Status::Connected { .. });
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
fn fewest_files(time: Duration) -> io::Result<usize> {
    let begun = Instant::now();
    let mut fewest = processes::open_files()?;
    while begun.elapsed() < time {
        std::thread::sleep(Duration::from_millis(20));
        fewest = fewest.min(processes::open_files()?);
    }
    Ok(fewest)
}

/// The number of open files once it is no more than `most`, or after some seconds.
fn until_at_most(most: usize) -> io::Result<usize> {
    let begun = Instant::now();
    loop {
        let files = processes::open_files()?;
        if files <= most || begun.elapsed() > Duration::from_secs(10) {
            return Ok(files);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn any_seed() -> u64 {
    // Whatever the clock says will do, even nothing.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos())
}
