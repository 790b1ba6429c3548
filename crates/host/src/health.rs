//! Looks whether the servers of a plan can be reached: connects, asks what they offer, lets go.
//!
//! One server's failure or slowness is its own: each has its own limit, a few are looked at at the same time,
//! and every result is told the moment it is there (L2, L3).

mod way;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_model::config::ServerConfig;
use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;
use mcparley_model::plan::{Planned, ServerStanding};
use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, Spoken};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::connect::{Arrival, ConnectError, Downloader, Passed, Stage, Surroundings, Trace};
use crate::connection::Notifications;
use crate::elicit::ServerRequests;
use crate::log::{Journal, Log};
use crate::paths::Paths;
use crate::start_gate::{StartGate, StartPlace};
use crate::surface::Surface;

/// How servers are looked at.
#[derive(Clone, Debug)]
pub struct Checkup {
    /// What they are reached with.
    pub surroundings: Surroundings,
    pub(crate) gate: StartGate,
    /// How closely each is looked at.
    pub care: Care,
}

/// How closely a server is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Only whether it answers.
    Quick,
    /// Also the parts of the way to it, each on its own.
    Thorough,
}

/// How many events may wait to be heard; a server that has one more waits with it.
const EVENTS: usize = 16;

/// Something that happens while servers are looked at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CheckEvent {
    /// A package runner downloads a server now, or none does any more.
    Downloading {
        /// The server.
        server: ServerName,
        /// The runner, such as `npx`.
        runner: Option<Arc<str>>,
    },
    /// A server was looked at.
    Settled(Box<Checked>),
}

/// One server that was looked at.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The server.
    pub name: ServerName,
    /// What was found.
    pub health: Health,
    /// How long it took.
    pub took: Duration,
    /// What was tried, part by part, letting go included.
    pub passed: Vec<Passed>,
    /// What it wrote to its standard output that was no message.
    pub stray: Option<Stray>,
    /// Whether it wants a sign-in, or one with more rights.
    pub wants_sign_in: bool,
    /// Whether it says how to sign in. One that wants a sign-in and does not say how may want a token that its operator
    /// gives out, in a header.
    pub describes_sign_in: bool,
}

impl Checked {
    /// Whether it answers and offers what it has: one that answers no list is of no use.
    #[must_use]
    pub fn works(&self) -> bool {
        match &self.health {
            Health::Connected { surface, .. } => surface.total_failure().is_none(),
            Health::Failed { .. } => false,
        }
    }
}

/// Lines on a server's standard output that are no messages (B10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stray {
    /// How many.
    pub lines: u64,
    /// The beginning of the first one.
    pub first: Untrusted,
}

/// What was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Health {
    /// It answers.
    Connected {
        /// The protocol that was agreed on.
        spoken: Spoken,
        /// What it offers.
        surface: Box<Surface>,
    },
    /// It does not.
    Failed {
        /// Why.
        failure: Failure,
        /// The end of what it wrote to its standard error.
        stderr: Untrusted,
    },
}

impl Checkup {
    /// The usual limits, as far as variables do not change them.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        Self::of(Surroundings::new(env, paths))
    }

    /// The same with surroundings that were made before.
    #[must_use]
    pub fn of(surroundings: Surroundings) -> Self {
        let gate = StartGate::from_env(&surroundings.env);
        Self { surroundings, gate, care: Care::Quick }
    }

    /// Looks at every server that may run; `settled` hears of each as soon as it is known.
    pub async fn check(&self, servers: &[&Planned], mut settled: impl FnMut(Checked)) {
        let hear = |event| match event {
            CheckEvent::Settled(checked) => settled(*checked),
            CheckEvent::Downloading { .. } => {}
        };
        self.check_with_events(servers, hear).await;
    }

    /// Looks at every server that may run; `hear` is also told while package runners download servers.
    pub async fn check_with_events(&self, servers: &[&Planned], mut hear: impl FnMut(CheckEvent)) {
        let mut looking = JoinSet::new();
        let (tell, mut events) = mpsc::channel(EVENTS);
        for server in servers.iter().filter(|server| server.standing == ServerStanding::Ready) {
            looking.spawn(self.clone().look((*server).clone(), tell.clone()));
        }
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => hear(event),
                looked = looking.join_next() => match looked {
                    Some(Ok(Some(checked))) => hear(CheckEvent::Settled(Box::new(checked))),
                    // A look that panicked has nothing to tell; the others go on.
                    Some(Ok(None) | Err(_)) => {}
                    None => return,
                }
            }
        }
    }

    async fn look(mut self, server: Planned, tell: mpsc::Sender<CheckEvent>) -> Option<Checked> {
        let config = server.config?;
        self.surroundings = self.surroundings.of_server(&server.name);
        let place = self.gate.enter(config.kind()).await;
        let log = Arc::new(Log::new(&config, Journal::of(&self.surroundings.paths, &server.name)));
        let mut trace = Trace::default();
        let downloader = trace.process().downloader();
        let (health, took) = tokio::select! {
            biased;
            visited = self.visit(&config, &log, place, &mut trace) => visited,
            never = tell_downloads(&server.name, downloader, &tell) => match never {},
        };
        trace.end();
        let stray = trace.strays().filter(|strays| strays.now().noise > 0).map(|strays| Stray {
            lines: strays.now().noise,
            first: log.tellable_text(strays.first().unwrap_or_default().raw()),
        });
        let wants_sign_in = match &health {
            Health::Failed { failure, .. } => self.surroundings.wants_sign_in(&config, failure),
            Health::Connected { .. } => false,
        };
        let describes_sign_in = wants_sign_in && self.describes_sign_in(&config).await;
        let (name, passed) = (server.name, trace.passed());
        Some(Checked { name, health, took, passed, stray, wants_sign_in, describes_sign_in })
    }

    async fn describes_sign_in(&self, config: &ServerConfig) -> bool {
        match self.surroundings.account(config) {
            Some(account) => account.describes_sign_in().await,
            // A connector's sign-in is its organization's.
            None => true,
        }
    }

    async fn visit(
        &self,
        config: &ServerConfig,
        log: &Arc<Log>,
        mut place: StartPlace,
        trace: &mut Trace,
    ) -> (Health, Duration) {
        // A look asks nobody anything, so it needs no name.
        let server_requests =
            ServerRequests::new(ServerName::new(""), &self.surroundings, config, Arc::clone(log));
        let notifications = Notifications::for_a_moment(server_requests, Arc::clone(log))
            .taking(self.surroundings.message_limit());
        let notifications = Arc::new(notifications);
        let start = Instant::now();
        if self.care == Care::Thorough {
            way::walk(&self.surroundings, config, trace).await;
        }
        let process = trace.process();
        let reaching = self.surroundings.reach(config, notifications, log, trace);
        let reached = place.while_reaching(&process, reaching).await;
        let took = start.elapsed();
        // Settled: the next may start while this one ends.
        drop(place);
        let Arrival { connected, surface } = match reached {
            Ok(arrival) => arrival,
            Err(error) => return (failed(log, error), took),
        };
        let spoken = connected.session.spoken();
        log.changed(&self.surroundings.learnt(config, &connected.session, &surface).await);
        log.close();
        trace.begin(Stage::Close);
        connected.link.stop().await;
        (Health::Connected { spoken, surface: Box::new(surface) }, took)
    }
}

/// Tells whenever a package runner begins or ends to download the server.
async fn tell_downloads(
    server: &ServerName,
    mut downloader: Downloader,
    tell: &mpsc::Sender<CheckEvent>,
) -> Infallible {
    loop {
        let runner = downloader.next().await;
        // Whoever has stopped listening wants nothing told.
        let _unheard = tell.send(CheckEvent::Downloading { server: server.clone(), runner }).await;
    }
}

fn failed(log: &Log, error: ConnectError) -> Health {
    log.missed(&error);
    let ConnectError { failure, stderr, ago: _ } = error;
    Health::Failed { failure, stderr }
}
