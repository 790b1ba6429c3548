//! Connects to a server and performs the handshake: [`Dialer`] and [`ConnectContext`].
//!
//! Transports: child processes, servers of the daemon, URLs (Streamable HTTP, the HTTP+SSE transport of 2024-11-05, WebSocket), and
//! in-process servers. The actor in `connection` keeps the result alive.

mod attach;
mod cache;
mod link;
mod reached_server;
mod runner;
mod sign_in;
mod trace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Accounts;
use mcparley_model::config::{Era, IdeConfig, RemoteConfig, ServerConfig, TransportConfig};
use mcparley_model::expand::Env;
use mcparley_model::limits::{
    CONNECT_TIME, DOWNLOAD_TIME, MESSAGE_BYTES, MESSAGE_BYTES_LEAST, MESSAGE_BYTES_MOST,
};
use mcparley_model::name::ServerName;
use mcparley_model::permission::ToolPin;
use mcparley_model::text::Untrusted;
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::handshake::{self, EstablishedConnection, HandshakeStep, Introduction, ServerConnector};
use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::transport::http::{HttpTarget, HttpTransport, Network, NetworkSettings};
use mcparley_wire::transport::memory;
use mcparley_wire::transport::sse::SseTransport;
use mcparley_wire::transport::stdio::{Stderr, StdioTransport};
use mcparley_wire::transport::ws::WsTransport;
use mcparley_wire::{Failure, RawJson};
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use crate::attach::DaemonLink;
use crate::attach::protocol::AttachRequest;
use crate::caches::Caches;
use crate::catalog_cache::CatalogCache;
use crate::client_services::ClientServices;
use crate::connect_error::ConnectError;
use crate::hosted_server::HostedServer;
use crate::launch::build_launch_with_ancestry;
use crate::log::ServerLogLevel;
use crate::organization::Organization;
use crate::principal::PrincipalCredentials;
use crate::redact::Redactor;
use crate::roots::Root;
use crate::surface::Surface;
use mcparley_config::Paths;

pub use link::ServerLink;
pub use reached_server::ReachedServer;
pub use trace::ConnectTrace;
pub use trace::{ConnectStage, StageTiming};

/// The header with the token of an editor's lock file.
const IDE_TOKEN: &str = "X-Claude-Code-Ide-Authorization";

/// The timeout for introducing ourselves to an editor; no other step depends on it.
const INTRODUCING: Duration = Duration::from_secs(1);

/// Dials servers: programs with their environment, URLs with their network and credentials. Cheap to clone.
#[derive(Clone)]
pub struct Dialer {
    /// The environment from which servers inherit variables.
    pub env: Env,
    /// The paths of the user.
    pub paths: Arc<Paths>,
    /// The connect timeout.
    pub limit: Duration,
    /// The total connect timeout while a package runner downloads the server; `None` if the user has set the
    /// timeout.
    pub download_limit: Option<Duration>,
    /// The in-process servers, by the name in entries of type `sdk`.
    in_process: Arc<HashMap<String, Arc<dyn Handler>>>,
    /// The organization that provides connectors.
    organization: Option<Organization>,
    /// The OAuth accounts of the user.
    accounts: Accounts,
    /// The credentials of the principal of a gateway that connections are opened for, if it has its own.
    principal: Option<PrincipalCredentials>,
    /// The network settings (proxies and certificates); shared, so that they are loaded once, for the first
    /// remote server.
    network: Network,
    /// The daemon that runs local servers, if it is used.
    pub daemon: Option<DaemonLink>,
    /// The copy of a server in the daemon that has to be replaced by another one.
    pub replaced_copy: Option<u64>,
    /// The lists of the server that are known from before, if this process has some.
    pub known_surface: Option<Arc<Surface>>,
    /// The server that this process runs for others, if it is a daemon.
    pub hosted: Option<Arc<HostedServer>>,
}

impl Dialer {
    /// A dialer with the default timeouts, or that of `MCP_TIMEOUT`.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        let set_limit = env.positive_number("MCP_TIMEOUT").map(Duration::from_millis);
        let network = Network::new(NetworkSettings::from_lookup(|name| env.get(name).map(str::to_owned)));
        Self {
            env: env.clone(),
            limit: set_limit.unwrap_or(CONNECT_TIME),
            download_limit: set_limit.is_none().then_some(DOWNLOAD_TIME),
            in_process: Arc::default(),
            organization: None,
            accounts: sign_in::open_accounts(env, paths, &network),
            principal: None,
            paths: Arc::new(paths.clone()),
            network,
            daemon: None,
            replaced_copy: None,
            known_surface: None,
            hosted: None,
        }
    }

    /// The maximum size of a message from a server, in bytes.
    #[must_use]
    pub fn message_limit(&self) -> usize {
        let set = self
            .env
            .positive_number("MCPARLEY_MAX_MESSAGE_BYTES")
            .and_then(|bytes| usize::try_from(bytes).ok());
        set.map_or(MESSAGE_BYTES, |bytes| bytes.clamp(MESSAGE_BYTES_LEAST, MESSAGE_BYTES_MOST))
    }

    /// The network settings: proxies and certificates.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether `url` is reached through a proxy.
    #[must_use]
    pub fn is_proxied(&self, url: &Url) -> bool {
        self.network.is_proxied(url)
    }
}

impl std::fmt::Debug for Dialer {
    /// Omits the environment, which may hold the user's secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The context of connection attempts: all that is needed besides the server's entry. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ConnectContext {
    /// Dials the servers.
    pub dialer: Dialer,
    /// Answers their requests.
    pub services: ClientServices,
    /// Caches facts about them.
    pub caches: Caches,
    /// The server that this context is for, once it is known.
    server: Option<ServerName>,
}

impl ConnectContext {
    /// A context for the user of these paths, with default timeouts and without handlers.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        let dialer = Dialer::new(env, paths);
        let caches = Caches::new(env, &dialer.paths);
        Self { services: ClientServices::new(paths), dialer, caches, server: None }
    }

    /// This context with another environment. Accounts and caches stay.
    #[must_use]
    pub fn with_env(&self, env: &Env) -> Self {
        let new = Self::new(env, &self.dialer.paths);
        let Dialer { in_process: inside, organization, accounts, principal, daemon, hosted, .. } =
            self.dialer.clone();
        let Caches { eras, trust, needs_auth, .. } = self.caches.clone();
        let owner = principal.as_ref().map(|principal| principal.owner);
        let catalog =
            Arc::new(CatalogCache::new(Arc::clone(&new.dialer.paths), env.clone()).with_owner(owner));
        Self {
            dialer: Dialer {
                in_process: inside,
                organization,
                accounts,
                principal,
                daemon,
                hosted,
                ..new.dialer
            },
            caches: Caches { catalog, eras, trust, needs_auth },
            services: self.services.clone(),
            server: None,
        }
    }

    /// This context with these in-process servers.
    #[must_use]
    pub fn with_in_process_servers(
        mut self,
        servers: impl IntoIterator<Item = (String, Arc<dyn Handler>)>,
    ) -> Self {
        self.dialer.in_process = Arc::new(servers.into_iter().collect());
        self
    }

    /// This context with one more in-process server, which replaces an earlier one of the same name.
    #[must_use]
    pub fn with_in_process_server(mut self, name: &str, server: Arc<dyn Handler>) -> Self {
        Arc::make_mut(&mut self.dialer.in_process).insert(name.to_owned(), server);
        self
    }

    /// This context with the connectors of this organization.
    #[must_use]
    pub fn with_organization(mut self, organization: Option<Organization>) -> Self {
        self.dialer.organization = organization;
        self
    }

    /// This context for the server of this name.
    #[must_use]
    pub fn for_server(&self, name: &ServerName) -> Self {
        Self { server: Some(name.clone()), ..self.clone() }
    }

    /// This context with a policy for tools that have changed.
    #[must_use]
    pub fn with_pin(self, pin: ToolPin) -> Self {
        self.caches.trust.set_pin(pin);
        self
    }

    /// This context with a separate channel for log messages, which listeners of the original do not hear.
    #[must_use]
    pub fn with_separate_logs(mut self) -> Self {
        self.services.messages = self.services.messages.with_separate_listeners();
        self
    }

    /// The name of the server that this context is for.
    pub(crate) fn server_name(&self) -> Option<&str> {
        self.server.as_ref().map(ServerName::as_str)
    }

    /// The log level of the server that this context is for.
    pub(crate) fn log_level(&self) -> Option<ServerLogLevel> {
        self.server.clone().map(|server| self.services.messages.follow_level(server))
    }

    /// The root folders of the server of this entry.
    #[must_use]
    pub fn root_folders(&self, config: &ServerConfig) -> Vec<PathBuf> {
        let roots = self.services.server_roots(config, &self.dialer.paths);
        roots.current_roots().iter().filter_map(Root::folder).collect()
    }

    /// The client capabilities offered to the server of this entry.
    pub(crate) fn client_capabilities(&self, config: &ServerConfig) -> Value {
        self.services.capabilities_for(config)
    }

    /// Connects to a server and performs the handshake, within `limit`.
    ///
    /// # Errors
    /// A [`ConnectError`]; [`Failure::Refused`] if the entry names an in-process server or connector that
    /// does not exist.
    pub async fn connect(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        limit: Duration,
    ) -> Result<EstablishedConnection<ServerLink>, ConnectError> {
        self.connect_traced(config, handler, limit, &mut ConnectTrace::default()).await
    }

    /// Connects like [`connect`](Self::connect) and records the stages of the attempt in `trace`.
    pub async fn connect_traced(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        limit: Duration,
        trace: &mut ConnectTrace,
    ) -> Result<EstablishedConnection<ServerLink>, ConnectError> {
        let (target, network) = (self.dial_target(config)?, self.dialer.network.clone());
        let attach = self.attach_request(config, &target);
        let mut server = ServerDial { target, network, handler, attach, stderr: None, trace };
        let fixed = server.target.fixed_era(config);
        let era = fixed.unwrap_or_else(|| self.caches.eras.era_for(config));
        let until = Instant::now() + limit;
        let introduction = self.client_introduction(config);
        let mut connected = handshake::connect(&mut server, era, &introduction, limit).await;
        if let Err(failure) = &connected
            && fixed.is_none()
            && self.caches.eras.may_have_changed(config, era, failure)
        {
            // The cached era is out of date: the server was replaced by one of the other era.
            let left = until.saturating_duration_since(Instant::now());
            connected = handshake::connect(&mut server, Era::Auto, &introduction, left).await;
        }
        self.caches
            .eras
            .record_era(config, connected.as_ref().ok().map(|connected| connected.session.protocol()));
        if let (Ok(connected), TransportConfig::SseIde(_) | TransportConfig::WsIde(_)) =
            (&connected, &config.transport)
        {
            introduce_to_editor(connected.session.peer()).await;
        }
        connected.map_err(|failure| {
            let (redactor, tail) = (Redactor::from_config(config), server.stderr_tail());
            let stderr = Untrusted::new(redactor.redact(tail.raw()));
            ConnectError::new(redactor.redact_failure(failure), stderr)
        })
    }

    /// The client name, version and capabilities for the handshake.
    fn client_introduction(&self, config: &ServerConfig) -> Introduction {
        Introduction {
            info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
            capabilities: self.client_capabilities(config),
        }
    }

    /// The target to dial for an entry, by its transport.
    fn dial_target(&self, config: &ServerConfig) -> Result<DialTarget, ConnectError> {
        match (&config.transport, &self.dialer.hosted) {
            (TransportConfig::Stdio(_), Some(hosted)) => Ok(DialTarget::Program(hosted.launch.clone())),
            (TransportConfig::Stdio(stdio), None) => Ok(DialTarget::Program(build_launch_with_ancestry(
                config,
                stdio,
                &self.dialer.env,
                &self.dialer.paths,
            ))),
            (remote, _) => self.remote_target(config, remote),
        }
    }

    /// The target to dial for an entry of another kind than a program.
    fn remote_target(
        &self,
        config: &ServerConfig,
        transport: &TransportConfig,
    ) -> Result<DialTarget, ConnectError> {
        match transport {
            TransportConfig::Stdio(_) => Err(ConnectError::from_reason("it is a program")),
            TransportConfig::Http(remote) => Ok(DialTarget::Http(self.http_target(config, remote))),
            TransportConfig::Sse(remote) => Ok(DialTarget::Legacy(self.http_target(config, remote))),
            TransportConfig::Ws(remote) => Ok(DialTarget::WebSocket(self.http_target(config, remote))),
            TransportConfig::Sdk { name } => match self.dialer.in_process.get(name) {
                Some(server) => Ok(DialTarget::InProcess(Arc::clone(server))),
                None => {
                    Err(ConnectError::from_reason(&format!("no in-process server `{name}` is registered")))
                }
            },
            TransportConfig::ClaudeAiProxy { url, id: _ } => self.connector_target(url).map(DialTarget::Http),
            TransportConfig::SseIde(ide) => editor_target(ide).map(DialTarget::Legacy),
            TransportConfig::WsIde(ide) => editor_target(ide).map(DialTarget::WebSocket),
        }
    }

    /// The HTTP target of a remote entry, with its credentials.
    fn http_target(&self, config: &ServerConfig, remote: &RemoteConfig) -> HttpTarget {
        let authorizer = self.authorizer(config, remote);
        HttpTarget { authorizer, ..HttpTarget::new(remote.url.expose().clone(), remote.headers.clone()) }
    }

    /// The HTTP target of a connector, with the organization's token.
    fn connector_target(&self, url: &Url) -> Result<HttpTarget, ConnectError> {
        match &self.dialer.organization {
            Some(organization) => organization
                .connector_target(url)
                .map_err(|error| ConnectError::from_reason(&error.to_string())),
            None => Err(ConnectError::from_reason("no organization with connectors is configured")),
        }
    }
}

/// The HTTP target of an editor. It needs the token of the editor's lock file; without it the editor refuses.
fn editor_target(ide: &IdeConfig) -> Result<HttpTarget, ConnectError> {
    let IdeConfig { url, name: _, auth_token } = ide;
    let token = auth_token.clone().ok_or_else(|| ConnectError::from_reason("its `authToken` is missing"))?;
    Ok(HttpTarget::new(url.clone(), vec![(IDE_TOKEN.to_owned(), token)]))
}

/// Sends our process id to an editor, so that it knows in which of its terminals we run.
async fn introduce_to_editor(editor: &Peer) {
    let params = RawJson::from_value(&json!({ "pid": std::process::id() })).ok();
    let telling = editor.notify("ide_connected", params.as_ref());
    // An editor that does not listen, or is gone, is noticed by the next request.
    let _missed = tokio::time::timeout(INTRODUCING, telling).await;
}

/// A server to dial, possibly more than once during one handshake.
struct ServerDial<'t> {
    target: DialTarget,
    network: Network,
    handler: Arc<dyn Handler>,
    /// The daemon to ask for the server first.
    attach: Option<(DaemonLink, AttachRequest)>,
    /// Standard error of the process started last.
    stderr: Option<Stderr>,
    trace: &'t mut ConnectTrace,
}

/// The kinds of targets to dial.
enum DialTarget {
    Program(ProgramLaunch),
    Http(HttpTarget),
    /// A URL with the HTTP+SSE transport of 2024-11-05.
    Legacy(HttpTarget),
    /// A WebSocket URL.
    WebSocket(HttpTarget),
    InProcess(Arc<dyn Handler>),
}

impl DialTarget {
    /// The era of a transport that is not probed.
    fn fixed_era(&self, config: &ServerConfig) -> Option<Era> {
        match (self, config.era) {
            // The HTTP+SSE transport exists only in the old era.
            (Self::Legacy(_), _) => Some(Era::Old),
            // A server of the new era behind a WebSocket is configured as such.
            (Self::WebSocket(_), Era::New) => Some(Era::New),
            (Self::WebSocket(_), Era::Old | Era::Auto) => Some(Era::Old),
            (Self::Program(_) | Self::Http(_) | Self::InProcess(_), _) => None,
        }
    }
}

impl ServerDial<'_> {
    /// The end of the server's standard error.
    fn stderr_tail(&self) -> Untrusted {
        self.stderr.as_ref().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    /// Opens the transport to the target.
    async fn open_transport(&mut self) -> Result<ServerLink, Failure> {
        if let Some(server) = self.attach_to_daemon().await {
            return Ok(ServerLink::Attached(server));
        }
        let handler = Arc::clone(&self.handler);
        match &self.target {
            DialTarget::Program(launch) => {
                let server = StdioTransport::open(launch, handler).await?;
                self.stderr = Some(server.stderr());
                self.trace.strays = Some(server.stray_record());
                self.trace.process.set_process(server.pid(), server.stderr());
                Ok(ServerLink::Local(server))
            }
            DialTarget::Http(target) => {
                HttpTransport::open(target, &self.network, handler).map(ServerLink::Remote)
            }
            DialTarget::Legacy(target) => {
                SseTransport::open(target, &self.network, handler).await.map(ServerLink::Legacy)
            }
            DialTarget::WebSocket(target) => {
                WsTransport::open(target, &self.network, handler).await.map(ServerLink::WebSocket)
            }
            DialTarget::InProcess(server) => {
                Ok(ServerLink::InProcess(memory::link_handlers(handler, Arc::clone(server))))
            }
        }
    }
}

impl ServerConnector for ServerDial<'_> {
    type Link = ServerLink;

    fn open(&mut self) -> BoxedFuture<'_, Result<ServerLink, Failure>> {
        Box::pin(self.open_transport())
    }

    fn open_legacy(&mut self) -> BoxedFuture<'_, Result<Option<ServerLink>, Failure>> {
        Box::pin(async {
            let DialTarget::Http(target) = &self.target else { return Ok(None) };
            let found = SseTransport::probe(target, &self.network, Arc::clone(&self.handler)).await?;
            Ok(found.map(ServerLink::Legacy))
        })
    }

    fn on_step(&mut self, step: HandshakeStep) {
        self.trace.begin_stage(step.into());
    }
}
