//! The parts of a host that stay the same for its lifetime, and the step from a plan to a [`Roster`].

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::name::ServerName;
use mcparley_model::permission::{KnownServers, PermissionMode, RuleSet};
use tokio::sync::{broadcast, watch};

use super::built_in::BuiltInFactory;
use super::roster::Roster;
use super::starter::{ConnectionSlot, ConnectionStarter};
use crate::audit::AuditLog;
use crate::hooks::HookRunner;
use crate::host::{CallStatistics, ServerChanges, Sources};
use crate::page_opener::PageOpener;
use crate::permission::{
    Approver, Classifier, CommandClassifier, HistoryClassifier, PendingCall, PermissionDeciders,
    PermissionGate,
};
use crate::search_vectors::SearchVectors;
use mcparley_config::LoadedConfig;
use mcparley_config::change::bind_typed_rules;
use mcparley_pool::connection::{Connection, StatusEvent};
use mcparley_pool::host_id::HostId;
use mcparley_pool::pool_key::PoolKey;
use mcparley_results::ResultLimiter;

/// The parts that do not change while a host lives.
pub(crate) struct HostParts {
    pub(crate) approver: Arc<dyn Approver>,
    /// The hook runner; an agent shares its host's.
    pub(crate) hooks: Arc<HookRunner>,
    /// The classifier for mode `auto`, if the program set one.
    pub(crate) classifier: Option<Arc<dyn Classifier>>,
    /// The audit log, if one is kept; an agent shares its host's.
    pub(crate) audit: Option<Arc<AuditLog>>,
    /// The page opener, if one is installed.
    pub(crate) page_opener: Option<Arc<dyn PageOpener>>,
    /// The names of the in-process servers.
    pub(crate) in_process_servers: Vec<String>,
    /// Creates the built-in server, if there is one.
    pub(crate) built_in: Option<BuiltInFactory>,
    /// The limiter that stores results too long for a model; `None` where results are returned whole.
    pub(crate) results: Option<Arc<ResultLimiter>>,
    /// The servers whose tools have no prefix.
    pub(crate) unprefixed: Vec<ServerName>,
    /// The sources for a reload of the configuration.
    pub(crate) sources: Option<Sources>,
    /// Counts the changes of all servers.
    pub(crate) changes: Arc<watch::Sender<u64>>,
    pub(crate) events: broadcast::Sender<StatusEvent>,
    /// The calls that are denied for lack of permission; an agent shares its host's.
    pub(crate) denied: broadcast::Sender<PendingCall>,
    /// The statistics of calls; an agent shares its host's.
    pub(crate) calls: Arc<CallStatistics>,
    /// The word vectors of the tool search, if there are any; an agent shares its host's.
    pub(crate) vectors: Option<Arc<SearchVectors>>,
}

/// The next roster, and the connections of the last one that must end.
pub(super) struct NextRoster {
    pub(super) roster: Roster,
    pub(super) change: ServerChanges,
    /// Connections that are no longer used. A successor waits for the signal that its predecessor has ended.
    pub(super) leaving: Vec<DetachedConnection>,
}

impl NextRoster {
    /// Sorts out the connections that lost a name. One that still has another name stays, and only this name
    /// is removed.
    pub(super) fn new(roster: Roster, change: ServerChanges, nameless: Vec<DetachedConnection>) -> Self {
        let is_left =
            |connection: &Connection| roster.connections().any(|other| other.is_same_connection(connection));
        let (staying, leaving): (Vec<_>, Vec<_>) =
            nameless.into_iter().partition(|(connection, _)| is_left(connection));
        staying.iter().for_each(|(connection, _)| connection.remove_name(roster.starter().host));
        Self { roster, change, leaving }
    }
}

/// A connection that lost a name, and the signal for the successor that has the name now.
pub(super) type DetachedConnection = (Arc<Connection>, Option<watch::Sender<bool>>);

impl HostParts {
    /// The roster that a host starts with.
    pub(crate) fn initial_roster(&self, loaded: LoadedConfig, starter: Arc<ConnectionStarter>) -> Roster {
        let configured = self.runnable_servers(&loaded).into_iter();
        let connections: Vec<Arc<Connection>> = configured
            .map(|(name, config)| {
                let key = starter.pool_key(&config);
                starter.start_connection(name, config, key, ConnectionSlot::default())
            })
            .collect();
        let gate = self.build_gate(&loaded, &connections, &starter);
        Roster::new(Arc::new(loaded), gate, starter, connections)
    }

    /// The roster that follows `old`: a connection with the same signature stays.
    pub(super) fn next_roster(
        &self,
        old: &Roster,
        loaded: Arc<LoadedConfig>,
        off: &HashSet<ServerName>,
    ) -> NextRoster {
        let starter = old.starter_for(&loaded.env);
        let (mut change, mut successors) = (ServerChanges::default(), Vec::new());
        let mut connections: Vec<Arc<Connection>> = Vec::new();
        for (name, config) in self.runnable_servers(&loaded) {
            let (before, is_off) = (old.connection(&name), off.contains(&name));
            let key = starter.pool_key(&config);
            let reused =
                before.and_then(|before| reuse_connection(before, &config, (key, starter.host), is_off));
            let (connection, origin) = match reused {
                Some(reused) => (reused, None),
                None => {
                    let (gone, predecessor) = before.map(|_| watch::channel(false)).unzip();
                    let place = ConnectionSlot { predecessor, is_off };
                    (starter.start_connection(name.clone(), config, key, place), gone)
                }
            };
            match before {
                Some(before) if before.is_same_connection(&connection) => {}
                Some(before) => {
                    change.changed.push(name);
                    successors.push((Arc::clone(before), origin));
                }
                None => change.added.push(name),
            }
            connections.push(connection);
        }
        let gate = self.build_gate(&loaded, &connections, &starter);
        let roster = Roster::new(loaded, gate, starter, connections);
        for gone in old.connections().filter(|connection| roster.connection(&connection.name).is_none()) {
            change.removed.push(gone.name.clone());
            successors.push((Arc::clone(gone), None));
        }
        NextRoster::new(roster, change, successors)
    }

    /// Every server that may run, in plan order, then the in-process servers.
    fn runnable_servers(&self, loaded: &LoadedConfig) -> Vec<(ServerName, ServerConfig)> {
        let planned = loaded.plan.ready_servers();
        let mut servers: Vec<(ServerName, ServerConfig)> =
            planned.filter_map(|server| Some((server.name.clone(), server.config.clone()?))).collect();
        let mut names: HashSet<ServerName> = servers.iter().map(|(name, _)| name.clone()).collect();
        for name in &self.in_process_servers {
            let server = ServerName::new(name);
            if names.insert(server.clone()) {
                let entry = ServerConfig::new(TransportConfig::Sdk { name: name.clone() });
                servers.push((server, entry));
            }
        }
        servers
    }

    pub(super) fn build_gate(
        &self,
        loaded: &LoadedConfig,
        connections: &[Arc<Connection>],
        starter: &ConnectionStarter,
    ) -> PermissionGate {
        bind_typed_rules(&starter.context.caches.trust, loaded);
        PermissionGate::new(
            RuleSet::new(loaded.settings.rules.iter().cloned()),
            loaded.settings.mode.as_ref().map_or(PermissionMode::Default, |mode| mode.value),
            KnownServers::new(connections.iter().map(|connection| connection.name.clone())),
            Arc::clone(&starter.context.caches.trust),
            PermissionDeciders {
                approver: Arc::clone(&self.approver),
                classifier: self.active_classifier(loaded, starter),
            },
        )
    }
}

impl HostParts {
    /// The classifier for mode `auto`: the program's own, else the command in the settings, else the
    /// default.
    fn active_classifier(&self, loaded: &LoadedConfig, starter: &ConnectionStarter) -> Arc<dyn Classifier> {
        let paths = &starter.context.dialer.paths;
        match (&self.classifier, &loaded.settings.classifier) {
            (Some(own), _) => Arc::clone(own),
            (None, Some(command)) => Arc::new(CommandClassifier::new(&command.value, &loaded.env, paths)),
            (None, None) => Arc::new(HistoryClassifier),
        }
    }
}

/// Reuses the connection that a name had before, if it has the same key under this entry.
pub(super) fn reuse_connection(
    before: &Arc<Connection>,
    config: &ServerConfig,
    (key, host): (PoolKey, HostId),
    is_off: bool,
) -> Option<Arc<Connection>> {
    // Disabling one name must not take the connection away from the others.
    if before.key != key || is_off && before.is_shared(host) {
        return None;
    }
    let is_same = *before.config == *config;
    Some(if is_same { Arc::clone(before) } else { Arc::new(before.with_config(config.clone())) })
}

impl std::fmt::Debug for HostParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostParts").field("inside", &self.in_process_servers).finish_non_exhaustive()
    }
}
