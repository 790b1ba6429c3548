//! What a host is from its beginning to its end, whatever its servers are; and how a plan becomes a [`Roster`].

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::name::ServerName;
use mcparley_model::permission::{KnownServers, Mode, RuleSet};
use mcparley_model::signature::Signature;
use tokio::sync::{broadcast, watch};

use super::roster::Roster;
use super::starter::{Place, Starter};
use crate::audit::Audit;
use crate::call::{Approver, Asks, ByCommand, ByHistory, Classifier, Gate, PendingCall};
use crate::change::bind_typed_rules;
use crate::connection::{Connection, Event};
use crate::hooks::HookRunner;
use crate::reload::{Change, Sources};
use crate::results::Results;
use crate::sign_in::PageOpener;
use crate::sources::Loaded;

/// What does not change while a host lives.
pub(super) struct HostParts {
    pub(super) approver: Arc<dyn Approver>,
    /// What runs beside calls; an agent shares its host's.
    pub(super) hooks: Arc<HookRunner>,
    /// Who decides in mode `auto`, if the program has somebody for that.
    pub(super) classifier: Option<Arc<dyn Classifier>>,
    /// The record of calls, if one is kept; an agent shares its host's.
    pub(super) audit: Option<Arc<Audit>>,
    /// Who shows people pages.
    pub(super) page_opener: Option<Arc<dyn PageOpener>>,
    /// The names of the servers inside this program.
    pub(super) inside: Vec<String>,
    /// Whether the built-in server is one of them.
    pub(super) own_server: bool,
    /// Whether a model is shown its tools.
    pub(super) offers_own_server: bool,
    /// Where results are stored that are too long for a model; none where all are handed over whole.
    pub(super) results: Option<Arc<Results>>,
    /// The servers whose tools have no prefix.
    pub(super) bare: Vec<ServerName>,
    /// Where the configuration can be read again.
    pub(super) sources: Option<Sources>,
    /// Counts the changes of all servers.
    pub(super) changes: Arc<watch::Sender<u64>>,
    pub(super) events: broadcast::Sender<Event>,
    /// The calls that are denied for want of permission; an agent shares its host's.
    pub(super) denied: broadcast::Sender<PendingCall>,
}

/// The next roster, and what is to be done about the last one.
pub(super) struct Next {
    pub(super) roster: Roster,
    pub(super) change: Change,
    /// Connections that nobody uses from now on; where one has a successor, it waits for the signal.
    pub(super) leaving: Vec<Nameless>,
}

impl Next {
    /// With the connections that have lost a name, and who waits for their end. One that still goes by another name
    /// stays, and only this name is gone.
    pub(super) fn new(roster: Roster, change: Change, nameless: Vec<Nameless>) -> Self {
        let is_left = |connection: &Connection| roster.connections().any(|other| other.is(connection));
        let (staying, leaving): (Vec<_>, Vec<_>) =
            nameless.into_iter().partition(|(connection, _)| is_left(connection));
        staying.iter().for_each(|(connection, _)| connection.drop_name());
        Self { roster, change, leaving }
    }
}

/// A connection that has lost a name, and the one that has it now and waits for the signal.
pub(super) type Nameless = (Arc<Connection>, Option<watch::Sender<bool>>);

impl HostParts {
    /// The roster a host begins with.
    pub(super) fn first(&self, loaded: Loaded, starter: Arc<Starter>) -> Roster {
        let mut connections: Vec<Arc<Connection>> = Vec::new();
        for (name, config) in self.configured(&loaded) {
            let signature = Signature::of(&config);
            let connection = match connections.iter().find(|known| known.signature == signature) {
                Some(same) => Arc::new(same.also(name, config)),
                None => starter.connection(name, config, Place::default()),
            };
            connections.push(connection);
        }
        let gate = self.gate(&loaded, &connections, &starter);
        Roster::new(Arc::new(loaded), gate, starter, connections)
    }

    /// The roster that follows `old`: what has the same signature goes on as it is (C11).
    pub(super) fn next(&self, old: &Roster, loaded: Arc<Loaded>, off: &HashSet<ServerName>) -> Next {
        let starter = old.starter_for(&loaded.env);
        let (mut change, mut successors) = (Change::default(), Vec::new());
        let mut connections: Vec<Arc<Connection>> = Vec::new();
        for (name, config) in self.configured(&loaded) {
            let (before, is_off) = (old.connection(&name), off.contains(&name));
            let reused = reused(old, &connections, &name, &config, off);
            let (connection, origin) = match reused {
                Some(reused) => (reused, None),
                None => {
                    let (gone, predecessor) = before.map(|_| watch::channel(false)).unzip();
                    let place = Place { predecessor, is_off };
                    (starter.connection(name.clone(), config, place), gone)
                }
            };
            match before {
                Some(before) if before.is(&connection) => {}
                Some(before) => {
                    change.changed.push(name);
                    successors.push((Arc::clone(before), origin));
                }
                None => change.added.push(name),
            }
            connections.push(connection);
        }
        let gate = self.gate(&loaded, &connections, &starter);
        let roster = Roster::new(loaded, gate, starter, connections);
        for gone in old.connections().filter(|connection| roster.connection(&connection.name).is_none()) {
            change.removed.push(gone.name.clone());
            successors.push((Arc::clone(gone), None));
        }
        Next::new(roster, change, successors)
    }

    /// Every server that may run, in the order of the plan, then those inside this program.
    fn configured(&self, loaded: &Loaded) -> Vec<(ServerName, ServerConfig)> {
        let planned = loaded.plan.ready();
        let mut servers: Vec<(ServerName, ServerConfig)> =
            planned.filter_map(|server| Some((server.name.clone(), server.config.clone()?))).collect();
        let mut names: HashSet<ServerName> = servers.iter().map(|(name, _)| name.clone()).collect();
        for name in &self.inside {
            let server = ServerName::new(name);
            if names.insert(server.clone()) {
                let entry = ServerConfig::new(Transport::Sdk { name: name.clone() });
                servers.push((server, entry));
            }
        }
        servers
    }

    pub(super) fn gate(&self, loaded: &Loaded, connections: &[Arc<Connection>], starter: &Starter) -> Gate {
        bind_typed_rules(starter.surroundings.trust(), loaded);
        Gate::new(
            RuleSet::new(loaded.settings.rules.iter().cloned()),
            loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value),
            KnownServers::new(connections.iter().map(|connection| connection.name.clone())),
            Arc::clone(starter.surroundings.trust()),
            Asks { approver: Arc::clone(&self.approver), classifier: self.classifier(loaded, starter) },
        )
    }
}

impl HostParts {
    /// Who decides in mode `auto`: the program's own, else the command of the settings, else the default.
    fn classifier(&self, loaded: &Loaded, starter: &Starter) -> Arc<dyn Classifier> {
        let paths = &starter.surroundings.paths;
        match (&self.classifier, &loaded.settings.classifier) {
            (Some(own), _) => Arc::clone(own),
            (None, Some(command)) => Arc::new(ByCommand::new(&command.value, &loaded.env, paths)),
            (None, None) => Arc::new(ByHistory),
        }
    }
}

/// The connection there is for this entry already: the one of its name, or one of the same signature.
fn reused(
    old: &Roster,
    new: &[Arc<Connection>],
    name: &ServerName,
    config: &ServerConfig,
    off: &HashSet<ServerName>,
) -> Option<Arc<Connection>> {
    let (signature, is_off) = (Signature::of(config), off.contains(name));
    let is_kept = |before: &&Arc<Connection>| {
        // Switching one name off must not take the connection away from the others.
        before.signature == signature && !(is_off && old.is_shared(before))
    };
    if let Some(before) = old.connection(name).filter(is_kept) {
        let is_same = *before.config == *config;
        return Some(if is_same { Arc::clone(before) } else { Arc::new(before.adjusted(config.clone())) });
    }
    // Nor may the others be switched off with it, or it be switched on with them.
    let is_lendable =
        |known: &&Arc<Connection>| known.signature == signature && !is_off && !off.contains(&known.name);
    let same = new.iter().chain(old.connections()).find(is_lendable)?;
    Some(Arc::new(same.also(name.clone(), config.clone())))
}

impl std::fmt::Debug for HostParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostParts").field("inside", &self.inside).finish_non_exhaustive()
    }
}
