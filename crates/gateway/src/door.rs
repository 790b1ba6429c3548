//! The HTTP doors of the gateway: Streamable HTTP of both eras, HTTP+SSE of 2024-11-05, over TCP and Unix
//! sockets.
//!
//! | module | content |
//! |---|---|
//! | `listener` | accepts connections, bounded |
//! | `http` | routes a request by its path, after the checks of `guard` |
//! | `endpoint` | the main endpoint and the views, with the principals that may use them |
//! | `configured_views` | opens the views of the settings |
//! | `mcp` | the endpoint `/mcp`: messages of both eras |
//! | `legacy_sse` | the endpoints `/sse` and `/messages` |
//! | `header_check` | headers of the new era against the body |
//! | `exchange` | the answer to one request, as JSON or as an event stream |
//! | `event_stream`, `body` | event streams, and their readers |
//! | `http_session`, `session_table`, `question` | sessions of the old era, and requests to their clients |
//! | `callback` | the redirect address of sign-ins to servers |
//! | `cluster_service`, `remote_stream` | requests and streams of other gateways of a cluster |
//! | `metrics` | counters for Prometheus |
//! | `page` | a web page beside the endpoints for MCP, answered by a [`PageHandler`] |

mod body;
mod callback;
mod cluster_service;
mod configured_views;
mod endpoint;
mod event_stream;
mod exchange;
mod header_check;
mod http;
mod http_session;
mod legacy_sse;
mod listener;
mod mcp;
mod metrics;
mod page;
mod question;
mod remote_stream;
pub(crate) mod reply;
mod session_table;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::Host;
use mcparley::auth::CallbackEndpoint;
use mcparley::host::RefusedRequest;
use mcparley_identity::AccessPolicy;
use mcparley_model::limits::{CLUSTER_COMMAND_TIME, DOOR_DRAIN_TIME};
use mcparley_telemetry::GatewayMetrics;
use tokio::sync::watch;

use crate::cluster_link::{ClusterLink, ClusterOptions};
use crate::door::endpoint::Endpoints;
use crate::door::legacy_sse::LegacySessions;
use crate::gateway::Gateway;
use crate::guard::load::LoadLimits;
use crate::guard::names::NameCheck;
use crate::guard::refusal::RequestRefusal;
use crate::guard::shared_rate::share_rates;
use crate::guard::{Guard, PeerAddress};
use crate::pending::QuestionRegistry;
pub use endpoint::GatewayView;
pub use listener::{DoorError, DoorListener};
use mcparley_cluster::Seal;
use mcparley_identity::TokenPolicy;
pub use page::{PAGE_PATH, PageBody, PageHandler, PageRequest, SESSION_PATH};

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

/// State that all listeners of a gateway share.
#[derive(Debug)]
pub(crate) struct DoorShared {
    pub(crate) guard: Guard,
    pub(crate) endpoints: Endpoints,
    /// The host that keeps the audit log.
    host: Host,
    pub(crate) legacy: Option<LegacySessions>,
    pub(crate) metrics: GatewayMetrics,
    /// The open questions of all endpoints.
    pending: Arc<QuestionRegistry>,
    pub(crate) callback: Option<CallbackEndpoint>,
    pub(crate) cluster: Option<Arc<ClusterLink>>,
    /// The number of requests of other gateways that run here.
    served: AtomicUsize,
    pub(crate) has_mcp: bool,
    pub(crate) page: Option<Arc<dyn PageHandler>>,
    drain: watch::Sender<bool>,
}

/// The running doors of a gateway.
#[derive(Debug)]
pub struct Doors {
    shared: Arc<DoorShared>,
    listeners: Vec<DoorListener>,
    /// The path of the Unix socket, removed at the end.
    socket: Mutex<Option<PathBuf>>,
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
        hosts.extend(callback.as_ref().and_then(CallbackEndpoint::host));
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
        let shared = DoorShared {
            guard,
            endpoints: Endpoints::new(gateway, views, &seal),
            host: gateway.host.clone(),
            legacy: has_sse.then(|| LegacySessions::new(gateway.clone())),
            metrics: GatewayMetrics::new(),
            pending: Arc::clone(&gateway.pending),
            callback,
            cluster,
            served: AtomicUsize::new(0),
            has_mcp,
            page,
            drain: watch::Sender::new(false),
        };
        let socket = listeners.iter().find_map(DoorListener::socket_path);
        Self { shared: Arc::new(shared), listeners, socket: Mutex::new(socket) }
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
                sweeping.endpoints.iter().for_each(|endpoint| endpoint.sessions.remove_expired());
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
            while self.shared.guard.load.in_flight() + served() > 0 {
                tokio::time::sleep(DRAIN_INTERVAL).await;
            }
            // The last responses are written by the connections.
            tokio::time::sleep(DRAIN_INTERVAL).await;
        };
        let _late = tokio::time::timeout(DOOR_DRAIN_TIME, finished).await;
        if let Some(link) = &self.shared.cluster {
            link.member.leave(CLUSTER_COMMAND_TIME).await;
        }
        if let Some(socket) = self.socket.lock().ok().and_then(|mut socket| socket.take()) {
            listener::remove_socket(&socket);
        }
    }
}

impl DoorShared {
    /// Whether the gateway stops.
    pub(crate) fn is_draining(&self) -> bool {
        *self.drain.borrow()
    }

    /// The number of sessions of the old era in memory.
    pub(crate) fn session_count(&self) -> usize {
        self.endpoints.iter().map(|endpoint| endpoint.sessions.len()).sum()
    }

    /// The number of questions that wait for their user.
    pub(crate) fn open_questions(&self) -> usize {
        self.pending.count_open()
    }

    /// Counts a refused request, and records it if it is a misuse.
    pub(crate) fn count_refusal(&self, refusal: &RequestRefusal, (peer, path): (PeerAddress, &str)) {
        self.metrics.count_refusal(refusal.reason);
        let Some(misuse) = &refusal.misuse else { return };
        let address = match peer {
            PeerAddress::Tcp(address) => address.to_string(),
            PeerAddress::Unix(_) => "unix".to_owned(),
        };
        let client = misuse.client.clone();
        self.host.record_refusal(RefusedRequest {
            reason: refusal.reason,
            path: path.to_owned(),
            address,
            client,
        });
    }

    /// Waits until the gateway stops.
    pub(crate) async fn wait_for_drain(&self) {
        let mut drain = self.drain.subscribe();
        // The sender lives as long as this value.
        let _draining = drain.wait_for(|is_draining| *is_draining).await.is_ok();
    }
}
