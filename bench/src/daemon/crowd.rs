//! Many clients that start at once: the processes and the memory of their servers, and the time until each client has
//! its list.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::AgentClient;
use super::fleet_home::FleetHome;
use super::marked::{MarkedProcesses, proportional_memory};
use super::real_servers::{EntryShare, RealServers, SERVERS};

/// The time for servers to come to rest after their start.
const REST: Duration = Duration::from_secs(5);

/// A measurement of many clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrowdSetup {
    pub(super) clients: usize,
    /// The number of folders, in which the clients work in turn.
    pub(super) folders: usize,
    pub(super) share: EntryShare,
    /// Whether the daemon is enabled.
    pub(super) with_daemon: bool,
}

/// The result of such a measurement.
#[derive(Clone, Debug)]
pub(super) struct CrowdFigures {
    pub(super) setup: CrowdSetup,
    /// Server processes and their memory.
    pub(super) servers: MarkedProcesses,
    /// The memory of the gateways of the clients, in bytes.
    pub(super) gateways: f64,
    /// The memory of the daemon, in bytes.
    pub(super) daemon: Option<f64>,
    /// The time until the median client has its list.
    pub(super) median: Duration,
    /// The time until the last client has its list.
    pub(super) last: Duration,
    /// The number of tools in a list.
    pub(super) tools: usize,
    /// The reasons of the daemon for several processes of a server, each with the servers.
    pub(super) reasons: BTreeMap<String, Vec<String>>,
}

impl CrowdSetup {
    /// Measures with an empty home.
    pub(super) fn measure(self, mcparley: &std::path::Path, real: &RealServers) -> io::Result<CrowdFigures> {
        let home = FleetHome::new(mcparley)?;
        home.configure(&real.entries(&home.files(), home.mark(), self.share))?;
        if self.with_daemon {
            home.enable_daemon()?;
        }
        let begun = Instant::now();
        let started = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.clients)
                .map(|number| {
                    let home = &home;
                    scope.spawn(move || self.start_client(home, number, begun))
                })
                .collect();
            let finish = |thread: std::thread::ScopedJoinHandle<'_, io::Result<_>>| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a client has panicked")))
            };
            threads.into_iter().map(finish).collect::<io::Result<Vec<_>>>()
        })?;
        std::thread::sleep(REST);
        let mut times: Vec<Duration> = started.iter().map(|(_, _, time)| *time).collect();
        times.sort();
        let figures = CrowdFigures {
            setup: self,
            servers: MarkedProcesses::of_run(home.mark())?,
            gateways: started.iter().filter_map(|(client, ..)| proportional_memory(client.pid())).sum(),
            daemon: match self.with_daemon {
                true => proportional_memory(home.daemon_pid()?),
                false => None,
            },
            median: times.get(times.len() / 2).copied().unwrap_or_default(),
            last: times.last().copied().unwrap_or_default(),
            tools: started.iter().map(|(_, tools, _)| *tools).min().unwrap_or_default(),
            reasons: match self.with_daemon {
                true => collect_reasons(&home.daemon_status()?),
                false => BTreeMap::new(),
            },
        };
        drop(started);
        home.end_servers()?;
        Ok(figures)
    }

    /// Starts a client, and waits for its list; returns it with the number of tools and the time since the start of all.
    fn start_client(
        self,
        home: &FleetHome,
        number: usize,
        begun: Instant,
    ) -> io::Result<(AgentClient, usize, Duration)> {
        let folder = home.project(number % self.folders)?;
        let mut client = AgentClient::start(home.serve(), &folder)?;
        let tools = client.wait_for_tools(SERVERS)?;
        Ok((client, tools, begun.elapsed()))
    }

    /// The measurement in words.
    pub(super) fn describe(self) -> String {
        let Self { clients, folders, share, with_daemon } = self;
        let clients = match clients {
            1 => "1 client".to_owned(),
            many => format!("{many} clients"),
        };
        let folders = match folders {
            1 => "one folder".to_owned(),
            many => format!("{many} folders"),
        };
        let daemon = if with_daemon { "" } else { ", no daemon" };
        let share = match share {
            EntryShare::Auto => "",
            EntryShare::AlwaysWherePossible => ", `share: always` for 11 servers",
        };
        format!("{clients}, {folders}{daemon}{share}")
    }
}

/// The reasons for several processes of one server, with the numbers of processes.
fn collect_reasons(status: &Value) -> BTreeMap<String, Vec<String>> {
    let mut explained: BTreeMap<String, String> = BTreeMap::new();
    for copy in status["copies"].as_array().into_iter().flatten() {
        if let (Some(server), Some(reason)) = (copy["server"].as_str(), copy["explanation"].as_str()) {
            explained.insert(server.to_owned(), reason.to_owned());
        }
    }
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (server, reason) in explained {
        reasons.entry(reason).or_default().push(server);
    }
    reasons
}
