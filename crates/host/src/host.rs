//! The host: one value that owns every server connection and the catalog, and makes calls.
//!
//! | part | module |
//! |---|---|
//! | the builder | `builder` |
//! | the fixed parts of a host, and the servers in force | `parts`, `roster`, `starter` |
//! | waiting until servers are ready | `ready` |
//! | the catalog, as a snapshot that is read without a lock | `catalog_publisher` |
//! | the order in which prompts and instructions were shown | `shown_order` |
//! | the user's decisions about tools | `tool_decisions` |
//! | the state of the host as one value | `state` |
//! | running calls, and counts of ended ones; the newest of them | `call_statistics`, `finished_call` |
//! | agents: hosts that share servers of another host | `agent` |
//! | one call | `call` |

mod agent;
mod built_in;
mod call_statistics;
mod catalog_publisher;
mod changes;
mod finished_call;
mod parts;
mod ready;
mod roster;
mod shown_order;
mod sources;
mod starter;
mod state;
mod tool_decisions;
mod tool_trust;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_model::text::Untrusted;
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use crate::audit::AuditEntry;
use crate::hooks::{HookNote, HookRunner};
use crate::page_opener::{NoPageOpener, PageOpener};
use crate::permission::PendingCall;
use crate::search_vectors::SearchVectors;
use agent::Shared;
use mcparley_catalog::{Assembler, Catalog};
use mcparley_config::reconnect_requests::SeenRequests;
use mcparley_config::{LoadedConfig, Paths};
use mcparley_model::similar::similar_names;
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::connection::{CALLS_GRACE, Connection, ServerStatus, StatusEvent, Unavailable};
use mcparley_pool::log::LogLine;
use mcparley_pool::principal::ClientIdentity;
use mcparley_pool::task::AbortOnDropTask;
use mcparley_results::ResultLimiter;
use parts::NextRoster;
use shown_order::ShownOrder;

pub use crate::agent_error::AgentError;
pub use crate::audit::RefusedRequest;
pub use crate::reconnect_request::{prepare_reconnect, publish_reconnect, request_reconnect};
pub use agent::Agent;
pub(crate) use built_in::{BuiltInFactory, BuiltInServer};
pub(crate) use call_statistics::CallStatistics;
pub use call_statistics::{CallCount, RunningCall};
use catalog_publisher::CatalogPublisher;
pub(crate) use catalog_publisher::CatalogSnapshot;
pub use changes::ChangeListener;
pub use finished_call::{CallEnding, FinishedCall};
pub(crate) use parts::HostParts;
pub use ready::{HostServer, Readiness};
pub(crate) use roster::Roster;
pub use sources::ServerChanges;
pub(crate) use sources::Sources;
pub(crate) use starter::ConnectionStarter;
pub use state::HostState;

/// The servers of a user, and the calls to their tools. Cheap to clone; all clones are one host.
///
/// When the last clone is dropped, all servers are killed at once; [`Host::shut_down`] ends them gracefully.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<HostInner>,
}

/// State that all clones of a host share.
#[derive(Debug)]
pub(crate) struct HostInner {
    parts: HostParts,
    /// The host whose servers an agent shares. A root host has none.
    shared: Option<Shared>,
    /// The agents that share servers of this host; `None` once it is shutting down.
    agents: Mutex<Option<Vec<Weak<HostInner>>>>,
    roster: RwLock<Arc<Roster>>,
    catalog: CatalogPublisher,
    shown_order: Mutex<ShownOrder>,
    /// The servers that were disabled for the lifetime of this host. Locked while a roster is built, so that
    /// rosters are installed one after the other.
    disabled: Mutex<HashSet<ServerName>>,
    /// Connections of earlier rosters that are shutting down.
    leaving: Mutex<JoinSet<()>>,
    /// Background tasks that live as long as the host, such as the file watcher.
    tasks: Mutex<Vec<AbortOnDropTask<()>>>,
    /// The task that builds the search index of the newest catalog.
    search_preparation: Mutex<Option<AbortOnDropTask<()>>>,
    /// The reconnect requests that were acted on.
    seen_requests: Mutex<SeenRequests>,
}

impl HostInner {
    /// A root host, which shares no servers of another host.
    pub(crate) fn new_root(parts: HostParts, roster: Roster) -> Self {
        Self::new(parts, roster, None)
    }

    fn new(parts: HostParts, roster: Roster, shared: Option<Shared>) -> Self {
        let assembler = Assembler::new(parts.unprefixed.iter().cloned())
            .with_stored_results(parts.results.is_some())
            .with_vectors(parts.vectors.as_ref().map(|vectors| vectors.source()));
        Self {
            shown_order: Mutex::new(ShownOrder::new(&parts.unprefixed)),
            parts,
            shared,
            agents: Mutex::new(Some(Vec::new())),
            roster: RwLock::new(Arc::new(roster)),
            catalog: CatalogPublisher::new(assembler),
            disabled: Mutex::default(),
            leaving: Mutex::default(),
            tasks: Mutex::default(),
            search_preparation: Mutex::default(),
            seen_requests: Mutex::default(),
        }
    }
}

impl Host {
    pub(crate) fn from_inner(inner: Arc<HostInner>) -> Self {
        Self { inner }
    }

    /// Locks the reconnect requests that were acted on.
    pub(crate) fn seen_requests(&self) -> MutexGuard<'_, SeenRequests> {
        lock_ignoring_poison(&self.inner.seen_requests)
    }

    /// Stores the task that builds a search index, in place of one that builds an older index.
    pub(crate) fn replace_search_preparation(&self, task: AbortOnDropTask<()>) {
        *lock_ignoring_poison(&self.inner.search_preparation) = Some(task);
    }

    pub(crate) fn downgrade(&self) -> Weak<HostInner> {
        Arc::downgrade(&self.inner)
    }

    pub(crate) fn search_vectors(&self) -> Option<&SearchVectors> {
        self.inner.parts.vectors.as_deref()
    }

    /// The current catalog snapshot. Reading it has no effect.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.read_catalog(|snapshot| Arc::clone(&snapshot.catalog))
    }

    /// The current catalog, to be shown to a model: its tools keep their names and positions in all later
    /// catalogs.
    #[must_use]
    pub fn publish_catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog();
        self.inner.catalog.fix_order(&catalog);
        catalog
    }

    /// Waits until the catalog has another revision than this one. The new catalog may hold the same tools.
    pub async fn wait_for_new_catalog(&self, revision: u64) {
        // Subscribed before the first look, so that no change is missed in between.
        let mut changes = self.change_listener();
        while self.catalog().revision() == revision {
            if changes.changed().await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Reads the catalog and the roster it was assembled from, without a lock and without cloning either.
    pub(crate) fn read_catalog<T>(&self, read: impl FnOnce(&Arc<CatalogSnapshot>) -> T) -> T {
        self.inner.catalog.read_snapshot(self.change_count(), || self.roster(), read)
    }

    /// Connects to a server now and waits for it.
    ///
    /// # Errors
    /// The reason why it cannot be used; [`Unavailable::Stopped`] for a name that no server has.
    pub async fn connect_server(&self, server: &ServerName) -> Result<(), Unavailable> {
        match self.connection(server) {
            Some(connection) => connection.lease().await.map(drop),
            None => Err(Unavailable::Stopped),
        }
    }

    /// Closes a server's connection, with a grace period for its calls, and connects again.
    pub async fn reconnect_server(&self, server: &ServerName) {
        if let Some(connection) = self.connection(server) {
            connection.reconnect().await;
        }
    }

    /// Disables a server until [`Host::enable_server`], or until this host ends, with a grace period for its
    /// calls. Returns `false` if there is no such server, or if it belongs to another host, which alone can
    /// disable it.
    pub async fn disable_server(&self, server: &ServerName) -> bool {
        self.set_enabled(server, false).await
    }

    /// Enables a server again. Returns `false` if there is no such server.
    pub async fn enable_server(&self, server: &ServerName) -> bool {
        self.set_enabled(server, true).await
    }

    async fn set_enabled(&self, server: &ServerName, on: bool) -> bool {
        if self.roster().is_lent(server) {
            return false;
        }
        {
            let mut off = lock_ignoring_poison(&self.inner.disabled);
            if on {
                off.remove(server)
            } else {
                off.insert(server.clone())
            };
        }
        let roster = self.roster();
        let Some(connection) = roster.connection(server) else { return false };
        match (roster.is_shared(connection), self.is_agent()) {
            (false, _) => connection.set_enabled(on).await,
            (true, false) => drop(self.apply_plan(Arc::clone(&roster.loaded))),
            (true, true) => self.refresh_view(),
        }
        true
    }

    /// The loaded configuration, with the plan status of every configured server.
    #[must_use]
    pub fn loaded_config(&self) -> Arc<LoadedConfig> {
        Arc::clone(&self.roster().loaded)
    }

    /// The files and folders of the user.
    #[must_use]
    pub fn paths(&self) -> Arc<Paths> {
        Arc::clone(self.roster().paths())
    }

    /// Subscribes to changes of servers. A slow listener loses the oldest events.
    #[must_use]
    pub fn server_events(&self) -> broadcast::Receiver<StatusEvent> {
        self.inner.parts.events.subscribe()
    }

    /// Subscribes to calls that are denied for lack of permission, of this host and of its agents. A slow
    /// listener loses the oldest.
    #[must_use]
    pub fn denied_calls(&self) -> broadcast::Receiver<PendingCall> {
        self.inner.parts.denied.subscribe()
    }

    /// Announces a call that was denied for lack of permission.
    pub(crate) fn announce_denied_call(&self, call: PendingCall) {
        // Usually there is no listener.
        let _unheard = self.inner.parts.denied.send(call);
    }

    /// The log of a server, and the end of its standard error.
    #[must_use]
    pub fn server_log(&self, server: &ServerName) -> Option<(Vec<LogLine>, Untrusted)> {
        self.connection(server).map(|connection| (connection.log().lines(), connection.log().stderr()))
    }

    /// Messages of hooks for the user, and failures of hooks; the oldest first.
    #[must_use]
    pub fn hook_notes(&self) -> Vec<HookNote> {
        self.hook_runner().notes()
    }

    /// The context that the session start hooks give a model; waits until they have finished.
    pub async fn session_context(&self) -> Vec<String> {
        self.hook_runner().session_context().await
    }

    /// Shuts all servers down gracefully and concurrently, including those of agents.
    pub async fn shut_down(&self) {
        lock_ignoring_poison(&self.inner.tasks).clear();
        let agents = {
            // A plan that is being applied is finished first; no other follows.
            let _plan = lock_ignoring_poison(&self.inner.disabled);
            self.take_agents()
        };
        let mut stopping = std::mem::take(&mut *lock_ignoring_poison(&self.inner.leaving));
        for agent in agents {
            stopping.spawn(agent.shut_down_boxed());
        }
        let roster = self.roster();
        for connection in roster.own_connections() {
            if roster.release_connection(connection) {
                let connection = Arc::clone(connection);
                stopping.spawn(async move { connection.stop(Duration::ZERO).await });
            }
        }
        while stopping.join_next().await.is_some() {}
        if let Some(audit) = &self.inner.parts.audit {
            audit.flush().await;
        }
        // Waits for token refreshes in progress, so that no rotated token is lost.
        self.roster().starter().context.finish_pending_writes().await;
    }

    /// Applies a new plan: starts, stops, and keeps connections by signature. There is no other way to
    /// change the servers.
    pub(crate) fn apply_plan(&self, loaded: Arc<LoadedConfig>) -> ServerChanges {
        let off = lock_ignoring_poison(&self.inner.disabled);
        if self.has_ended() {
            return ServerChanges::default();
        }
        self.inner.parts.hooks.replace_configured(&loaded);
        self.tool_trust().set_pin(loaded.settings.pins.effective_pin());
        let next = self.inner.parts.next_roster(&self.roster(), loaded, &off);
        self.install_roster(next, off)
    }

    /// Installs a roster. Agents are refreshed before connections are stopped, so that their calls find the
    /// successor.
    fn install_roster(&self, next: NextRoster, off: MutexGuard<'_, HashSet<ServerName>>) -> ServerChanges {
        let NextRoster { roster, change, leaving } = next;
        *self.inner.roster.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(roster);
        drop(off);
        self.inner.parts.changes.send_modify(|count| *count += 1);
        self.refresh_agents();
        let mut gone = lock_ignoring_poison(&self.inner.leaving);
        while gone.try_join_next().is_some() {}
        for (connection, successor) in leaving {
            let is_last = self.roster().release_connection(&connection);
            gone.spawn(async move {
                if is_last {
                    connection.stop(CALLS_GRACE).await;
                }
                if let Some(successor) = successor {
                    successor.send_replace(true);
                }
            });
        }
        change
    }

    /// Records a request that a gateway refused, if the host keeps an audit log.
    pub fn record_refusal(&self, refused: RefusedRequest) {
        if let Some(audit) = &self.inner.parts.audit {
            audit.record_refusal(refused);
        }
    }

    /// Opens the audit entry of a call, if the host keeps an audit log.
    pub(crate) fn audit_entry(
        &self,
        client: Option<&Arc<ClientIdentity>>,
        wanted: impl FnOnce() -> String,
    ) -> AuditEntry {
        match &self.inner.parts.audit {
            Some(audit) => {
                AuditEntry::for_call(audit, (self.loaded_config().agent.clone(), client.cloned()), &wanted())
            }
            None => AuditEntry::default(),
        }
    }

    pub(crate) fn call_statistics(&self) -> &Arc<CallStatistics> {
        &self.inner.parts.calls
    }

    pub(crate) fn hook_runner(&self) -> &Arc<HookRunner> {
        &self.inner.parts.hooks
    }

    pub(crate) fn has_page_opener(&self) -> bool {
        self.inner.parts.page_opener.is_some()
    }

    pub(crate) fn page_opener(&self) -> Arc<dyn PageOpener> {
        self.inner.parts.page_opener.clone().unwrap_or_else(|| Arc::new(NoPageOpener))
    }

    /// The limiter that stores results too long for a model; `None` where results are returned whole.
    pub(crate) fn result_limiter(&self) -> Option<&Arc<ResultLimiter>> {
        self.inner.parts.results.as_ref()
    }

    /// Removes stored results of earlier hosts, in the background.
    pub(crate) fn remove_old_results(&self) {
        if let Some(results) = self.result_limiter() {
            lock_ignoring_poison(&self.inner.tasks)
                .push(AbortOnDropTask::start(results.remove_old_results()));
        }
    }

    pub(crate) fn config_sources(&self) -> Option<&Sources> {
        self.inner.parts.sources.as_ref()
    }

    /// Keeps a background task running for as long as the host lives.
    pub(crate) fn attach_task(&self, work: Option<AbortOnDropTask<()>>) {
        lock_ignoring_poison(&self.inner.tasks).extend(work);
    }

    /// The servers in force now.
    pub(crate) fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.inner.roster.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn connect_context(&self) -> ConnectContext {
        self.roster().starter().context.clone()
    }

    pub(crate) fn connection(&self, name: &ServerName) -> Option<Arc<Connection>> {
        self.roster().connection(name).cloned()
    }

    pub(crate) fn similar_servers(&self, name: &str) -> Vec<String> {
        similar_names(name, self.roster().connections().map(|connection| connection.name.as_str()))
    }

    pub(crate) fn similar_tools(&self, server: &ServerName, tool: &str) -> Vec<String> {
        let known = self.catalog();
        let own = known.iter().filter(|entry| entry.server() == Some(server) && !known.is_denied(entry));
        similar_names(tool, own.map(|entry| entry.tool.name.as_str()))
    }

    /// Whether a server is connecting. One that keeps crashing does not count: waiting for it would take
    /// half a minute.
    pub(crate) fn is_pending(&self) -> bool {
        let is_near = |status: &ServerStatus| matches!(status, ServerStatus::Pending { attempt: 0 | 1, .. });
        self.roster().connections().any(|connection| is_near(&connection.state().status))
    }
}

/// Locks a mutex and ignores poisoning: a panic elsewhere leaves plain data that is still valid.
fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
