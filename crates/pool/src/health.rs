//! Health checks of the servers of a plan: connect, fetch the lists, disconnect.
//!
//! One server's failure or slowness does not affect the others: each has its own timeout, several are checked
//! concurrently, and every result is reported at once.

mod reachability;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_config::plan::{PlanStatus, PlannedServer};
use mcparley_model::config::ServerConfig;
use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;
use mcparley_model::text::Untrusted;
use mcparley_wire::{AgreedProtocol, Failure};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::connect::{ConnectContext, ConnectStage, ConnectTrace, ReachedServer, StageTiming};
use crate::connect_error::ConnectError;
use crate::connection::Notifications;
use crate::log::{LogFile, ServerLog};
use crate::server_requests::ServerRequests;
use crate::start_gate::{StartGate, StartPlace};
use crate::started_process::DownloadWatcher;
use crate::surface::Surface;
use mcparley_config::Paths;

/// Checks the health of servers.
#[derive(Clone, Debug)]
pub struct HealthCheck {
    /// The context for connecting to the servers.
    pub context: ConnectContext,
    /// Limits the number of servers that start at once.
    pub gate: StartGate,
    /// The depth of the check.
    pub depth: CheckDepth,
}

/// The depth of a health check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// Only connect and fetch the lists.
    Quick,
    /// Also test the stages before, such as name resolution, one by one.
    Thorough,
}

/// The capacity of the event channel. Backpressure: a check waits while it is full.
const EVENTS: usize = 16;

/// An event during health checks.
#[derive(Clone, Debug)]
pub enum CheckEvent {
    /// A package runner has started downloading a server, or has ended.
    Downloading {
        /// The server.
        server: ServerName,
        /// The runner, such as `npx`.
        runner: Option<Arc<str>>,
    },
    /// The check of a server is complete.
    Completed(Box<CheckedServer>),
}

/// The health check result of one server.
#[derive(Clone, Debug)]
pub struct CheckedServer {
    /// The server.
    pub name: ServerName,
    /// The health.
    pub health: ServerHealth,
    /// The duration of the check.
    pub took: Duration,
    /// The stages of the attempt, including the disconnect.
    pub stages: Vec<StageTiming>,
    /// Lines on standard output that are not MCP messages.
    pub stray: Option<StrayOutput>,
    /// Whether the server needs a sign-in, or one with more scopes.
    pub wants_sign_in: bool,
    /// Whether the server describes its sign-in (OAuth metadata). A server that needs a sign-in and does not
    /// describe it may expect a token from its operator in a header.
    pub describes_sign_in: bool,
}

impl CheckedServer {
    /// Whether the server is usable: connected, and at least one list fetched.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        match &self.health {
            ServerHealth::Connected { surface, .. } => surface.total_failure().is_none(),
            ServerHealth::Failed { .. } => false,
        }
    }
}

/// Lines on a server's standard output that are not MCP messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrayOutput {
    /// The number of lines.
    pub lines: u64,
    /// The beginning of the first line.
    pub first: Untrusted,
}

/// The health of a server.
#[derive(Clone, Debug)]
pub enum ServerHealth {
    /// The server answers.
    Connected {
        /// The negotiated protocol version.
        protocol: AgreedProtocol,
        /// The surface: tools, prompts and resources.
        surface: Box<Surface>,
    },
    /// The connection attempt failed.
    Failed {
        /// The cause.
        failure: Failure,
        /// The end of the server's standard error.
        stderr: Untrusted,
    },
}

impl HealthCheck {
    /// A health check with the default limits, or those of the environment.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        Self::with_context(ConnectContext::new(env, paths))
    }

    /// A health check with an existing context.
    #[must_use]
    pub fn with_context(context: ConnectContext) -> Self {
        let gate = StartGate::from_env(&context.dialer.env);
        Self { context, gate, depth: CheckDepth::Quick }
    }

    /// Checks every enabled server; `settled` gets each result as soon as it is known.
    pub async fn check_servers(&self, servers: &[&PlannedServer], mut settled: impl FnMut(CheckedServer)) {
        let hear = |event| match event {
            CheckEvent::Completed(checked) => settled(*checked),
            CheckEvent::Downloading { .. } => {}
        };
        self.check_with_events(servers, hear).await;
    }

    /// Checks every enabled server; `hear` gets the results, and events while package runners download
    /// servers.
    pub async fn check_with_events(&self, servers: &[&PlannedServer], mut hear: impl FnMut(CheckEvent)) {
        let mut looking = JoinSet::new();
        let (tell, mut events) = mpsc::channel(EVENTS);
        for server in servers.iter().filter(|server| server.status == PlanStatus::Ready) {
            looking.spawn(self.clone().check_server((*server).clone(), tell.clone()));
        }
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => hear(event),
                looked = looking.join_next() => match looked {
                    Some(Ok(Some(checked))) => hear(CheckEvent::Completed(Box::new(checked))),
                    // A check that panicked has no result; the others go on.
                    Some(Ok(None) | Err(_)) => {}
                    None => return,
                }
            }
        }
    }

    /// Checks one server.
    async fn check_server(
        mut self,
        server: PlannedServer,
        tell: mpsc::Sender<CheckEvent>,
    ) -> Option<CheckedServer> {
        let config = server.config?;
        self.context = self.context.for_server(&server.name);
        let place = self.gate.acquire_place(config.kind()).await;
        let log =
            Arc::new(ServerLog::new(&config, LogFile::for_server(&self.context.dialer.paths, &server.name)));
        let mut trace = ConnectTrace::default();
        let downloader = trace.process().follow_downloader();
        let (health, took) = tokio::select! {
            biased;
            visited = self.probe_server(&config, &log, place, &mut trace) => visited,
            never = send_download_events(&server.name, downloader, &tell) => match never {},
        };
        trace.end_stage();
        let stray =
            trace.stray_output().filter(|strays| strays.counts().noise > 0).map(|strays| StrayOutput {
                lines: strays.counts().noise,
                first: log.redact_text(strays.first_line().unwrap_or_default().raw()),
            });
        let wants_sign_in = match &health {
            ServerHealth::Failed { failure, .. } => self.context.needs_sign_in(&config, failure),
            ServerHealth::Connected { .. } => false,
        };
        let describes_sign_in = wants_sign_in && self.describes_sign_in(&config).await;
        let (name, passed) = (server.name, trace.stages());
        Some(CheckedServer { name, health, took, stages: passed, stray, wants_sign_in, describes_sign_in })
    }

    /// Whether the server describes its sign-in.
    async fn describes_sign_in(&self, config: &ServerConfig) -> bool {
        match self.context.account(config) {
            Some(account) => account.describes_sign_in().await,
            // Connectors use the sign-in of their organization.
            None => true,
        }
    }

    /// Connects to a server, fetches its lists, and disconnects.
    async fn probe_server(
        &self,
        config: &ServerConfig,
        log: &Arc<ServerLog>,
        mut place: StartPlace,
        trace: &mut ConnectTrace,
    ) -> (ServerHealth, Duration) {
        let services = &self.context.services;
        let roots = services.server_roots(config, &self.context.dialer.paths);
        // A health check never asks the user, so the server needs no name here.
        let server_requests = ServerRequests::new(ServerName::new(""), services, roots, Arc::clone(log));
        let notifications = Notifications::for_short_connection(server_requests, Arc::clone(log))
            .with_message_limit(self.context.dialer.message_limit());
        let notifications = Arc::new(notifications);
        let start = Instant::now();
        if self.depth == CheckDepth::Thorough {
            reachability::probe_stages(&self.context, config, trace).await;
        }
        let process = trace.process();
        let reaching = self.context.reach_server(config, notifications, log, trace);
        let reached = place.while_reaching(&process, reaching).await;
        let took = start.elapsed();
        // The next server may start while this one shuts down.
        drop(place);
        let ReachedServer { connected, surface } = match reached {
            Ok(arrival) => arrival,
            Err(error) => return (to_failed_health(log, error), took),
        };
        let protocol = connected.session.protocol();
        log.add_changed_tools(&self.context.cache_surface(config, &connected.session, &surface).await);
        log.close();
        trace.begin_stage(ConnectStage::Close);
        connected.link.stop().await;
        (ServerHealth::Connected { protocol, surface: Box::new(surface) }, took)
    }
}

/// Sends an event whenever a package runner starts or ends downloading the server.
async fn send_download_events(
    server: &ServerName,
    mut downloader: DownloadWatcher,
    tell: &mpsc::Sender<CheckEvent>,
) -> Infallible {
    loop {
        let runner = downloader.next().await;
        // A closed channel means that the caller has stopped listening.
        let _unheard = tell.send(CheckEvent::Downloading { server: server.clone(), runner }).await;
    }
}

/// Logs a connection failure and converts it to a health result.
fn to_failed_health(log: &ServerLog, error: ConnectError) -> ServerHealth {
    log.add_connect_failure(&error);
    let ConnectError { failure, stderr, ago: _ } = error;
    ServerHealth::Failed { failure, stderr }
}
