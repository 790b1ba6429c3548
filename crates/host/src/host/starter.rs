//! Starts connections: what all of them are started with, and which are reached at once.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::expand::Env;
use mcparley_model::limits::TOOL_TIME;
use mcparley_model::name::ServerName;
use tokio::sync::{broadcast, watch};

use super::Start;
use crate::connect::{Surroundings, number};
use crate::connection::{Beginning, Connection, Event, Publisher, Status};
use crate::own_server::{self, OwnServer};
use crate::start_gate::StartGate;

/// How many events wait for a slow listener before the oldest are lost.
const EVENTS: usize = 256;

/// What every connection of a host is started with.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) surroundings: Surroundings,
    gate: StartGate,
    tool_limit: Duration,
    /// Counts the changes of all servers.
    pub(super) changes: Arc<watch::Sender<u64>>,
    pub(super) events: broadcast::Sender<Event>,
    start: Start,
    /// Whether servers that failed lately are left alone until somebody needs them.
    skips_failures: bool,
}

/// What is done about a server when its host starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstStep {
    /// Nothing: it is reached when it is needed.
    Sleep,
    /// It is reached at once.
    Connect,
    /// Nothing, because it failed lately; that is told.
    ReportFailure,
    /// It is reached, but told as failed, and waited for by nobody, until it answers.
    RetryFailure,
}

/// What is remembered of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Whether it is known what it offers.
    pub(super) is_fresh: bool,
    /// Whether it failed lately.
    pub(super) has_failed: bool,
}

/// The place a connection is started for.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Turns true, or ends, when the server that had the place before is gone.
    pub(super) predecessor: Option<watch::Receiver<bool>>,
    /// Whether somebody has switched the server off.
    pub(super) is_off: bool,
}

impl Starter {
    pub(super) fn new(surroundings: Surroundings, start: Start, skips_failures: bool) -> Self {
        let limit = number(&surroundings.env, "MCP_TOOL_TIMEOUT");
        Self {
            gate: StartGate::from_env(&surroundings.env),
            tool_limit: limit.map_or(TOOL_TIME, Duration::from_millis),
            changes: Arc::new(watch::channel(0).0),
            events: broadcast::channel(EVENTS).0,
            surroundings,
            start,
            skips_failures,
        }
    }

    /// The same under other variables. How many servers are reached at once stays as it was.
    pub(super) fn under(&self, env: &Env) -> Self {
        let limit = number(env, "MCP_TOOL_TIMEOUT");
        Self {
            surroundings: self.surroundings.under(env),
            gate: self.gate.clone(),
            tool_limit: limit.map_or(TOOL_TIME, Duration::from_millis),
            changes: Arc::clone(&self.changes),
            events: self.events.clone(),
            start: self.start.clone(),
            skips_failures: self.skips_failures,
        }
    }

    /// The same for the servers of an agent: they start and tell for themselves, but no more are reached at once
    /// than before.
    pub(super) fn for_agent(&self, start: Start, own_server: Option<Arc<OwnServer>>) -> Self {
        let surroundings = match own_server {
            Some(own) => self.surroundings.clone().with_one_inside(own_server::NAME, own),
            None => self.surroundings.clone(),
        };
        let surroundings = surroundings.heard_apart();
        Self {
            surroundings,
            gate: self.gate.clone(),
            tool_limit: self.tool_limit,
            changes: Arc::new(watch::channel(0).0),
            events: broadcast::channel(EVENTS).0,
            start,
            skips_failures: self.skips_failures,
        }
    }

    /// Whether the host was told to start others and not this server.
    pub(super) fn leaves_out(&self, server: &ServerName) -> bool {
        match &self.start {
            Start::Among(names) | Start::Only(names) => !names.contains(server),
            Start::AsNeeded | Start::All | Start::OnDemand => false,
        }
    }

    /// Starts a connection; what is remembered of its server is known from the beginning.
    pub(super) fn connection(&self, name: ServerName, config: ServerConfig, place: Place) -> Arc<Connection> {
        let Place { predecessor, is_off } = place;
        let known = if is_off { None } else { self.surroundings.known(&config) };
        let failure = if is_off { None } else { self.surroundings.known_failure(&config) };
        let memory = Memory {
            is_fresh: known.as_ref().is_some_and(|known| known.is_fresh),
            has_failed: failure.is_some(),
        };
        let step = self.start.first_step(&name, &config, memory, self.skips_failures);
        let first = match (is_off, step, failure) {
            (true, ..) => Status::Disabled,
            (false, FirstStep::ReportFailure | FirstStep::RetryFailure, Some(error)) => {
                Status::Failed(Arc::new(error))
            }
            (false, FirstStep::Connect | FirstStep::RetryFailure, _) => {
                Status::Pending { attempt: 0, because: None, downloader: None }
            }
            (false, FirstStep::Sleep | FirstStep::ReportFailure, _) => Status::Dormant,
        };
        let at_once = !is_off && matches!(step, FirstStep::Connect | FirstStep::RetryFailure);
        let known = Arc::new(known.map(|known| known.surface).unwrap_or_default());
        let (changes, events) = (Arc::clone(&self.changes), self.events.clone());
        let beginning = Beginning {
            surroundings: self.surroundings.clone(),
            gate: self.gate.clone(),
            publisher: Publisher::new(name.clone(), first, known, changes, events),
            tool_limit: self.tool_limit,
            predecessor,
            on: !is_off,
        };
        let connection = Connection::start(name, config, beginning);
        if at_once {
            connection.wake();
        }
        Arc::new(connection)
    }
}

impl Start {
    /// What is done about the server of this entry. Who asks for all servers, or for these, wants them tried.
    pub(super) fn first_step(
        &self,
        name: &ServerName,
        config: &ServerConfig,
        memory: Memory,
        skips_failures: bool,
    ) -> FirstStep {
        let is_wanted = self.wants(name, config, memory.is_fresh);
        let is_list = matches!(self, Self::AsNeeded | Self::Among(_));
        match (is_wanted, memory.has_failed) {
            (_, true) if skips_failures => FirstStep::ReportFailure,
            (true, true) if is_list => FirstStep::RetryFailure,
            (true, _) => FirstStep::Connect,
            (false, _) => FirstStep::Sleep,
        }
    }

    /// Whether the server of this entry is reached at once.
    fn wants(&self, name: &ServerName, config: &ServerConfig, is_known: bool) -> bool {
        let is_wanted = !is_known || config.required || config.always_load;
        match self {
            Self::All => true,
            Self::AsNeeded => is_wanted,
            Self::Among(names) => is_wanted && names.contains(name),
            Self::OnDemand => false,
            Self::Only(names) => names.contains(name),
        }
    }
}
