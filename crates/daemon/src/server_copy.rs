//! One running server of the daemon: its process, its clients, its end.
//!
//! A copy is a host with one server, without rules, hooks, limits or restarts: those belong to the clients. It
//! ends when its process ends, when no client has used it for a while, or when it is told to. Its clients
//! notice the end and attach again, which starts another copy.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mcparley::catalog::Budget;
use mcparley::config::{ServerEntry, StartPolicy, load_config};
use mcparley::model::expand::Env;
use mcparley::model::name::ServerName;
use mcparley::model::permission::PermissionMode;
use mcparley::pool::attach::protocol::AttachRequest;
use mcparley::pool::client_offer::ClientOffer;
use mcparley::pool::connection::{CALLS_GRACE, LiveConnection, ServerStatus};
use mcparley::pool::hosted_server::HostedServer;
use mcparley::pool::pool::Pool;
use mcparley::pool::surface::Surface;
use mcparley::{Host, HostBuilder, Paths, RunOptions};
use mcparley_gateway::{Gateway, GatewayMode};
use mcparley_model::limits::{DAEMON_IDLE_TIME, DAEMON_SESSION_IDLE_TIME};
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::transport::attached::EndedServer;
use mcparley_wire::{AgreedProtocol, Failure};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::share_facts::ShareFacts;
use crate::status::CopyStatus;

/// The name of the only server of a copy's host.
const SERVER: &str = "server";

/// The connect timeout of a copy. The timeouts of the clients are shorter: a client that gives up leaves, and
/// a start without clients is canceled.
const CONNECT_LIMIT_MS: &str = "3600000";

/// One running server. Dropping the last handle ends it.
#[derive(Debug)]
pub(crate) struct ServerCopy {
    pub(crate) number: u64,
    pub(crate) hosted: Arc<HostedServer>,
    pub(crate) gateway: Gateway,
    /// The client that the server was started for.
    pub(crate) creator: Arc<ShareFacts>,
    host: Host,
    server: String,
    signature: String,
    reasons: Vec<String>,
    idle_time: Duration,
    /// Whether no client of another session may use the copy, and its own one does not come back.
    ends_with_session: AtomicBool,
    phase: watch::Sender<CopyPhase>,
    ready_at: OnceLock<Instant>,
    /// The lists of which a digest was made last.
    last_digest: Mutex<Option<(Arc<Surface>, Option<String>)>>,
    clients: Mutex<Vec<CopyClient>>,
    /// The number of clients, and the time of its last change.
    client_count: watch::Sender<(usize, Instant)>,
    /// Becomes true when the copy is retired.
    ending: watch::Sender<bool>,
    /// Counts the changes of the copy's key.
    key_changes: watch::Sender<u64>,
}

/// The phase of a copy.
#[derive(Clone, Debug)]
pub(crate) enum CopyPhase {
    /// The server is starting.
    Starting,
    /// The server answers.
    Ready(Arc<LiveConnection>),
    /// The server could not be started.
    Failed(Arc<str>),
    /// The server has ended.
    Ended(EndedServer),
}

/// A client that uses a copy.
#[derive(Debug)]
struct CopyClient {
    id: u64,
    pid: u32,
    project: Arc<Path>,
    /// Whether the client can write the log of its project.
    can_log: bool,
    /// Whether it does.
    logs: watch::Sender<bool>,
}

/// The use of a copy by one client, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct CopyUse {
    copy: Arc<ServerCopy>,
    id: u64,
    /// Whether this client writes the server's standard error to the log of its project. Becomes true when the client
    /// that did so has left.
    pub(crate) logs: watch::Receiver<bool>,
}

/// The values a copy is started with.
pub(crate) struct CopySetup<'s> {
    pub(crate) number: u64,
    pub(crate) request: AttachRequest,
    pub(crate) launch: ProgramLaunch,
    pub(crate) creator: Arc<ShareFacts>,
    /// The capabilities that the server is offered.
    pub(crate) offer: ClientOffer,
    /// Whether no client of another session may use the copy, and its own one does not come back.
    pub(crate) ends_with_session: bool,
    pub(crate) reasons: Vec<String>,
    pub(crate) pool: Pool,
    /// An empty folder of the daemon's own.
    pub(crate) folder: &'s Path,
}

impl ServerCopy {
    /// Starts the host of a copy; the server itself starts with [`ServerCopy::run_until_stopped`].
    pub(crate) fn new(setup: CopySetup<'_>) -> Arc<Self> {
        let CopySetup { number, request, launch, creator, offer, ends_with_session, reasons, pool, folder } =
            setup;
        let AttachRequest { server, signature, era, message_limit, idle_ms, roots, .. } = request;
        let hosted = Arc::new(HostedServer::new(launch));
        let paths = Paths { managed: folder.join("none"), ..Paths::new(folder, folder) };
        let limits = [
            ("MCP_TIMEOUT".to_owned(), CONNECT_LIMIT_MS.to_owned()),
            ("MCPARLEY_MAX_MESSAGE_BYTES".to_owned(), message_limit.to_string()),
        ];
        let run_options = RunOptions {
            strict: true,
            setting_sources: Some(Vec::new()),
            mode: Some(PermissionMode::BypassPermissions),
            settings: vec![r#"{"toolPin":"off"}"#.to_owned()],
            env: limits.into_iter().collect::<Env>(),
            ..RunOptions::default()
        };
        // The program of the entry is never started: the launch of the client is.
        let entry = ServerEntry::stdio("hosted").field("era", era);
        let run_options = run_options.with_server(SERVER, entry);
        let builder = HostBuilder::new(&paths, load_config(&paths, &run_options));
        let builder = Gateway::prepare_host(builder.without_built_in_server().without_result_limit())
            .client_offer(offer)
            .start_with(StartPolicy::OnDemand)
            .without_session_hooks()
            .pool(&pool)
            .hosted_server(Arc::clone(&hosted));
        let host = builder.start();
        // Some servers ask for roots before any request of a client.
        host.set_client_roots(roots);
        let mode = GatewayMode::shared(ServerName::new(SERVER));
        let gateway = Gateway::new(host.clone(), Budget::without_limit()).with_mode(mode);
        Arc::new(Self {
            number,
            hosted,
            gateway,
            creator,
            host,
            server,
            signature,
            reasons,
            idle_time: idle_ms.map_or(DAEMON_IDLE_TIME, Duration::from_millis).min(DAEMON_IDLE_TIME),
            ends_with_session: AtomicBool::new(ends_with_session),
            phase: watch::Sender::new(CopyPhase::Starting),
            ready_at: OnceLock::new(),
            last_digest: Mutex::default(),
            clients: Mutex::default(),
            client_count: watch::Sender::new((0, Instant::now())),
            ending: watch::Sender::new(false),
            key_changes: watch::Sender::new(0),
        })
    }

    /// Starts the server and runs it until it ends, is idle, or `stop` resolves. Every client of the copy has
    /// seen the end when this returns.
    pub(crate) async fn run_until_stopped(&self, stop: impl Future<Output = ()>) {
        let stop = async {
            tokio::select! {
                () = stop => {}
                () = self.wait_until_left() => {}
            }
        };
        tokio::pin!(stop);
        let name = ServerName::new(SERVER);
        let phase = tokio::select! {
            connected = self.host.connect_server(&name) => match (connected, self.live_connection()) {
                (Ok(()), Some(live)) => CopyPhase::Ready(live),
                (Ok(()), None) => CopyPhase::Failed("the server ended at once".into()),
                (Err(error), _) => CopyPhase::Failed(error.to_string().into()),
            },
            () = self.wait_until_unused(|| Duration::ZERO) => CopyPhase::Failed("no client waits for it".into()),
            () = &mut stop => CopyPhase::Failed("it was stopped".into()),
        };
        if matches!(phase, CopyPhase::Ready(_)) {
            let _first = self.ready_at.set(Instant::now());
        }
        self.phase.send_replace(phase.clone());
        let ended = match phase {
            CopyPhase::Ready(live) => tokio::select! {
                failure = live.session.peer().wait_until_ended() => exit_of(&failure),
                () = self.wait_until_unused(|| self.current_idle_time()) => EndedServer::default(),
                () = stop => EndedServer::default(),
            },
            CopyPhase::Starting | CopyPhase::Failed(_) | CopyPhase::Ended(_) => EndedServer::default(),
        };
        self.phase.send_if_modified(|phase| {
            let was_ready = matches!(phase, CopyPhase::Ready(_));
            if was_ready {
                *phase = CopyPhase::Ended(ended);
            }
            was_ready
        });
    }

    /// Retires the copy: its clients leave when they have no open request and get another one, and it ends
    /// after the last of them, or after a grace period.
    pub(crate) fn retire(&self) {
        self.ending.send_replace(true);
        self.note_new_key();
    }

    /// Waits until the copy is retired and its clients have left, or had the time to.
    async fn wait_until_left(&self) {
        let mut ending = self.ending.subscribe();
        // The sender lives as long as this copy.
        drop(ending.wait_for(|is_ending| *is_ending).await);
        let _late = tokio::time::timeout(CALLS_GRACE, self.wait_until_unused(|| Duration::ZERO)).await;
    }

    /// Whether the copy takes new clients.
    pub(crate) fn takes_clients(&self) -> bool {
        !self.is_retired() && !self.is_over()
    }

    /// Whether the copy was retired.
    pub(crate) fn is_retired(&self) -> bool {
        *self.ending.borrow()
    }

    /// Tells the clients that the copy has another key.
    pub(crate) fn note_new_key(&self) {
        self.key_changes.send_modify(|count| *count += 1);
    }

    /// Sets whether no client of another session may use the copy, and its own one does not come back.
    pub(crate) fn set_ends_with_session(&self, ends_with_session: bool) {
        self.ends_with_session.store(ends_with_session, Ordering::Relaxed);
    }

    /// Follows changes of the key.
    pub(crate) fn follow_key(&self) -> watch::Receiver<u64> {
        self.key_changes.subscribe()
    }

    /// Waits until the server answers, or has failed.
    pub(crate) async fn wait_until_ready(&self) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as this copy.
        drop(phase.wait_for(|phase| !matches!(phase, CopyPhase::Starting)).await);
    }

    /// Waits until the server has ended, and returns its exit status.
    pub(crate) async fn wait_until_ended(&self) -> EndedServer {
        let mut phase = self.phase.subscribe();
        loop {
            match &*phase.borrow_and_update() {
                CopyPhase::Starting | CopyPhase::Ready(_) => {}
                CopyPhase::Failed(_) => return EndedServer::default(),
                CopyPhase::Ended(ended) => return *ended,
            }
            // The sender lives as long as this copy.
            let _changed = phase.changed().await;
        }
    }

    /// Waits until the server has answered for this time, or has shown that it reads roots, or has failed.
    pub(crate) async fn wait_until_proven(&self, probation: Duration) {
        self.wait_until_ready().await;
        tokio::time::sleep_until(self.ready_at() + probation).await;
    }

    /// The time at which the server was ready; now if it is not.
    fn ready_at(&self) -> Instant {
        self.ready_at.get().copied().unwrap_or_else(Instant::now)
    }

    /// A digest of the lists of the server, once it answers.
    pub(crate) fn lists_digest(&self) -> Option<u64> {
        let surface = self.live_connection().and(self.host.servers().into_iter().next())?.state.surface;
        let mut hasher = DefaultHasher::new();
        surface.tools.iter().for_each(|tool| tool.definition_text().hash(&mut hasher));
        for list in [&surface.prompts, &surface.resources, &surface.templates] {
            list.iter().for_each(|item| item.as_str().hash(&mut hasher));
        }
        Some(hasher.finish())
    }

    /// The digest by which clients find out whether they have the lists of the server, once it answers.
    pub(crate) fn surface_digest(&self) -> Option<String> {
        let surface = self.live_connection().and(self.host.servers().into_iter().next())?.state.surface;
        let mut last = self.last_digest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, digest)) if Arc::ptr_eq(known, &surface) => digest.clone(),
            _ => {
                let digest = surface.lists_digest();
                *last = Some((surface, digest.clone()));
                digest
            }
        }
    }

    /// Ends the process of the server.
    pub(crate) async fn shut_down(&self) {
        self.host.shut_down().await;
    }

    /// Follows the phase.
    pub(crate) fn follow_phase(&self) -> watch::Receiver<CopyPhase> {
        self.phase.subscribe()
    }

    /// Whether the server has ended.
    pub(crate) fn is_over(&self) -> bool {
        match &*self.phase.borrow() {
            CopyPhase::Starting => false,
            CopyPhase::Ready(live) => live.session.peer().is_ended(),
            CopyPhase::Failed(_) | CopyPhase::Ended(_) => true,
        }
    }

    /// The protocol of the server, once it answers.
    pub(crate) fn protocol(&self) -> Option<AgreedProtocol> {
        match &*self.phase.borrow() {
            CopyPhase::Ready(live) => Some(live.session.protocol()),
            CopyPhase::Starting | CopyPhase::Failed(_) | CopyPhase::Ended(_) => None,
        }
    }

    /// Adds a client. Of the clients of one project the first writes the log.
    pub(crate) fn add_client(self: &Arc<Self>, id: u64, pid: u32, project: &Path) -> CopyUse {
        let mut clients = self.lock_clients();
        let has_log = clients.iter().any(|client| *client.logs.borrow() && *client.project == *project);
        let (sender, logs) = watch::channel(!has_log);
        clients.push(CopyClient { id, pid, project: Arc::from(project), can_log: true, logs: sender });
        self.client_count.send_replace((clients.len(), Instant::now()));
        CopyUse { copy: Arc::clone(self), id, logs }
    }

    /// The failed start of the server, for the log; `None` if it was ready once, or if it was not wanted any more.
    pub(crate) fn failed_start(&self) -> Option<String> {
        let has_failed = self.client_count.borrow().0 > 0;
        match &*self.phase.borrow() {
            CopyPhase::Failed(reason) if has_failed => {
                Some(format!("`{}` could not be started: {reason}", self.server))
            }
            CopyPhase::Starting | CopyPhase::Ready(_) | CopyPhase::Failed(_) | CopyPhase::Ended(_) => None,
        }
    }

    /// The state for the command line.
    pub(crate) fn to_status(&self) -> CopyStatus {
        let clients = self.lock_clients();
        let (count, since) = *self.client_count.borrow();
        let mut projects: Vec<_> = clients.iter().map(|client| client.project.to_path_buf()).collect();
        projects.sort();
        projects.dedup();
        CopyStatus {
            copy: self.number,
            server: self.server.clone(),
            signature: self.signature.clone(),
            process: self.hosted.process.id(),
            is_ready: self.protocol().is_some(),
            clients: clients.iter().map(|client| client.pid).collect(),
            projects,
            idle_seconds: (count == 0).then(|| since.elapsed().as_secs()),
            reasons: self.reasons.clone(),
            explanation: None,
        }
    }

    /// The live connection to the server.
    fn live_connection(&self) -> Option<Arc<LiveConnection>> {
        let servers = self.host.servers();
        let state = servers.into_iter().next()?.state;
        matches!(state.status, ServerStatus::Connected { .. }).then_some(state.live)?
    }

    /// The time for which the copy waits for another client.
    fn current_idle_time(&self) -> Duration {
        match self.ends_with_session.load(Ordering::Relaxed) {
            true => self.idle_time.min(DAEMON_SESSION_IDLE_TIME),
            false => self.idle_time,
        }
    }

    /// Waits until there has been no client for this time.
    async fn wait_until_unused(&self, idle: impl Fn() -> Duration) {
        let mut counts = self.client_count.subscribe();
        let mut keys = self.follow_key();
        loop {
            let (count, since) = *counts.borrow_and_update();
            let quiet = async {
                match count {
                    0 => tokio::time::sleep_until(since + idle()).await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                () = quiet => return,
                // The senders live as long as the copy.
                _ = counts.changed() => {}
                _ = keys.changed() => {}
            }
        }
    }

    fn lock_clients(&self) -> MutexGuard<'_, Vec<CopyClient>> {
        // Every change is a single step, so a panic leaves the list consistent.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CopyUse {
    /// Leaves the log of the project to another client, now and later.
    pub(crate) fn leave_logging(&mut self) {
        let mut clients = self.copy.lock_clients();
        let Some(own) = clients.iter_mut().find(|client| client.id == self.id) else { return };
        own.can_log = false;
        let (was_logging, project) = (own.logs.send_replace(false), Arc::clone(&own.project));
        if was_logging {
            pass_log_on(&clients, &project);
        }
    }
}

impl Drop for CopyUse {
    fn drop(&mut self) {
        let mut clients = self.copy.lock_clients();
        let left = clients.iter().position(|client| client.id == self.id).map(|place| clients.remove(place));
        if let Some(CopyClient { project, .. }) = left.filter(|client| *client.logs.borrow()) {
            pass_log_on(&clients, &project);
        }
        self.copy.client_count.send_replace((clients.len(), Instant::now()));
    }
}

/// Makes the oldest client of a project that can do so write its log.
fn pass_log_on(clients: &[CopyClient], project: &Path) {
    let next = clients.iter().find(|client| client.can_log && *client.project == *project);
    if let Some(next) = next {
        next.logs.send_replace(true);
    }
}

/// The exit of the server's process, as far as its failure tells it.
fn exit_of(failure: &Failure) -> EndedServer {
    match failure {
        Failure::Closed { exit: Some(exit), .. } => EndedServer { code: exit.code, signal: exit.signal },
        _ => EndedServer::default(),
    }
}
