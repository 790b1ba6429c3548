//! The façade: one value that holds every server, the catalogue and the way to call.
//!
//! | what | where |
//! |---|---|
//! | putting it together | `builder` |
//! | what it is from beginning to end, and the servers in force | `parts`, `roster`, `starter` |
//! | waiting for the servers | `ready` |
//! | what is known without any of them | `remembered` |
//! | what has been shown of prompts and instructions | `told` |
//! | what a person decided about a tool | `granted` |
//! | everything as one value, for people and programs | `state` |
//! | agents: hosts that share some servers of another | `agent` |
//! | one call | [`crate::call`] |

mod agent;
mod builder;
mod changes;
mod granted;
mod parts;
mod ready;
mod remembered;
mod roster;
mod starter;
mod state;
mod told;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_model::text::Untrusted;
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use crate::audit::AuditEntry;
use crate::call::PendingCall;
use crate::catalog::{Assembler, Catalog, Denials, Seen, SignIn};
use crate::connect::Surroundings;
use crate::connection::{CALLS_GRACE, Connection, Event, Status, Unavailable};
use crate::hooks::{HookNote, HookRunner};
use crate::log::LogLine;
use crate::organisation::Organisation;
use crate::reload::{Change, Sources};
use crate::results::Results;
use crate::sign_in::{NobodyToShow, PageOpener};
use crate::sources::{Loaded, similar_names};
use crate::task::Owned;
use agent::Shared;
use parts::{HostParts, Next};
use told::Told;

pub use agent::Agent;
pub use builder::{HostBuilder, Start};
pub use ready::{Readiness, Server};
pub use remembered::Remembered;
pub(crate) use roster::Roster;
pub use state::HostState;

/// Every server of a user, and one call from end to end. Cheap to clone; all clones are one host.
///
/// When the last clone is dropped every server ends at once; [`Host::shut_down`] ends them in order.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<HostInner>,
}

#[derive(Debug)]
pub(crate) struct HostInner {
    parts: HostParts,
    /// The host whose servers an agent shares. A host of its own has none.
    shared: Option<Shared>,
    /// The agents that share servers of this one; none any more once it has been told to end.
    agents: Mutex<Option<Vec<Weak<HostInner>>>>,
    roster: RwLock<Arc<Roster>>,
    catalog_cache: Mutex<CatalogCache>,
    told: Mutex<Told>,
    /// The servers somebody has switched off for as long as this host lives. Held while a roster is made, so that
    /// one follows the other.
    off: Mutex<HashSet<ServerName>>,
    /// Connections of earlier rosters on their way out.
    leaving: Mutex<JoinSet<()>>,
    /// What follows the files, and asks for connectors.
    followers: Mutex<Vec<Owned<()>>>,
}

/// The catalogue assembled last, and what it was assembled from.
#[derive(Debug)]
struct CatalogCache {
    assembler: Assembler,
    catalog: Arc<Catalog>,
    /// The roster it was made from.
    roster: Option<Arc<Roster>>,
    /// The count of changes it knows of.
    as_of: Option<u64>,
    /// Whether somebody has seen its order.
    shown: bool,
}

impl HostInner {
    fn new(parts: HostParts, roster: Roster, shared: Option<Shared>) -> Self {
        let catalog_cache = CatalogCache {
            assembler: Assembler::new(parts.bare.iter().cloned()).storing_results(parts.results.is_some()),
            catalog: Arc::new(Catalog::default()),
            roster: None,
            as_of: None,
            shown: false,
        };
        Self {
            told: Mutex::new(Told::new(&parts.bare)),
            parts,
            shared,
            agents: Mutex::new(Some(Vec::new())),
            roster: RwLock::new(Arc::new(roster)),
            catalog_cache: Mutex::new(catalog_cache),
            off: Mutex::default(),
            leaving: Mutex::default(),
            followers: Mutex::default(),
        }
    }
}

impl Host {
    pub(crate) fn from_inner(inner: Arc<HostInner>) -> Self {
        Self { inner }
    }

    /// Every tool there is now. What a catalogue has shown keeps its name and its place in all later ones.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog_cache(|catalog_cache| {
            catalog_cache.shown = true;
            Arc::clone(&catalog_cache.catalog)
        })
    }

    /// Waits until there is another catalogue than the one of this revision. It may hold the same tools.
    pub async fn catalog_after(&self, revision: u64) {
        // Before looking, so that nothing changes in between.
        let mut changes = self.changes();
        while self.current().revision() == revision {
            if changes.changed().await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// The same for looking something up: nobody sees its order.
    pub(crate) fn current(&self) -> Arc<Catalog> {
        self.catalog_cache(|catalog_cache| Arc::clone(&catalog_cache.catalog))
    }

    /// Looks something up in the catalogue and among the servers it was made from, without keeping either.
    pub(crate) fn look_up<T>(&self, look: impl FnOnce(&Catalog, &Roster) -> T) -> T {
        self.catalog_cache(|catalog_cache| match &catalog_cache.roster {
            Some(roster) => look(&catalog_cache.catalog, roster),
            None => look(&catalog_cache.catalog, &self.roster()),
        })
    }

    fn catalog_cache<T>(&self, take: impl FnOnce(&mut CatalogCache) -> T) -> T {
        let mut catalog_cache = locked(&self.inner.catalog_cache);
        let now = self.changes_so_far();
        if catalog_cache.as_of != Some(now) {
            catalog_cache.renew(self.roster());
            catalog_cache.as_of = Some(now);
        }
        take(&mut catalog_cache)
    }

    /// Reaches a server now and waits for it.
    ///
    /// # Errors
    /// Why it cannot be used; for a name nobody has [`Unavailable::Stopped`].
    pub async fn connect(&self, server: &ServerName) -> Result<(), Unavailable> {
        match self.connection(server) {
            Some(connection) => connection.lease().await.map(drop),
            None => Err(Unavailable::Stopped),
        }
    }

    /// Ends a server's connection, letting its calls finish for some seconds, and begins anew.
    pub async fn reconnect(&self, server: &ServerName) {
        if let Some(connection) = self.connection(server) {
            connection.reconnect().await;
        }
    }

    /// Takes a server out of use until [`Host::enable`], or until this host ends. Its calls may finish for some
    /// seconds. False if there is no such server, or if it is lent: whoever lends it switches it.
    pub async fn disable(&self, server: &ServerName) -> bool {
        self.switch(server, false).await
    }

    /// Puts a server into use again. False if there is no such server.
    pub async fn enable(&self, server: &ServerName) -> bool {
        self.switch(server, true).await
    }

    async fn switch(&self, server: &ServerName, on: bool) -> bool {
        if self.roster().is_lent(server) {
            return false;
        }
        {
            let mut off = locked(&self.inner.off);
            if on {
                off.remove(server)
            } else {
                off.insert(server.clone())
            };
        }
        let roster = self.roster();
        let Some(connection) = roster.connection(server) else { return false };
        match (roster.is_shared(connection), self.is_agent()) {
            (false, _) => connection.switch(on).await,
            (true, false) => drop(self.apply(Arc::clone(&roster.loaded))),
            (true, true) => self.follow(),
        }
        true
    }

    /// What was read, and what becomes of every configured server.
    #[must_use]
    pub fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.roster().loaded)
    }

    /// Every change of a server from now on. Who does not listen for long misses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.parts.events.subscribe()
    }

    /// Every call that is denied for want of permission from now on, of this host and of its agents. Who does not listen for
    /// long misses the oldest.
    #[must_use]
    pub fn denied_calls(&self) -> broadcast::Receiver<PendingCall> {
        self.inner.parts.denied.subscribe()
    }

    /// Tells whoever listens that a call was denied for want of permission.
    pub(crate) fn tell_denied(&self, call: PendingCall) {
        // Nobody listening is the usual case.
        let _unheard = self.inner.parts.denied.send(call);
    }

    /// What happened to a server, and the end of what it wrote to its standard error.
    #[must_use]
    pub fn logs(&self, server: &ServerName) -> Option<(Vec<LogLine>, Untrusted)> {
        self.connection(server).map(|connection| (connection.log().lines(), connection.log().stderr()))
    }

    /// What hooks have told the person, and what went wrong with them; the oldest first.
    #[must_use]
    pub fn hook_notes(&self) -> Vec<HookNote> {
        self.hooks().notes()
    }

    /// What the hooks for the start of a session tell a model; waits until they have ended (P5).
    pub async fn session_context(&self) -> Vec<String> {
        self.hooks().context().await
    }

    /// Ends every server in order, all at the same time; those of its agents too.
    pub async fn shut_down(&self) {
        locked(&self.inner.followers).clear();
        let agents = {
            // A plan that is being put into force is finished first; none comes after it.
            let _plan = locked(&self.inner.off);
            self.take_agents()
        };
        let mut stopping = std::mem::take(&mut *locked(&self.inner.leaving));
        for agent in agents {
            stopping.spawn(agent.into_end());
        }
        for connection in self.roster().own() {
            let connection = Arc::clone(connection);
            stopping.spawn(async move { connection.stop(Duration::ZERO).await });
        }
        while stopping.join_next().await.is_some() {}
        if let Some(audit) = &self.inner.parts.audit {
            audit.settle().await;
        }
        // Tokens that are being renewed are not lost by it (A3).
        self.roster().starter().surroundings.accounts().settle().await;
    }

    /// Puts a new plan into force: starts, stops, keeps by signature. There is no other way to change the servers.
    pub(crate) fn apply(&self, loaded: Arc<Loaded>) -> Change {
        let off = locked(&self.inner.off);
        if self.has_ended() {
            return Change::default();
        }
        self.inner.parts.hooks.put(&loaded);
        self.trust().follow(loaded.settings.pins.in_force());
        let next = self.inner.parts.next(&self.roster(), loaded, &off);
        self.put(next, off)
    }

    /// Puts a roster into force. Agents follow before anything is stopped, so that their calls find the successor.
    fn put(&self, next: Next, off: MutexGuard<'_, HashSet<ServerName>>) -> Change {
        let Next { roster, change, leaving } = next;
        *self.inner.roster.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(roster);
        drop(off);
        self.inner.parts.changes.send_modify(|count| *count += 1);
        self.agents_follow();
        let mut gone = locked(&self.inner.leaving);
        while gone.try_join_next().is_some() {}
        for (connection, successor) in leaving {
            gone.spawn(async move {
                connection.stop(CALLS_GRACE).await;
                if let Some(successor) = successor {
                    successor.send_replace(true);
                }
            });
        }
        change
    }

    /// Begins the record of a call, if one is kept.
    pub(crate) fn audit_entry(&self, wanted: impl FnOnce() -> String) -> AuditEntry {
        match &self.inner.parts.audit {
            Some(audit) => AuditEntry::begin(audit, self.loaded().agent.clone(), &wanted()),
            None => AuditEntry::default(),
        }
    }

    pub(crate) fn hooks(&self) -> &Arc<HookRunner> {
        &self.inner.parts.hooks
    }

    pub(crate) fn has_page_opener(&self) -> bool {
        self.inner.parts.page_opener.is_some()
    }

    pub(crate) fn page_opener(&self) -> Arc<dyn PageOpener> {
        self.inner.parts.page_opener.clone().unwrap_or_else(|| Arc::new(NobodyToShow))
    }

    /// Where results are stored that are too long for a model; none where all are handed over whole.
    pub(crate) fn results(&self) -> Option<&Arc<Results>> {
        self.inner.parts.results.as_ref()
    }

    /// Removes what earlier hosts have stored, beside everything else.
    fn tidy_results(&self) {
        if let Some(results) = self.results() {
            locked(&self.inner.followers).push(Owned::start(results.tidy()));
        }
    }

    pub(crate) fn sources(&self) -> Option<&Sources> {
        self.inner.parts.sources.as_ref()
    }

    /// Has work go on for as long as the host lives.
    fn keep_going(&self, work: Option<Owned<()>>) {
        locked(&self.inner.followers).extend(work);
    }

    /// Follows the files for as long as the host lives.
    fn follow_files(&self) {
        let reconnects = self.roster().paths().reconnects.clone();
        let watching = crate::reload::follow(Arc::downgrade(&self.inner), &self.loaded().files, reconnects);
        locked(&self.inner.followers).push(Owned::start(watching));
    }

    /// Asks the organisation for its connectors, beside everything else: nobody waits for them.
    fn follow_connectors(&self, organisation: Organisation, surroundings: Surroundings) {
        let host = Arc::downgrade(&self.inner);
        let asking = crate::reload::ask_for_connectors(host, organisation, surroundings);
        locked(&self.inner.followers).push(Owned::start(asking));
    }

    /// The servers in force now.
    pub(crate) fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.inner.roster.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        self.roster().starter().surroundings.clone()
    }

    pub(crate) fn connection(&self, name: &ServerName) -> Option<Arc<Connection>> {
        self.roster().connection(name).cloned()
    }

    pub(crate) fn servers_like(&self, name: &str) -> Vec<String> {
        similar_names(name, self.roster().connections().map(|connection| connection.name.as_str()))
    }

    pub(crate) fn tools_like(&self, server: &ServerName, tool: &str) -> Vec<String> {
        let known = self.current();
        let own = known.iter().filter(|entry| entry.server() == Some(server) && !known.is_denied(entry));
        similar_names(tool, own.map(|entry| entry.tool.name.as_str()))
    }

    /// Whether a server is on its way. One that keeps dying is not: waiting for it would take half a minute.
    pub(crate) fn is_pending(&self) -> bool {
        let is_near = |status: &Status| matches!(status, Status::Pending { attempt: 0 | 1, .. });
        self.roster().connections().any(|connection| is_near(&connection.state().status))
    }
}

impl CatalogCache {
    fn renew(&mut self, roster: Arc<Roster>) {
        if self.shown {
            self.assembler.shown(&self.catalog);
            self.shown = false;
        }
        if self.roster.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &roster)) {
            let servers = roster.connections().map(|connection| connection.name.clone());
            self.assembler.under(Denials::new(&roster.loaded.settings, servers));
        }
        let states: Vec<_> =
            roster.connections().map(|connection| (connection, connection.state())).collect();
        let trust = roster.starter().surroundings.trust();
        let seen: Vec<Seen<'_>> = states
            .iter()
            .map(|(connection, state)| Seen {
                name: &connection.name,
                config: &connection.config,
                surface: &state.surface,
                sign_in: match (&state.status, connection.account()) {
                    (_, None) => SignIn::Never,
                    (Status::NeedsAuth, Some(_)) => SignIn::Wanted,
                    (_, Some(_)) => SignIn::Possible,
                },
                trust: Some(trust),
            })
            .collect();
        self.catalog = Arc::new(self.assembler.assemble(&seen));
        drop(seen);
        drop(states);
        self.roster = Some(roster);
    }
}

/// What is behind the lock; a panic elsewhere leaves plain data that is as good as before.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
