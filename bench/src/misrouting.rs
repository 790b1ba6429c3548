//! The misrouting test: many clients with colliding ids share three servers through the gateway, and every
//! message that a client gets has to carry the nonce of its own call.
//!
//! | part | module |
//! |---|---|
//! | number of calls and clients | [`options`] |
//! | the servers, and killing them | [`servers`] |
//! | the calls of one client, and the check of every message | [`client`], [`check`] |
//! | the connections of a client | [`line_link`], [`http_link`] |
//! | counts and promises | [`report`] |

mod check;
mod client;
mod http_link;
mod line_link;
mod options;
mod report;
mod servers;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::catalog::Budget;
use mcparley::config::StartPolicy;
use mcparley::pool::connection::ServerStatus;
use mcparley::{Host, Paths, RunOptions};
use mcparley_door::{DoorListener, DoorOptions, Doors, TokenPolicy};
use mcparley_gateway::{Gateway, GatewayMode, Seal};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use client::LoadClient;
use http_link::DoorPlace;
pub(crate) use options::Options;
use report::MessageCounts;
pub(crate) use report::MisroutingReport;
use servers::EchoServers;

/// The timeout for starting all servers.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of threads: more than one, so that tasks of the gateway really run in parallel.
const THREADS: usize = 2;

/// Runs the misrouting test.
pub(crate) fn run_misrouting(options: &Options) -> io::Result<MisroutingReport> {
    let program = crate::stage::sibling_program("mcparley-bench-echo")?;
    let home = tempfile::tempdir()?;
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let mut servers = EchoServers::start(&program)?;
    runtime.block_on(async {
        let host = start_host(home.path(), &servers).await?;
        let mode = GatewayMode { for_model: false, ..GatewayMode::default() };
        let gateway = Gateway::new(host.clone(), Budget::without_limit()).with_mode(mode);
        let place = home.path().join("doors");
        create_private_folder(&place)?;
        let doors = open_doors(&gateway, &place.join("socket")).await?;
        LoadClient::new(0, &gateway, &doors.places, false).warm_up().await?;
        let begun = Instant::now();
        let clients = run_clients(options, &gateway, &doors.places);
        let (counts, kills) = match options.kill {
            true => servers.kill_during(clients).await?,
            false => (clients.await?, 0),
        };
        let took = begun.elapsed();
        doors.close().await;
        host.shut_down().await;
        Ok(MisroutingReport { options: options.clone(), counts, kills, took })
    })
}

/// Runs all clients to their end, and adds up their counts.
async fn run_clients(
    options: &Options,
    gateway: &Gateway,
    places: &[DoorPlace; 2],
) -> io::Result<MessageCounts> {
    let mut running = JoinSet::new();
    for number in 0..options.clients {
        let calls = options.calls / options.clients + u64::from(number < options.calls % options.clients);
        let mut client = LoadClient::new(number, gateway, places, options.kill);
        running.spawn(async move { client.run_calls(calls).await });
    }
    let mut counts = MessageCounts::default();
    while let Some(done) = running.join_next().await {
        counts.add(done.map_err(io::Error::other)?);
    }
    Ok(counts)
}

/// Doors on a TCP port and on a Unix socket.
struct OpenDoors {
    places: [DoorPlace; 2],
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

impl OpenDoors {
    async fn close(self) {
        drop(self.stop);
        let _ended = self.serving.await;
    }
}

async fn open_doors(gateway: &Gateway, socket: &std::path::Path) -> io::Result<OpenDoors> {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let tcp = DoorListener::bind_tcp(address, false).await.map_err(io::Error::other)?;
    let unix = DoorListener::bind_unix(socket).await.map_err(io::Error::other)?;
    let address = tcp.address().ok_or_else(|| io::Error::other("no address"))?;
    let options = DoorOptions {
        has_sse: true,
        ..DoorOptions::new(TokenPolicy::Open, Seal::in_memory().map_err(io::Error::other)?)
    };
    let doors = Doors::new(gateway, options, vec![tcp, unix]);
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(doors.serve_until(async move { drop(stopped.await) }));
    Ok(OpenDoors { places: [DoorPlace::Tcp(address), DoorPlace::Unix(Arc::from(socket))], stop, serving })
}

fn create_private_folder(path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// Starts a host and waits until every server has answered.
async fn start_host(home: &std::path::Path, servers: &EchoServers) -> io::Result<Host> {
    let file = home.join("servers.json");
    std::fs::write(&file, servers.configuration().to_string())?;
    let mut paths = Paths::new(home, home);
    paths.logs = Some(home.join("logs"));
    let run_options = RunOptions {
        mcp_config: vec![file.to_string_lossy().into_owned()],
        strict: true,
        allowed_tools: servers::NAMES.iter().map(|name| format!("mcp__{name}")).collect(),
        ..RunOptions::default()
    };
    let host = Host::builder(&paths, &run_options).start_with(StartPolicy::All).without_built_in_server();
    let host = Gateway::prepare_host(host).start();
    let readiness = host.wait_until_ready(PATIENCE).await;
    let is_connected = |status: &ServerStatus| matches!(status, ServerStatus::Connected { .. });
    match readiness.servers.iter().find(|server| !is_connected(&server.state.status)) {
        Some(server) => {
            let (name, status) = (server.name.as_str(), &server.state.status);
            Err(io::Error::other(format!("`{name}` is {}: {:?}", status.as_str(), status.reason())))
        }
        None => Ok(host),
    }
}
