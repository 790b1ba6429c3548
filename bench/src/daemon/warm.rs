//! A daemon that already runs the servers: single calls, attaching clients, clients that do nothing.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::AgentClient;
use super::fleet_home::FleetHome;
use super::marked::ThreadTimes;
use super::real_servers::{EntryShare, RealServers, SERVERS};
use crate::processes;
use crate::rounds::median;

/// The time in which idle clients are watched.
pub(super) const IDLE_TIME: Duration = Duration::from_secs(10);

/// The number of threads that start idle clients.
const STARTERS: usize = 4;

/// The figures of a warm daemon.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarmFigures {
    /// The median time of `mcparley call`, in seconds.
    pub(super) call: f64,
    /// The median time of the same call by mcporter through its daemon, in seconds.
    pub(super) mcporter_call: f64,
    /// The server processes of mcporter's daemon once it has listed all servers.
    pub(super) mcporter_servers: usize,
    /// The time in seconds of the first list of all servers by mcporter, with its daemon.
    pub(super) mcporter_list: f64,
    /// The median time from the start of `mcparley serve` until its first complete list, in seconds.
    pub(super) attach: f64,
}

/// The figures of clients that do nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleFigures {
    pub(super) clients: usize,
    /// The processor time of the daemon in [`IDLE_TIME`], in seconds.
    pub(super) daemon_time: f64,
    /// The processor time of all clients in that time, in seconds.
    pub(super) client_time: f64,
    /// The growth of the daemon's memory, in bytes per client.
    pub(super) daemon_memory: f64,
}

/// Measures calls and attaching clients while the daemon runs all servers; the same call by mcporter.
pub(super) fn measure_warm(mcparley: &Path, real: &RealServers, rounds: usize) -> io::Result<WarmFigures> {
    let home = FleetHome::new(mcparley)?;
    let servers = real.entries(&home.files(), home.mark(), EntryShare::Auto);
    home.configure(&servers)?;
    home.enable_daemon()?;
    let folder = home.project(0)?;
    // Fills the cache of lists, and starts every server.
    let mut agent = AgentClient::start(home.serve(), &folder)?;
    agent.wait_for_tools(SERVERS)?;
    let mut calls = Vec::new();
    for _ in 0..=rounds {
        let mut call = home.mcparley(&["call", "everything.echo", "message=hello"]);
        calls.push(time_command(call.current_dir(&folder))?);
    }
    let mut attaching = Vec::new();
    for _ in 0..=rounds {
        let begun = Instant::now();
        let mut client = AgentClient::start(home.serve(), &folder)?;
        client.wait_for_tools(SERVERS)?;
        attaching.push(begun.elapsed().as_secs_f64());
    }
    drop(agent);
    home.end_servers()?;

    let other = FleetHome::new(mcparley)?;
    let mut servers = real.entries(&other.files(), other.mark(), EntryShare::Auto);
    servers.values_mut().for_each(|entry| entry["lifecycle"] = json!("keep-alive"));
    let file = other.write("mcporter.json", &json!({ "mcpServers": servers }).to_string())?;
    let mcporter = |words: &[&str]| {
        let mut command = other.command_of(&real.installed("mcporter/node"));
        command
            .arg(real.installed("mcporter/node_modules/.bin/mcporter"))
            .arg("--config")
            .arg(&file)
            .args(words);
        command
    };
    time_command(&mut mcporter(&["daemon", "start"]))?;
    let measured = measure_mcporter(&mcporter, &other, rounds);
    // Also after a failure, so that no process stays.
    let ended = time_command(&mut mcporter(&["daemon", "stop"]));
    let (mcporter_list, mcporter_servers, mcporter_call) = measured?;
    ended?;
    other.end_servers()?;
    Ok(WarmFigures {
        call: median(calls.split_off(1)),
        mcporter_call,
        mcporter_servers,
        mcporter_list,
        attach: median(attaching.split_off(1)),
    })
}

fn measure_mcporter(
    mcporter: &dyn Fn(&[&str]) -> Command,
    home: &FleetHome,
    rounds: usize,
) -> io::Result<(f64, usize, f64)> {
    let list = time_command(&mut mcporter(&["list", "--json"]))?;
    let mut calls = Vec::new();
    for _ in 0..=rounds.min(10) {
        calls.push(time_command(&mut mcporter(&["call", "everything.echo", "message=hello"]))?);
    }
    let servers = super::marked::MarkedProcesses::of_run(home.mark())?.servers;
    Ok((list, servers, median(calls.split_off(1))))
}

/// Measures clients of one server that were attached to the daemon by a call, and then do nothing.
pub(super) fn measure_idle(mcparley: &Path, real: &RealServers, clients: usize) -> io::Result<IdleFigures> {
    let home = FleetHome::new(mcparley)?;
    let mut servers = real.entries(&home.files(), home.mark(), EntryShare::Auto);
    servers.retain(|name, _| name == "time");
    home.configure(&servers)?;
    home.enable_daemon()?;
    let folder = home.project(0)?;
    let attach = || -> io::Result<AgentClient> {
        let mut client = AgentClient::start(home.serve(), &folder)?;
        client.wait_for_tools(1)?;
        client.call_tool("time__get_current_time", &json!({ "timezone": "UTC" }))?;
        Ok(client)
    };
    let mut all = vec![attach()?];
    let daemon = home.daemon_pid()?;
    let memory = || processes::memory_size(&daemon.to_string(), "VmRSS").unwrap_or_default() as f64;
    let before = memory();
    std::thread::scope(|scope| {
        let starters: Vec<_> = (0..STARTERS)
            .map(|starter| {
                let share = (starter..clients).step_by(STARTERS);
                scope.spawn(move || share.map(|_| attach()).collect::<io::Result<Vec<_>>>())
            })
            .collect();
        for starter in starters {
            all.extend(starter.join().unwrap_or_else(|_| Err(io::Error::other("a client has panicked")))?);
        }
        io::Result::Ok(())
    })?;
    let status = home.daemon_status()?;
    let attached = status["copies"][0]["clients"].as_array().map_or(0, Vec::len);
    if attached != clients + 1 {
        return Err(io::Error::other(format!("{attached} clients are attached, not {}", clients + 1)));
    }
    // Until the processes have come to rest after their start.
    std::thread::sleep(IDLE_TIME / 5);
    let used = memory() - before;
    let client_times =
        || all.iter().map(|client| ThreadTimes::of_process(client.pid())).collect::<Vec<ThreadTimes>>();
    let (daemon_before, clients_before) = (ThreadTimes::of_process(daemon), client_times());
    std::thread::sleep(IDLE_TIME);
    let clients_after = client_times();
    let figures = IdleFigures {
        clients,
        daemon_time: ThreadTimes::of_process(daemon).seconds_since(&daemon_before),
        client_time: clients_after
            .iter()
            .zip(&clients_before)
            .map(|(after, before)| after.seconds_since(before))
            .sum(),
        daemon_memory: used.max(0.0) / clients as f64,
    };
    drop(all);
    home.end_servers()?;
    Ok(figures)
}

/// Runs a program to its end; returns the seconds.
fn time_command(command: &mut Command) -> io::Result<f64> {
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed().as_secs_f64();
    if status.success() { Ok(took) } else { Err(io::Error::other(format!("{command:?} failed: {status}"))) }
}
