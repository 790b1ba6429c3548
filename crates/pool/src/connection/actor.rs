//! The actor of one connection: a loop that receives commands and events and handles each without blocking.

mod connect_task;
#[cfg(test)]
mod invariants;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::SignInWatcher;
use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{HEALTHY_AFTER, NEEDS_AUTH_TIME, RECONNECT_PATIENCE, RETRY_PAUSE};
use mcparley_wire::Failure;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{info, warn};

use super::idle::IdleTimer;
use super::lease_waiters::{LeaseWaiter, LeaseWaiters, answer_waiter};
use super::notifications::ListChanges;
use super::phase::{ActorPhase, ConnectFailure, ConnectSuccess, PhaseEvent, ReadyPhase};
use super::refresh::ListRefresh;
use super::resource_watches::ResourceWatches;
use super::state::{ServerStatus, State, StatePublisher, Unavailable};
use super::{
    CALLS_GRACE, ConnectionCommand, ConnectionSetup, Epoch, LiveConnection, LiveConnectionGates, backoff,
    listen, notify,
};
use crate::connect::ConnectContext;
use crate::connect_error::ConnectError;
use crate::jitter;
use crate::log::{LogLevelGate, ServerLog};
use crate::server_requests::ServerRequests;
use crate::start_gate::StartGate;
use crate::surface::Surface;
use crate::task::{AbortOnDropTask, JoinSet, select};

/// The actor: owner of all mutable state of one connection.
pub(super) struct ConnectionActor {
    config: Arc<ServerConfig>,
    context: ConnectContext,
    gate: StartGate,
    publisher: StatePublisher,
    log: Arc<ServerLog>,
    server_requests: Arc<ServerRequests>,
    changes: Arc<ListChanges>,
    watched: Arc<ResourceWatches>,
    phase: ActorPhase,
    epoch: Epoch,
    waiters: LeaseWaiters,
    /// The sign-ins since the last connection attempt.
    sign_ins: Option<SignInWatcher>,
    /// Connecting waits until the predecessor has ended.
    predecessor: Option<watch::Receiver<bool>>,
    /// Background tasks: retired connections that close after their last call, and cache writes.
    background: JoinSet<()>,
    /// Dropped when retired connections have to close at once.
    close_now: watch::Sender<()>,
    /// The callers that wait for the shutdown to finish.
    shutdown_waiters: Vec<oneshot::Sender<()>>,
}

impl ConnectionActor {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        log: Arc<ServerLog>,
        server_requests: Arc<ServerRequests>,
        watched: Arc<ResourceWatches>,
        setup: ConnectionSetup,
    ) -> Self {
        let ConnectionSetup { context, gate, publisher, tool_limit: _, predecessor, on, key: _ } = setup;
        Self {
            config,
            context,
            gate,
            publisher,
            log,
            server_requests,
            changes: Arc::default(),
            watched,
            phase: if on { ActorPhase::Dormant } else { ActorPhase::Off },
            epoch: Epoch::default(),
            waiters: LeaseWaiters::default(),
            sign_ins: None,
            predecessor,
            background: JoinSet::new(),
            close_now: watch::Sender::new(()),
            shutdown_waiters: Vec::new(),
        }
    }

    /// Runs until it is stopped or the last handle is dropped.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<ConnectionCommand>) {
        loop {
            let flow = select! {
                command = inbox.recv() => match command {
                    Some(command) => self.execute_command(command),
                    None => ControlFlow::Break(()),
                },
                event = self.phase.next(&self.changes, &self.config) => self.handle_event(event),
            };
            #[cfg(test)]
            self.check_invariants();
            if flow.is_break() {
                return;
            }
        }
    }

    /// Executes a command.
    fn execute_command(&mut self, command: ConnectionCommand) -> ControlFlow<()> {
        match command {
            // A connection that has to be made belongs to the trace of its first caller.
            ConnectionCommand::Lease { stale, reply, caller } => {
                caller.in_scope(|| self.answer_lease(stale, reply));
            }
            ConnectionCommand::Wake => {
                if matches!(self.phase, ActorPhase::Dormant) {
                    self.connect_at_start();
                }
            }
            ConnectionCommand::Reconnect => {
                if !matches!(self.phase, ActorPhase::Off | ActorPhase::Stopping(_)) {
                    if let ActorPhase::Ready(ready) = &self.phase {
                        // The user wants another process, also of the daemon.
                        self.context.dialer.replaced_copy = ready.link.daemon_copy();
                    }
                    self.retire_connection(Some(CALLS_GRACE));
                    self.start_attempt(0, None);
                    self.context.dialer.replaced_copy = None;
                }
            }
            ConnectionCommand::ReplaceConfig(config) => self.config = config,
            ConnectionCommand::CancelTask(id) => self.cancel_task(id),
            ConnectionCommand::SetEnabled { on } => self.set_enabled(on),
            ConnectionCommand::NeedsAuth { epoch } => {
                if matches!(&self.phase, ActorPhase::Ready(ready) if ready.live.epoch == epoch) {
                    self.retire_connection(None);
                    self.enter_needs_auth(Duration::ZERO);
                }
            }
            ConnectionCommand::Stop { grace, done } => {
                self.shutdown_waiters.push(done);
                self.begin_shutdown(grace);
            }
        }
        ControlFlow::Continue(())
    }

    /// Handles an event of the current phase.
    fn handle_event(&mut self, event: PhaseEvent) -> ControlFlow<()> {
        while self.background.try_join_next().is_some() {}
        match event {
            PhaseEvent::Opened(opened) => self.enter_ready(*opened),
            PhaseEvent::ConnectFailed(ConnectFailure { error, connect_time }) => {
                self.handle_connect_failure(error, connect_time)
            }
            PhaseEvent::AttemptPanicked => {
                self.handle_connect_failure(ConnectError::for_panic(), Duration::ZERO)
            }
            PhaseEvent::RetryDue => {
                if let ActorPhase::Waiting { attempt, error, .. } = &self.phase {
                    let (attempt, because) = (*attempt, error.to_string());
                    self.start_attempt(attempt, Some(&because));
                }
            }
            PhaseEvent::Downloading(runner) => self.publish_downloader(runner),
            PhaseEvent::Lost(failure) => self.handle_connection_loss(&failure),
            PhaseEvent::Moved => {
                self.retire_connection(None);
                self.start_attempt(0, Some("the daemon has another process for it"));
            }
            PhaseEvent::Refreshed(surface) => {
                let surface = Arc::unwrap_or_clone(surface);
                let surface = Arc::new(surface.map_failures(|failure| self.log.redact_failure(failure)));
                if let ActorPhase::Ready(ready) = &mut self.phase {
                    ready.surface = Arc::clone(&surface);
                }
                self.log.add_event("its lists have changed");
                self.cache_surface(&surface);
                self.publisher.publish_state(State { surface, ..self.publisher.current_state() });
            }
            PhaseEvent::SignedIn => {
                self.log.add_event("signed in");
                self.start_attempt(0, None);
            }
            PhaseEvent::Idle => {
                self.log.add_event("stopped: idle timeout");
                self.retire_connection(None);
                self.publisher
                    .publish_state(State { status: ServerStatus::Dormant, ..self.publisher.current_state() });
            }
            PhaseEvent::Ended => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Answers a lease: at once if possible, else the caller waits for the connection attempt.
    fn answer_lease(&mut self, stale: Epoch, reply: LeaseWaiter) {
        self.check_connection_end();
        match &self.phase {
            ActorPhase::Ready(ready) if ready.live.epoch > stale => {
                ready.live.record_use();
                answer_waiter(reply, Ok(Arc::clone(&ready.live)));
            }
            // The session expired. Calls that still run on it end by themselves.
            ActorPhase::Ready(_) => {
                self.waiters.add_waiter(reply);
                self.retire_connection(None);
                self.start_attempt(0, Some("the session expired"));
            }
            ActorPhase::Connecting { .. } => self.waiters.add_waiter(reply),
            // The first pause only spreads servers that died together, and a server that has answered calls
            // does not crash at startup. So neither makes a caller wait.
            ActorPhase::Waiting { attempt, error, served, .. } if *attempt == 1 || *served => {
                let (attempt, because) = (*attempt, error.to_string());
                self.waiters.add_waiter(reply);
                self.start_attempt(attempt, Some(&because));
            }
            ActorPhase::Waiting { until, error, .. } => {
                let again = until.saturating_duration_since(Instant::now());
                if again <= RECONNECT_PATIENCE {
                    return self.waiters.add_waiter(reply);
                }
                answer_waiter(reply, Err(Unavailable::Waiting { error: Arc::clone(error), again }));
            }
            // Rate limit: a burst of calls must not start a burst of processes.
            ActorPhase::Failed { error, since } if since.elapsed() < RETRY_PAUSE => {
                answer_waiter(reply, Err(Unavailable::Failed(Arc::clone(error))));
            }
            ActorPhase::Dormant | ActorPhase::Failed { .. } => {
                self.waiters.add_waiter(reply);
                self.start_attempt(0, None);
            }
            ActorPhase::NeedsAuth { until, sign_ins }
                if Instant::now() < *until
                    && !sign_ins.as_ref().is_some_and(SignInWatcher::has_new_sign_in) =>
            {
                answer_waiter(reply, Err(Unavailable::NeedsAuth));
            }
            ActorPhase::NeedsAuth { .. } => {
                self.waiters.add_waiter(reply);
                self.start_attempt(0, None);
            }
            ActorPhase::Off => answer_waiter(reply, Err(Unavailable::Disabled)),
            ActorPhase::Stopping(_) => answer_waiter(reply, Err(Unavailable::Stopped)),
        }
    }

    /// Connects because the host starts. A server with a cached failure stays published as failed until it
    /// answers, so that no caller waits for it.
    fn connect_at_start(&mut self) {
        match self.publisher.current_state().status {
            ServerStatus::Failed(_) => self.spawn_connect_task(0),
            _ => self.start_attempt(0, None),
        }
    }

    /// Starts a connection attempt and publishes the server as pending.
    fn start_attempt(&mut self, attempt: u32, because: Option<&str>) {
        if because.is_some() {
            info!(server = self.context.server_name(), attempt, "reconnecting");
        }
        self.spawn_connect_task(attempt);
        let because = because.map(Arc::from);
        let status = ServerStatus::Pending { attempt, because, downloader: None, retry_at: None };
        self.publisher.publish_state(State { status, live: None, ..self.publisher.current_state() });
    }

    /// Publishes the package runner that is downloading the server, or that the download has ended.
    fn publish_downloader(&self, downloader: Option<Arc<str>>) {
        let state = self.publisher.current_state();
        if let ServerStatus::Pending { attempt, because, downloader: _, retry_at } = state.status {
            let status = ServerStatus::Pending { attempt, because, downloader, retry_at };
            self.publisher.publish_state(State { status, ..state });
        }
    }

    /// Enters the ready phase: publishes the new connection and answers the waiting callers.
    fn enter_ready(&mut self, opened: ConnectSuccess) {
        let attempt = if let ActorPhase::Connecting { attempt, .. } = &self.phase { *attempt } else { 0 };
        let ConnectSuccess { link, session, surface, gate, connect_time } = opened;
        self.epoch = self.epoch.next();
        let (in_use, released) = mpsc::channel(1);
        let (protocol, server) = (session.protocol(), Arc::new(session.server_description().clone()));
        let listening = listen::start_listening(&session, &self.changes, &self.watched);
        let levels = Arc::<LogLevelGate>::default();
        let roots = (self.server_requests.roots(), &gate);
        let telling = notify::start_notifying(&session, &self.context, roots, &levels);
        let logging = self.log.is_on_disk().then(|| {
            let log = Arc::clone(&self.log);
            AbortOnDropTask::start(log.write_continuously())
        });
        let gates = LiveConnectionGates { watched: Arc::clone(&self.watched), roots: gate, levels };
        let live = LiveConnection::new(session, self.epoch, gates, in_use).with_process(link.process_id());
        let live = Arc::new(live);
        let surface = Arc::new(surface);
        self.log.add_event(&format!("connected, {}", protocol.version().as_str()));
        let (status, published) = (ServerStatus::Connected { protocol, server }, Some(Arc::clone(&live)));
        self.publisher.publish_state(State {
            status,
            surface: Arc::clone(&surface),
            connect_time,
            live: published,
        });
        // After publishing: a caller may read the server's surface as soon as it is answered.
        self.waiters.answer_all(&Ok(Arc::clone(&live)));
        self.phase = ActorPhase::Ready(Box::new(ReadyPhase {
            link,
            live,
            released,
            since: Instant::now(),
            attempt,
            surface: Arc::clone(&surface),
            refresh: ListRefresh::Idle,
            idle: IdleTimer::new(),
            _listening: listening,
            _telling: telling,
            _logging: logging,
        }));
        self.cache_surface(&surface);
    }

    /// Handles a failed connection attempt: needs a sign-in, fails, or waits for the next attempt.
    fn handle_connect_failure(&mut self, error: ConnectError, connect_time: Duration) {
        self.log.add_connect_failure(&error);
        if self.context.needs_sign_in(&self.config, &error.failure) {
            return self.enter_needs_auth(connect_time);
        }
        let attempt = if let ActorPhase::Connecting { attempt, .. } = &self.phase { *attempt } else { 0 };
        let error = Arc::new(error);
        match attempt {
            0 => self.enter_failed(Arc::clone(&error), connect_time),
            _ => self.back_off(attempt + 1, Arc::clone(&error), connect_time, false),
        }
        self.waiters.answer_all(&Err(Unavailable::Failed(Arc::clone(&error))));
    }

    /// Handles a lost connection that a caller noticed before its event arrived here. Without this, a server
    /// that crashes at every call would be restarted at every call, without backoff and without end.
    fn check_connection_end(&mut self) {
        let ActorPhase::Ready(ready) = &self.phase else { return };
        if let Some(failure) = ready.live.session.peer().failure() {
            self.handle_connection_loss(&failure);
        }
    }

    /// Handles the loss of the connection: backs off before the next attempt.
    fn handle_connection_loss(&mut self, failure: &Failure) {
        warn!(server = self.context.server_name(), reason = failure.kind(), "connection lost");
        self.log.add_trouble(&failure.to_string());
        self.log.close();
        let attempt = self.next_attempt();
        let served = matches!(&self.phase, ActorPhase::Ready(ready) if ready.live.has_answered());
        let error = ConnectError::new(failure.clone(), self.log.stderr());
        self.back_off(attempt, Arc::new(error), Duration::ZERO, served);
    }

    /// Backs off before `attempt`, or gives up after too many attempts.
    fn back_off(&mut self, attempt: u32, error: Arc<ConnectError>, connect_time: Duration, served: bool) {
        // A daemon leaves the decision about restarts to the clients of the server.
        let is_hosted = self.context.dialer.hosted.is_some();
        let pause = backoff::pause_before(attempt, jitter::number()).filter(|_| !is_hosted);
        let Some(pause) = pause else {
            return self.enter_failed(error, connect_time);
        };
        let (server, pause_ms) = (self.context.server_name(), pause.as_millis());
        info!(server, attempt, pause_ms, reason = error.failure.kind(), "backing off");
        let because = Some(Arc::from(error.to_string()));
        let until = Instant::now() + pause;
        self.phase = ActorPhase::Waiting { attempt, until, error, served };
        let status = ServerStatus::Pending { attempt, because, downloader: None, retry_at: Some(until) };
        self.publisher.publish_state(State { status, live: None, ..self.publisher.current_state() });
    }

    /// The number of the next attempt. It starts at 1 again after a connection that lived long enough.
    fn next_attempt(&self) -> u32 {
        match &self.phase {
            ActorPhase::Ready(ready) if ready.since.elapsed() < HEALTHY_AFTER => ready.attempt + 1,
            _ => 1,
        }
    }

    /// Gives up and publishes the failure; the server's surface is removed.
    fn enter_failed(&mut self, error: Arc<ConnectError>, connect_time: Duration) {
        self.phase = ActorPhase::Failed { error: Arc::clone(&error), since: Instant::now() };
        self.publish_status(ServerStatus::Failed(error), connect_time);
    }

    /// Waits for a sign-in, and answers the waiting callers with that.
    fn enter_needs_auth(&mut self, connect_time: Duration) {
        let mut sign_ins = self.sign_ins.take();
        if let Some(sign_ins) = &mut sign_ins {
            sign_ins.note_refusal();
        }
        self.phase = ActorPhase::NeedsAuth { until: Instant::now() + NEEDS_AUTH_TIME, sign_ins };
        self.publish_status(ServerStatus::NeedsAuth, connect_time);
        self.waiters.answer_all(&Err(Unavailable::NeedsAuth));
    }

    /// Publishes a status without a connection and with an empty surface.
    fn publish_status(&self, status: ServerStatus, connect_time: Duration) {
        self.publisher.publish_state(State { status, surface: Arc::default(), connect_time, live: None });
    }

    /// Retires the connection: new calls do not get it, and it closes after its last call or after `grace`.
    fn retire_connection(&mut self, grace: Option<Duration>) {
        if !matches!(self.phase, ActorPhase::Ready(_)) {
            return;
        }
        let ActorPhase::Ready(ready) = std::mem::replace(&mut self.phase, ActorPhase::Dormant) else {
            return;
        };
        // The published copy would count as a lease.
        self.publisher.publish_state(State { live: None, ..self.publisher.current_state() });
        let ReadyPhase { link, live, mut released, .. } = *ready;
        drop(live);
        let mut close_now = self.close_now.subscribe();
        self.background.spawn(async move {
            // No value is ever sent on either channel: they only close.
            let unused = async {
                match grace {
                    Some(grace) => drop(tokio::time::timeout(grace, released.recv()).await),
                    None => drop(released.recv().await),
                }
            };
            tokio::select! {
                () = unused => {}
                _ = close_now.changed() => {}
            }
            link.stop().await;
        });
    }

    fn cancel_task(&mut self, id: String) {
        let ActorPhase::Ready(ready) = &self.phase else { return };
        let session = ready.live.session.clone();
        self.background.spawn(async move { notify::cancel_task(&session, &id).await });
    }

    fn set_enabled(&mut self, on: bool) {
        match (on, &self.phase) {
            (true, ActorPhase::Off) => {
                self.phase = ActorPhase::Dormant;
                self.start_attempt(0, None);
            }
            (false, ActorPhase::Off) | (_, ActorPhase::Stopping(_)) | (true, _) => {}
            (false, _) => {
                self.retire_connection(Some(CALLS_GRACE));
                self.phase = ActorPhase::Off;
                self.publish_status(ServerStatus::Disabled, Duration::ZERO);
                self.waiters.answer_all(&Err(Unavailable::Disabled));
            }
        }
    }

    /// Caches the surface for later processes, in the background.
    fn cache_surface(&mut self, surface: &Arc<Surface>) {
        let ActorPhase::Ready(ready) = &self.phase else { return };
        let (context, config) = (self.context.clone(), Arc::clone(&self.config));
        let (session, surface) = (ready.live.session.clone(), Arc::clone(surface));
        let log = Arc::clone(&self.log);
        self.background.spawn(async move {
            log.add_changed_tools(&context.cache_surface(&config, &session, &surface).await);
        });
    }

    /// Starts the shutdown; a second call without grace closes retired connections at once.
    fn begin_shutdown(&mut self, grace: Duration) {
        self.waiters.answer_all(&Err(Unavailable::Stopped));
        if grace.is_zero() {
            self.close_now = watch::Sender::new(());
        }
        if matches!(self.phase, ActorPhase::Stopping(_)) {
            return;
        }
        self.log.close();
        self.retire_connection(Some(grace));
        let mut afterwards = std::mem::take(&mut self.background);
        self.publish_status(ServerStatus::Stopped, Duration::ZERO);
        self.phase = ActorPhase::Stopping(AbortOnDropTask::start(async move {
            while afterwards.join_next().await.is_some() {}
        }));
    }
}
