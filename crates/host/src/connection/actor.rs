//! The life of one server: one loop that waits for wishes and for what happens, and obeys without waiting.

#[cfg(test)]
mod invariants;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_auth::SignIns;
use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{HEALTHY_AFTER, NEEDS_AUTH_TIME, RECONNECT_PATIENCE, RETRY_PAUSE};
use mcparley_wire::Failure;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::idle::Idle;
use super::notifications::{Changes, Notifications};
use super::phase::{Event, Missed, Opened, Phase, Ready};
use super::refresh::Refresh;
use super::state::{Publisher, State, Status, Unavailable};
use super::watched::Watched;
use super::{Beginning, CALLS_GRACE, Epoch, Live, Wish, backoff, listen, tell};
use crate::chance;
use crate::connect::{Arrival, ConnectError, StartedProcess, Surroundings, Trace};
use crate::elicit::ServerRequests;
use crate::log::Log;
use crate::start_gate::{StartGate, StartPlace};
use crate::surface::Surface;
use crate::task::{JoinSet, Owned, select};

/// Who waits for a connection.
type Waiter = oneshot::Sender<Result<Arc<Live>, Unavailable>>;

/// The owner of everything about one server that changes.
pub(super) struct Actor {
    config: Arc<ServerConfig>,
    surroundings: Surroundings,
    gate: StartGate,
    publisher: Publisher,
    log: Arc<Log>,
    server_requests: Arc<ServerRequests>,
    changes: Arc<Changes>,
    watched: Arc<Watched>,
    phase: Phase,
    epoch: Epoch,
    waiters: Vec<Waiter>,
    /// The sign-ins since it was last tried to reach the server.
    sign_ins: Option<SignIns>,
    /// Nothing is started before it is gone.
    predecessor: Option<watch::Receiver<bool>>,
    /// What goes on after its cause: connections that were replaced and end when their last call has ended, and
    /// what is written down.
    afterwards: JoinSet<()>,
    /// Dropped when replaced connections are to end at once.
    patience: watch::Sender<()>,
    /// Who wants to know that all is over.
    enders: Vec<oneshot::Sender<()>>,
}

impl Actor {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        log: Arc<Log>,
        (server_requests, watched): (Arc<ServerRequests>, Arc<Watched>),
        beginning: Beginning,
    ) -> Self {
        let Beginning { surroundings, gate, publisher, tool_limit: _, predecessor, on } = beginning;
        Self {
            config,
            surroundings,
            gate,
            publisher,
            log,
            server_requests,
            changes: Arc::default(),
            watched,
            phase: if on { Phase::Dormant } else { Phase::Off },
            epoch: Epoch::default(),
            waiters: Vec::new(),
            sign_ins: None,
            predecessor,
            afterwards: JoinSet::new(),
            patience: watch::Sender::new(()),
            enders: Vec::new(),
        }
    }

    /// Lives until it is told to stop or nobody holds its handle.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Wish>) {
        loop {
            let flow = select! {
                wish = inbox.recv() => match wish {
                    Some(wish) => self.obey(wish),
                    None => ControlFlow::Break(()),
                },
                event = self.phase.next(&self.changes, &self.config) => self.take(event),
            };
            #[cfg(test)]
            self.check();
            if flow.is_break() {
                return;
            }
        }
    }

    fn obey(&mut self, wish: Wish) -> ControlFlow<()> {
        match wish {
            Wish::Lease { stale, reply } => self.lease(stale, reply),
            Wish::Wake => {
                if matches!(self.phase, Phase::Dormant) {
                    self.wake();
                }
            }
            Wish::Reconnect => {
                if !matches!(self.phase, Phase::Off | Phase::Stopping(_)) {
                    self.retire(Some(CALLS_GRACE));
                    self.connect(0, None);
                }
            }
            Wish::Adjust(config) => self.config = config,
            Wish::GiveUpTask(id) => self.give_up_task(id),
            Wish::Switch { on } => self.switch(on),
            Wish::NeedsAuth { epoch } => {
                if matches!(&self.phase, Phase::Ready(ready) if ready.live.epoch == epoch) {
                    self.retire(None);
                    self.needs_auth(Duration::ZERO);
                }
            }
            Wish::Stop { grace, done } => {
                self.enders.push(done);
                self.stop(grace);
            }
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, event: Event) -> ControlFlow<()> {
        while self.afterwards.try_join_next().is_some() {}
        match event {
            Event::Opened(opened) => self.opened(*opened),
            Event::Missed(Missed { error, took }) => self.missed(error, took),
            Event::Broken => self.missed(ConnectError::broken(), Duration::ZERO),
            Event::Again => {
                if let Phase::Waiting { attempt, error, .. } = &self.phase {
                    let (attempt, because) = (*attempt, error.to_string());
                    self.connect(attempt, Some(&because));
                }
            }
            Event::Downloading(runner) => self.publish_downloader(runner),
            Event::Lost(failure) => self.lost(&failure),
            Event::Refreshed(surface) => {
                let surface = Arc::unwrap_or_clone(surface);
                let surface = Arc::new(surface.with_failures(|failure| self.log.tellable(failure)));
                if let Phase::Ready(ready) = &mut self.phase {
                    ready.surface = Arc::clone(&surface);
                }
                self.log.event("what it offers has changed");
                self.write_down(&surface);
                self.publisher.publish(State { surface, ..self.publisher.current() });
            }
            Event::SignedIn => {
                self.log.event("somebody has signed in");
                self.connect(0, None);
            }
            Event::Idle => {
                self.log.event("stopped, because nobody has used it for a while");
                self.retire(None);
                self.publisher.publish(State { status: Status::Dormant, ..self.publisher.current() });
            }
            Event::Ended => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn lease(&mut self, stale: Epoch, reply: Waiter) {
        self.notice_end();
        match &self.phase {
            Phase::Ready(ready) if ready.live.epoch > stale => {
                ready.live.touch();
                answer(reply, Ok(Arc::clone(&ready.live)));
            }
            // A session that expired: calls that still run on it are left to end by themselves.
            Phase::Ready(_) => {
                self.waiters.push(reply);
                self.retire(None);
                self.connect(0, Some("the session expired"));
            }
            Phase::Connecting { .. } => self.waiters.push(reply),
            // The first pause is only there to spread servers that died together, and one that has answered calls is
            // no server that dies of being started.
            Phase::Waiting { attempt, error, served, .. } if *attempt == 1 || *served => {
                let (attempt, because) = (*attempt, error.to_string());
                self.waiters.push(reply);
                self.connect(attempt, Some(&because));
            }
            Phase::Waiting { until, error, .. } => {
                let again = until.saturating_duration_since(Instant::now());
                if again <= RECONNECT_PATIENCE {
                    return self.waiters.push(reply);
                }
                answer(reply, Err(Unavailable::Waiting { error: Arc::clone(error), again }));
            }
            // A burst of calls must not become a burst of processes.
            Phase::Failed { error, since } if since.elapsed() < RETRY_PAUSE => {
                answer(reply, Err(Unavailable::Failed(Arc::clone(error))));
            }
            Phase::Dormant | Phase::Failed { .. } => {
                self.waiters.push(reply);
                self.connect(0, None);
            }
            Phase::NeedsAuth { until, sign_ins }
                if Instant::now() < *until && !sign_ins.as_ref().is_some_and(SignIns::has_one) =>
            {
                answer(reply, Err(Unavailable::NeedsAuth));
            }
            Phase::NeedsAuth { .. } => {
                self.waiters.push(reply);
                self.connect(0, None);
            }
            Phase::Off => answer(reply, Err(Unavailable::Disabled)),
            Phase::Stopping(_) => answer(reply, Err(Unavailable::Stopped)),
        }
    }

    /// Starts reaching the server because the host starts. One that failed lately stays published as failed until it
    /// answers, so that nobody waits for it.
    fn wake(&mut self) {
        match self.publisher.current().status {
            Status::Failed(_) => self.start_work(0),
            _ => self.connect(0, None),
        }
    }

    /// Starts reaching the server.
    fn connect(&mut self, attempt: u32, because: Option<&str>) {
        self.start_work(attempt);
        let status = Status::Pending { attempt, because: because.map(Arc::from), downloader: None };
        self.publisher.publish(State { status, live: None, ..self.publisher.current() });
    }

    /// Tells that a package runner downloads the server, or does not any more.
    fn publish_downloader(&self, downloader: Option<Arc<str>>) {
        let state = self.publisher.current();
        if let Status::Pending { attempt, because, downloader: _ } = state.status {
            let status = Status::Pending { attempt, because, downloader };
            self.publisher.publish(State { status, ..state });
        }
    }

    fn start_work(&mut self, attempt: u32) {
        self.sign_ins = self.surroundings.account(&self.config).map(|account| account.sign_ins());
        let (server_requests, changes) = (Arc::clone(&self.server_requests), Arc::clone(&self.changes));
        let notifications = Notifications::new(server_requests, changes, Arc::clone(&self.log))
            .telling(Arc::clone(&self.watched));
        let notifications = Arc::new(notifications.taking(self.surroundings.message_limit()));
        let (config, surroundings) = (Arc::clone(&self.config), self.surroundings.clone());
        let (gate, log, predecessor) = (self.gate.clone(), Arc::clone(&self.log), self.predecessor.clone());
        let process = StartedProcess::default();
        let downloader = process.downloader();
        let work = async move {
            if let Some(mut gone) = predecessor {
                // An end without a word is an end too.
                let _gone = gone.wait_for(|gone| *gone).await;
            }
            let mut place = gate.enter(config.kind()).await;
            open(&surroundings, &config, (notifications, process), &log, &mut place).await
        };
        self.phase = Phase::Connecting { attempt, work: Owned::start(work), downloader };
    }

    fn opened(&mut self, opened: Opened) {
        let attempt = if let Phase::Connecting { attempt, .. } = &self.phase { *attempt } else { 0 };
        let Opened { link, session, surface, gate, took } = opened;
        self.epoch = self.epoch.next();
        let (in_use, released) = mpsc::channel(1);
        let (spoken, about) = (session.spoken(), Arc::new(session.about().clone()));
        let listening = listen::start(&session, &self.changes, &self.watched);
        let telling = tell::start(&session, &self.surroundings, (self.server_requests.roots(), &gate));
        let kept = (Arc::clone(&self.watched), gate);
        let live = Arc::new(Live::new(session, self.epoch, kept, in_use));
        let surface = Arc::new(surface);
        self.log.event(&format!("connected, {}", spoken.version().as_str()));
        let (status, published) = (Status::Connected { spoken, about }, Some(Arc::clone(&live)));
        self.publisher.publish(State { status, surface: Arc::clone(&surface), took, live: published });
        // Whoever is answered may look at once at what the server offers.
        for waiter in self.waiters.drain(..) {
            answer(waiter, Ok(Arc::clone(&live)));
        }
        self.phase = Phase::Ready(Box::new(Ready {
            link,
            live,
            released,
            since: Instant::now(),
            attempt,
            surface: Arc::clone(&surface),
            refresh: Refresh::Idle,
            idle: Idle::new(),
            _listening: listening,
            _telling: telling,
        }));
        self.write_down(&surface);
    }

    fn missed(&mut self, error: ConnectError, took: Duration) {
        self.log.missed(&error);
        if self.surroundings.wants_sign_in(&self.config, &error.failure) {
            return self.needs_auth(took);
        }
        let attempt = if let Phase::Connecting { attempt, .. } = &self.phase { *attempt } else { 0 };
        let error = Arc::new(error);
        match attempt {
            0 => self.fail(Arc::clone(&error), took),
            _ => self.wait(attempt + 1, Arc::clone(&error), took, false),
        }
        for waiter in self.waiters.drain(..) {
            answer(waiter, Err(Unavailable::Failed(Arc::clone(&error))));
        }
    }

    /// Callers may see that a connection has ended before its end comes here as an event. What follows is the same:
    /// else a server that ends at every call would be started again at every call, without pause and without end.
    fn notice_end(&mut self) {
        let Phase::Ready(ready) = &self.phase else { return };
        if let Some(failure) = ready.live.session.peer().failure() {
            self.lost(&failure);
        }
    }

    fn lost(&mut self, failure: &Failure) {
        self.log.trouble(&failure.to_string());
        self.log.close();
        let attempt = self.next_attempt();
        let served = matches!(&self.phase, Phase::Ready(ready) if ready.live.has_served());
        let error = ConnectError::new(failure.clone(), self.log.stderr());
        self.wait(attempt, Arc::new(error), Duration::ZERO, served);
    }

    /// Lets some time pass before `attempt`, or gives up.
    fn wait(&mut self, attempt: u32, error: Arc<ConnectError>, took: Duration, served: bool) {
        let Some(pause) = backoff::pause(attempt, chance::number()) else { return self.fail(error, took) };
        let because = Some(Arc::from(error.to_string()));
        self.phase = Phase::Waiting { attempt, until: Instant::now() + pause, error, served };
        let status = Status::Pending { attempt, because, downloader: None };
        self.publisher.publish(State { status, live: None, ..self.publisher.current() });
    }

    /// The number of the next attempt; a connection that lived long enough has made good for earlier ones.
    fn next_attempt(&self) -> u32 {
        match &self.phase {
            Phase::Ready(ready) if ready.since.elapsed() < HEALTHY_AFTER => ready.attempt + 1,
            _ => 1,
        }
    }

    /// Gives up; what was learnt from the server goes with it (L4).
    fn fail(&mut self, error: Arc<ConnectError>, took: Duration) {
        self.phase = Phase::Failed { error: Arc::clone(&error), since: Instant::now() };
        self.settle(Status::Failed(error), took);
    }

    fn needs_auth(&mut self, took: Duration) {
        let mut sign_ins = self.sign_ins.take();
        if let Some(sign_ins) = &mut sign_ins {
            sign_ins.refused();
        }
        self.phase = Phase::NeedsAuth { until: Instant::now() + NEEDS_AUTH_TIME, sign_ins };
        self.settle(Status::NeedsAuth, took);
        for waiter in self.waiters.drain(..) {
            answer(waiter, Err(Unavailable::NeedsAuth));
        }
    }

    fn settle(&self, status: Status, took: Duration) {
        self.publisher.publish(State { status, surface: Arc::default(), took, live: None });
    }

    /// Takes the connection out of use; it ends when its last call has, or after `grace`.
    fn retire(&mut self, grace: Option<Duration>) {
        if !matches!(self.phase, Phase::Ready(_)) {
            return;
        }
        let Phase::Ready(ready) = std::mem::replace(&mut self.phase, Phase::Dormant) else { return };
        // The published copy would keep it in use.
        self.publisher.publish(State { live: None, ..self.publisher.current() });
        let Ready { link, live, mut released, .. } = *ready;
        drop(live);
        let mut patience = self.patience.subscribe();
        self.afterwards.spawn(async move {
            // Nothing is ever sent on either: they only end.
            let unused = async {
                match grace {
                    Some(grace) => drop(tokio::time::timeout(grace, released.recv()).await),
                    None => drop(released.recv().await),
                }
            };
            tokio::select! {
                () = unused => {}
                _ = patience.changed() => {}
            }
            link.stop().await;
        });
    }

    fn give_up_task(&mut self, id: String) {
        let Phase::Ready(ready) = &self.phase else { return };
        let session = ready.live.session.clone();
        self.afterwards.spawn(async move { tell::give_up_task(&session, &id).await });
    }

    fn switch(&mut self, on: bool) {
        match (on, &self.phase) {
            (true, Phase::Off) => {
                self.phase = Phase::Dormant;
                self.connect(0, None);
            }
            (false, Phase::Off) | (_, Phase::Stopping(_)) | (true, _) => {}
            (false, _) => {
                self.retire(Some(CALLS_GRACE));
                self.phase = Phase::Off;
                self.settle(Status::Disabled, Duration::ZERO);
                for waiter in self.waiters.drain(..) {
                    answer(waiter, Err(Unavailable::Disabled));
                }
            }
        }
    }

    /// Writes down what the server offers, for the processes that follow (L12).
    fn write_down(&mut self, surface: &Arc<Surface>) {
        let Phase::Ready(ready) = &self.phase else { return };
        let (surroundings, config) = (self.surroundings.clone(), Arc::clone(&self.config));
        let (session, surface) = (ready.live.session.clone(), Arc::clone(surface));
        let log = Arc::clone(&self.log);
        self.afterwards.spawn(async move {
            log.changed(&surroundings.learnt(&config, &session, &surface).await);
        });
    }

    fn stop(&mut self, grace: Duration) {
        for waiter in self.waiters.drain(..) {
            answer(waiter, Err(Unavailable::Stopped));
        }
        if grace.is_zero() {
            self.patience = watch::Sender::new(());
        }
        if matches!(self.phase, Phase::Stopping(_)) {
            return;
        }
        self.log.close();
        self.retire(Some(grace));
        let mut afterwards = std::mem::take(&mut self.afterwards);
        self.settle(Status::Stopped, Duration::ZERO);
        self.phase =
            Phase::Stopping(Owned::start(async move { while afterwards.join_next().await.is_some() {} }));
    }
}

/// Reaches a server and asks what it offers.
async fn open(
    surroundings: &Surroundings,
    config: &ServerConfig,
    (notifications, process): (Arc<Notifications>, StartedProcess),
    log: &Log,
    place: &mut StartPlace,
) -> Result<Opened, Missed> {
    let (begun, gate) = (Instant::now(), Arc::clone(notifications.roots_gate()));
    let mut trace = Trace::of_process(process.clone());
    let reached = place
        .while_reaching(&process, Box::pin(surroundings.reach(config, notifications, log, &mut trace)))
        .await;
    let took = begun.elapsed();
    match reached {
        Ok(Arrival { connected, surface }) => Ok(Opened::new(connected, surface, gate, took)),
        Err(error) => Err(Missed { error, took }),
    }
}

/// Answers who may have given up waiting.
fn answer(waiter: Waiter, with: Result<Arc<Live>, Unavailable>) {
    let _gone = waiter.send(with);
}
