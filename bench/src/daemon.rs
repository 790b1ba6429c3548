//! Measures the daemon with real servers: many clients that share them, and what one more client costs.
//!
//! | part | module |
//! |---|---|
//! | the thirteen servers | `real_servers` |
//! | a home with them, and its daemon | `fleet_home` |
//! | a client of `mcparley serve` | `client` |
//! | **many clients that start at once** | `crowd` |
//! | calls and clients while the daemon runs, the same call by mcporter | `warm` |
//! | the processes of servers, and their memory | `marked` |
//! | the promises | `report` |

mod client;
mod crowd;
mod fleet_home;
mod marked;
mod real_servers;
mod report;
mod warm;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::stage::find_mcparley;
use crowd::CrowdSetup;
use real_servers::{EntryShare, RealServers};
pub(crate) use report::DaemonReport;

/// Measure the daemon with thirteen servers of others and many clients
///
/// The servers are those that `cargo xtask fleet` installs. Every client is a process `mcparley serve` on pipes.
/// Ends all processes it started.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Measure only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    only: Vec<DaemonPart>,
    /// Number of clients that start at once
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(2..=100))]
    clients: u16,
    /// Number of clients that do nothing
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=2000))]
    idle: u16,
    /// Number of calls and of attaching clients, of which the median counts
    #[arg(long, default_value = "30", value_name = "NUMBER")]
    rounds: NonZeroUsize,
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
    /// The program to measure, instead of building it
    #[arg(long, value_name = "PROGRAM")]
    mcparley: Option<PathBuf>,
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DaemonPart {
    /// Many clients in one folder
    Folder,
    /// Many clients in as many folders
    Folders,
    /// Five clients without the daemon
    Alone,
    /// Calls and attaching clients
    Warm,
    /// Clients that do nothing
    Idle,
}

/// The number of clients without the daemon, and in folders with entries as they are.
const FEW: usize = 5;

/// Runs the measurement.
pub(crate) fn run_daemon_bench(options: &Options) -> io::Result<DaemonReport> {
    let (mcparley, real) = (find_mcparley(options.mcparley.clone())?, RealServers::find()?);
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    let many = usize::from(options.clients);
    let crowd = |clients, folders, share, with_daemon| CrowdSetup { clients, folders, share, with_daemon };
    let (auto, always) = (EntryShare::Auto, EntryShare::AlwaysWherePossible);
    let crowds = [
        (DaemonPart::Folder, crowd(many, 1, auto, true)),
        (DaemonPart::Folders, crowd(many, many, always, true)),
        (DaemonPart::Folders, crowd(FEW, FEW, auto, true)),
        (DaemonPart::Alone, crowd(FEW, 1, auto, false)),
    ];
    let mut report = DaemonReport { single: None, crowds: Vec::new(), warm: None, idle: None };
    for (_, setup) in crowds.into_iter().filter(|(part, _)| wanted(*part)) {
        if report.single.is_none() {
            report.single = Some(crowd(1, 1, auto, false).measure(&mcparley, &real)?);
        }
        eprintln!("measuring: {}", setup.describe());
        report.crowds.push(setup.measure(&mcparley, &real)?);
    }
    if wanted(DaemonPart::Warm) {
        report.warm = Some(warm::measure_warm(&mcparley, &real, options.rounds.get())?);
    }
    if wanted(DaemonPart::Idle) {
        report.idle = Some(warm::measure_idle(&mcparley, &real, usize::from(options.idle))?);
    }
    Ok(report)
}
