//! The figures of the daemon, and its promises.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::crowd::CrowdFigures;
use super::real_servers::SERVERS;
use super::warm::{IDLE_TIME, IdleFigures, WarmFigures};
use crate::table::align_columns;

/// The most memory of the shared servers, as a multiple of one set.
const MEMORY_RATIO: f64 = 1.15;
/// The longest time of a warm call, in seconds, and the least multiple of it that mcporter needs.
const CALL_TIME: f64 = 6e-3;
const CALL_RATIO: f64 = 60.0;
/// The longest time until an attached client has its list, in seconds.
const ATTACH_TIME: f64 = 10e-3;
/// The most processor time of a daemon without work, in seconds.
const IDLE_PROCESSOR: f64 = 1e-3;
/// The most memory of an idle client in the daemon, in bytes.
const CLIENT_BYTES: f64 = 64.0 * 1024.0;

/// All figures of the daemon.
#[derive(Debug)]
pub(crate) struct DaemonReport {
    /// One client without the daemon, with which memory is compared.
    pub(super) single: Option<CrowdFigures>,
    pub(super) crowds: Vec<CrowdFigures>,
    pub(super) warm: Option<WarmFigures>,
    pub(super) idle: Option<IdleFigures>,
}

/// One figure, and whether it is as promised.
struct DaemonPromise {
    what: String,
    measured: String,
    promised: String,
    kept: bool,
}

impl DaemonReport {
    pub(crate) fn broken_promises(&self) -> Vec<String> {
        self.all_promises().into_iter().filter(|promise| !promise.kept).map(|promise| promise.what).collect()
    }

    fn all_promises(&self) -> Vec<DaemonPromise> {
        let mut promises = Vec::new();
        for crowd in self.crowds.iter().filter(|crowd| crowd.is_of_one_shared_folder()) {
            promises.push(DaemonPromise {
                what: format!("{}: server processes", crowd.setup.describe()),
                measured: crowd.servers.servers.to_string(),
                promised: format!("≤ {SERVERS}"),
                kept: crowd.servers.servers <= SERVERS,
            });
            if let Some(ratio) = self.memory_ratio(crowd) {
                promises.push(DaemonPromise {
                    what: format!("{}: memory of the servers, against one set", crowd.setup.describe()),
                    measured: format!("{ratio:.2}"),
                    promised: format!("≤ {MEMORY_RATIO}"),
                    kept: ratio <= MEMORY_RATIO,
                });
            }
        }
        if let Some(warm) = &self.warm {
            let ratio = warm.mcporter_call / warm.call;
            promises.extend([
                time_promise("`mcparley call`, warm, median", warm.call, CALL_TIME),
                DaemonPromise {
                    what: "the same call by mcporter through its daemon".to_owned(),
                    measured: format!("{} = {ratio:.0} x", milliseconds(warm.mcporter_call)),
                    promised: format!("≥ {CALL_RATIO} x"),
                    kept: ratio >= CALL_RATIO,
                },
                time_promise(
                    "`mcparley serve` until its first complete list, warm, median",
                    warm.attach,
                    ATTACH_TIME,
                ),
            ]);
        }
        if let Some(idle) = &self.idle {
            let clients = idle.clients;
            promises.extend([
                time_promise(
                    &format!("processor time of the daemon in {IDLE_TIME:?}, {clients} idle clients"),
                    idle.daemon_time,
                    IDLE_PROCESSOR,
                ),
                DaemonPromise {
                    what: format!("memory of the daemon per client, {clients} idle clients"),
                    measured: format!("{:.1} KiB", idle.daemon_memory / 1024.0),
                    promised: format!("≤ {:.0} KiB", CLIENT_BYTES / 1024.0),
                    kept: idle.daemon_memory <= CLIENT_BYTES,
                },
            ]);
        }
        promises
    }

    /// The memory of the servers of a crowd as a multiple of one set.
    fn memory_ratio(&self, crowd: &CrowdFigures) -> Option<f64> {
        Some(crowd.servers.memory / self.single.as_ref()?.servers.memory)
    }

    /// The report for people.
    pub(crate) fn to_text(&self) -> String {
        let head = ["clients", "processes", "memory", "of a set", "gateways", "daemon", "median", "last"];
        let row = |crowd: &CrowdFigures| {
            vec![
                crowd.setup.describe(),
                crowd.servers.servers.to_string(),
                megabytes(crowd.servers.memory),
                self.memory_ratio(crowd).map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
                megabytes(crowd.gateways),
                crowd.daemon.map(megabytes).unwrap_or_default(),
                format!("{:.1} s", crowd.median.as_secs_f64()),
                format!("{:.1} s", crowd.last.as_secs_f64()),
            ]
        };
        let crowds = self.single.iter().chain(&self.crowds);
        let rows: Vec<_> = std::iter::once(head.map(str::to_owned).to_vec()).chain(crowds.map(row)).collect();
        let mut text = align_columns(&rows, |column| column == 0);
        for crowd in &self.crowds {
            for (reason, servers) in &crowd.reasons {
                let _written =
                    writeln!(text, "  {}: {}: {reason}", crowd.setup.describe(), servers.join(", "));
            }
        }
        if let Some(warm) = &self.warm {
            let _written = writeln!(
                text,
                "  mcporter with its daemon: first list {:.1} s, {} server processes",
                warm.mcporter_list, warm.mcporter_servers
            );
        }
        if let Some(idle) = &self.idle {
            let _written = writeln!(
                text,
                "  {} idle clients: {} of processor time of the clients themselves in {IDLE_TIME:?}",
                idle.clients,
                milliseconds(idle.client_time)
            );
        }
        text.push('\n');
        let head = ["promise", "measured", "promised", ""].map(str::to_owned).to_vec();
        let row = |promise: DaemonPromise| {
            let verdict = if promise.kept { "ok" } else { "BROKEN" };
            vec![promise.what, promise.measured, promise.promised, verdict.to_owned()]
        };
        let rows: Vec<_> = std::iter::once(head).chain(self.all_promises().into_iter().map(row)).collect();
        text.push_str(&align_columns(&rows, |_| true));
        text
    }

    /// The report for programs, in seconds and bytes.
    pub(crate) fn to_json(&self) -> Value {
        let crowd = |crowd: &CrowdFigures| {
            json!({
                "what": crowd.setup.describe(),
                "processes": crowd.servers.servers,
                "memory": crowd.servers.memory,
                "memoryRatio": self.memory_ratio(crowd),
                "gateways": crowd.gateways,
                "daemon": crowd.daemon,
                "median": crowd.median.as_secs_f64(),
                "last": crowd.last.as_secs_f64(),
                "tools": crowd.tools,
                "reasons": crowd.reasons,
            })
        };
        let promise = |promise: DaemonPromise| {
            let DaemonPromise { what, measured, promised, kept } = promise;
            json!({ "promise": what, "measured": measured, "promised": promised, "kept": kept })
        };
        json!({
            "crowds": self.single.iter().chain(&self.crowds).map(crowd).collect::<Vec<_>>(),
            "promises": self.all_promises().into_iter().map(promise).collect::<Vec<_>>(),
        })
    }
}

impl CrowdFigures {
    /// Whether all clients could share one set of servers.
    fn is_of_one_shared_folder(&self) -> bool {
        self.setup.with_daemon && self.setup.folders == 1
    }
}

fn time_promise(what: &str, seconds: f64, most: f64) -> DaemonPromise {
    DaemonPromise {
        what: what.to_owned(),
        measured: milliseconds(seconds),
        promised: format!("≤ {}", milliseconds(most)),
        kept: seconds <= most,
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}

fn megabytes(bytes: f64) -> String {
    format!("{:.0} MB", bytes / 1e6)
}
