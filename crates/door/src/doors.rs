//! The running doors of a gateway: their options, and their life from their opening to their end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::auth::CallbackEndpoint;
use mcparley_identity::AccessPolicy;
use mcparley_model::limits::{CLUSTER_COMMAND_TIME, DOOR_ALL_LOG_BYTES, DOOR_DRAIN_TIME};
use mcparley_telemetry::GatewayMetrics;
use tokio::sync::watch;

use crate::endpoint::Endpoints;
use crate::guard::Guard;
use crate::guard::load::LoadLimits;
use crate::guard::names::NameCheck;
use crate::guard::shared_rate::share_rates;
use crate::legacy_sessions::LegacySessions;
use crate::listener::DoorListener;
use crate::page::PageHandler;
use crate::session_table::limit_kept_bytes;
use crate::shared::DoorShared;
use crate::tasks::{DoorTasks, TasksGuard};
use crate::{cluster_service, listener};
use mcparley_cluster::Seal;
use mcparley_gateway::Gateway;
use mcparley_gateway::GatewayView;
use mcparley_gateway::cluster_link::{ClusterLink, ClusterOptions};
use mcparley_identity::TokenPolicy;

/// The interval at which expired sessions and streams are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// The interval at which a gateway that stops looks for requests in progress.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);

/// The options of the doors.
#[derive(Debug)]
pub struct DoorOptions {
    /// Further names under which clients reach the door.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the door.
    pub origins: Vec<String>,
    /// The authentication of clients over TCP.
    pub tokens: TokenPolicy,
    /// The tokens of an issuer, which are accepted beside those of `tokens`.
    pub issuer: Option<AccessPolicy>,
    /// The views with endpoints of their own.
    pub views: Vec<GatewayView>,
    /// The requests per second of one principal.
    pub rate: Option<u32>,
    /// Whether HTTP+SSE of 2024-11-05 is served too.
    pub has_sse: bool,
    /// The redirect address of sign-ins to servers; the default is the address of the first TCP listener.
    pub callback: Option<CallbackEndpoint>,
    /// The seal of session ids.
    pub seal: Seal,
    /// Whether MCP is served; otherwise only the web page and the endpoints for operation are.
    pub has_mcp: bool,
    /// The membership in a cluster of gateways.
    pub cluster: Option<ClusterOptions>,
    /// The web page below `/ui/`.
    pub page: Option<Arc<dyn PageHandler>>,
}

/// The running doors of a gateway.
#[derive(Debug)]
pub struct Doors {
    shared: Arc<DoorShared>,
    /// Ends connections and answers together with the doors.
    tasks: TasksGuard,
    listeners: Vec<DoorListener>,
    /// The path of the Unix socket, removed at the end.
    socket: Mutex<Option<PathBuf>>,
}

impl DoorOptions {
    /// The options of doors for MCP with this authentication and this seal; all others are off.
    #[must_use]
    pub fn new(tokens: TokenPolicy, seal: Seal) -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            tokens,
            issuer: None,
            views: Vec::new(),
            rate: None,
            has_sse: false,
            callback: None,
            seal,
            has_mcp: true,
            cluster: None,
            page: None,
        }
    }
}

impl Doors {
    /// Opens the doors of a gateway on these listeners.
    #[must_use]
    pub fn new(gateway: &Gateway, options: DoorOptions, listeners: Vec<DoorListener>) -> Self {
        let DoorOptions {
            mut hosts,
            origins,
            tokens,
            issuer,
            views,
            rate,
            has_sse,
            callback,
            seal,
            has_mcp,
            cluster,
            page,
        } = options;
        let address: Option<SocketAddr> = listeners.iter().find_map(DoorListener::address);
        let callback = callback.or_else(|| CallbackEndpoint::at_address(address?));
        hosts.extend(callback.iter().flat_map(CallbackEndpoint::host_names));
        let has_several = match &issuer {
            // Each of its subjects is a principal.
            Some(_) => Arc::new(AtomicBool::new(true)),
            None => tokens.has_several_principals(),
        };
        gateway.separate_principals(has_several, callback.clone());
        let guard = Guard {
            names: NameCheck::new(address, &hosts, &origins),
            tokens,
            issuer,
            load: LoadLimits::new(rate),
        };
        let seal = Arc::new(seal);
        gateway.use_seal(Arc::clone(&seal));
        let cluster = cluster.map(|options| ClusterLink::new(options, Arc::clone(&seal)));
        if let Some(link) = &cluster {
            gateway.use_cluster(Arc::clone(link));
            if let (Some(callback), Some(name)) = (&callback, link.seal_sign_in()) {
                callback.name_gateway(name);
            }
        }
        let (tasks, tasks_guard) = DoorTasks::new();
        let shared = DoorShared {
            guard,
            endpoints: Endpoints::new(gateway, views, &seal),
            host: gateway.served_host().clone(),
            legacy: has_sse.then(|| LegacySessions::new(gateway.clone())),
            metrics: GatewayMetrics::new(),
            gateway: gateway.clone(),
            callback,
            cluster,
            served: AtomicUsize::new(0),
            has_mcp,
            page,
            tasks,
            drain: watch::Sender::new(false),
        };
        let socket = listeners.iter().find_map(DoorListener::socket_path);
        Self { shared: Arc::new(shared), tasks: tasks_guard, listeners, socket: Mutex::new(socket) }
    }

    /// Serves clients until `stop` resolves; then new requests are refused, and those in progress get a
    /// limited time to finish.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let mut tasks = tokio::task::JoinSet::new();
        for listener in self.listeners {
            tasks.spawn(listener.accept_connections(Arc::clone(&self.shared)));
        }
        let sweeping = Arc::clone(&self.shared);
        tasks.spawn(async move {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                let endpoints = sweeping.endpoints.iter();
                let sessions = endpoints.flat_map(|endpoint| endpoint.sessions.remove_expired());
                limit_kept_bytes(sessions.collect(), DOOR_ALL_LOG_BYTES);
            }
        });
        if let Some(link) = self.shared.cluster.clone() {
            tasks.spawn(share_rates(Arc::clone(&self.shared.guard.load), None, Arc::clone(&link)));
            for (load, view) in self.shared.endpoints.iter().filter_map(|endpoint| endpoint.view_rate()) {
                tasks.spawn(share_rates(load, Some(view), Arc::clone(&link)));
            }
            tasks.spawn(cluster_service::handle_messages(Arc::clone(&self.shared), link));
        }
        stop.await;
        self.shared.drain.send_replace(true);
        self.shared.endpoints.iter().for_each(|endpoint| endpoint.sessions.close_channels());
        let finished = async {
            let served = || self.shared.served.load(Ordering::Relaxed);
            while self.shared.guard.load.is_busy() || served() > 0 {
                tokio::time::sleep(DRAIN_INTERVAL).await;
            }
        };
        let _late = tokio::time::timeout(DOOR_DRAIN_TIME, finished).await;
        if let Some(legacy) = &self.shared.legacy {
            legacy.close_sessions();
        }
        // The last responses are written by the connections.
        tokio::time::sleep(DRAIN_INTERVAL).await;
        drop(self.tasks);
        if let Some(link) = &self.shared.cluster {
            link.member.leave(CLUSTER_COMMAND_TIME).await;
        }
        if let Some(socket) = self.socket.lock().ok().and_then(|mut socket| socket.take()) {
            listener::remove_socket(&socket);
        }
    }
}
