//! The running servers of the daemon, each with the clients that may share it.
//!
//! A client gets the copy of its server with the same [`SharedKey`], or a new one. A copy with a server that turns out
//! to read roots or to ask questions is filed under a narrower key: its other clients leave it when they have
//! no open request, and get copies of their own.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::model::signature::Signature;
use mcparley::pool::attach::protocol::AttachRequest;
use mcparley::pool::client_offer::ClientOffer;
use mcparley::pool::pool::Pool;
use mcparley::pool::share::copies::explain_copies;
use mcparley::pool::share::traits::{ServerTrait, ServerTraits, TraitStore};
use mcparley::pool::share::{ShareDecision, SharedKey};
use mcparley::pool::start_gate::StartGate;
use mcparley_model::limits::SHARE_PROBATION;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::daemon_log::DaemonLog;
use crate::server_copy::{CopySetup, CopyUse, ServerCopy};
use crate::share_facts::ShareFacts;
use crate::status::CopyStatus;

/// The running servers.
#[derive(Debug)]
pub(crate) struct CopyTable {
    state: Mutex<TableState>,
    traits: TraitStore,
    gate: StartGate,
    /// An empty folder of the daemon's own.
    folder: PathBuf,
    log: DaemonLog,
    next_copy: AtomicU64,
    next_client: AtomicU64,
    /// Changes when the daemon ends.
    stop: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct TableState {
    copies: HashMap<SharedKey, Arc<ServerCopy>>,
    /// Servers that have run long enough to show whether they read roots.
    proven: HashSet<Signature>,
    tasks: JoinSet<()>,
}

/// A copy for one client.
pub(crate) struct GrantedCopy {
    pub(crate) copy: Arc<ServerCopy>,
    pub(crate) usage: CopyUse,
    /// The number of the client.
    pub(crate) client: u64,
    /// Whether the copy was started for this client.
    pub(crate) is_new: bool,
}

impl CopyTable {
    /// A table without servers. `folder` is empty and belongs to the daemon.
    pub(crate) fn new((traits, gate): (TraitStore, StartGate), folder: PathBuf, log: DaemonLog) -> Self {
        Self {
            state: Mutex::default(),
            traits,
            gate,
            folder,
            log,
            next_copy: AtomicU64::new(1),
            next_client: AtomicU64::new(1),
            stop: watch::Sender::new(false),
        }
    }

    /// The copy for a client: a running one that it may share, or a new one.
    pub(crate) async fn copy_for(
        self: &Arc<Self>,
        request: AttachRequest,
        facts: &Arc<ShareFacts>,
    ) -> GrantedCopy {
        loop {
            let decision = facts.decide_share(&self.traits_of(facts));
            match self.find_or_start(&request, facts, decision) {
                Ok(granted) => return granted,
                // Another client with other roots: the server may still show that it reads them.
                Err(copy) => copy.wait_until_proven(SHARE_PROBATION).await,
            }
            self.lock_state().proven.insert(facts.signature);
        }
    }

    /// The traits of the server that a client wants.
    pub(crate) fn traits_of(&self, facts: &ShareFacts) -> ServerTraits {
        self.traits.traits_of(&facts.signature)
    }

    /// Finds or starts a copy; an unproven copy of a client with other roots is returned as an error.
    fn find_or_start(
        self: &Arc<Self>,
        request: &AttachRequest,
        facts: &Arc<ShareFacts>,
        decision: ShareDecision,
    ) -> Result<GrantedCopy, Arc<ServerCopy>> {
        let mut state = self.lock_state();
        let client = self.next_client.fetch_add(1, Ordering::Relaxed);
        let known = state.copies.get(&decision.key).filter(|copy| copy.takes_clients());
        if let Some(copy) = known {
            let is_replaced = request.replaces == Some(copy.number);
            let is_other = decision.key.roots.is_none() && copy.creator.roots_hash != facts.roots_hash;
            if is_other && !is_replaced && !state.proven.contains(&facts.signature) {
                return Err(Arc::clone(copy));
            }
            if !is_replaced {
                let usage = copy.add_client(client, request.pid, &request.project);
                return Ok(GrantedCopy { copy: Arc::clone(copy), usage, client, is_new: false });
            }
            copy.retire();
        }
        let copy = self.new_copy(request.clone(), facts, &decision);
        let usage = copy.add_client(client, request.pid, &request.project);
        state.copies.insert(decision.key, Arc::clone(&copy));
        while state.tasks.try_join_next().is_some() {}
        let table = Arc::clone(self);
        state.tasks.spawn({
            let copy = Arc::clone(&copy);
            async move { table.run_copy(copy).await }
        });
        Ok(GrantedCopy { copy, usage, client, is_new: true })
    }

    fn new_copy(
        &self,
        request: AttachRequest,
        facts: &Arc<ShareFacts>,
        decision: &ShareDecision,
    ) -> Arc<ServerCopy> {
        let mut launch = request.launch.clone().into_launch();
        decision.folder.adapt_launch(&mut launch, &self.folder);
        let number = self.next_copy.fetch_add(1, Ordering::Relaxed);
        ServerCopy::new(CopySetup {
            number,
            request,
            launch,
            creator: Arc::clone(facts),
            // A server that ignores the capabilities of its client may be used by all of them.
            offer: if decision.key.offer.is_some() { facts.offer } else { ClientOffer::ALL },
            ends_with_session: is_of_ending_session(&decision.key, facts),
            reasons: decision.reasons.iter().map(ToString::to_string).collect(),
            pool: Pool::new(self.gate.clone()),
            folder: &self.folder,
        })
    }

    /// Runs a copy until its end, and removes it.
    async fn run_copy(&self, copy: Arc<ServerCopy>) {
        let mut stopping = self.stop.subscribe();
        let stop = async {
            // The sender lives as long as the table.
            let _stopping = stopping.wait_for(|is_stopping| *is_stopping).await;
        };
        let observing = async {
            loop {
                copy.hosted.requests.wait_for_change().await;
                self.record_traits(&copy);
            }
        };
        let comparing = async {
            copy.wait_until_ready().await;
            self.compare_lists(&copy);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = copy.run_until_stopped(stop) => {}
            () = observing => {}
            () = comparing => {}
        }
        self.lock_state().copies.retain(|_, known| !Arc::ptr_eq(known, &copy));
        if let Some(event) = copy.failed_start() {
            self.log.record_event(event).await;
        }
        copy.shut_down().await;
    }

    /// Records the observed traits of a server, and files its copy under the key that follows from it.
    fn record_traits(&self, copy: &Arc<ServerCopy>) {
        let requests = &copy.hosted.requests;
        let signature = &copy.creator.signature;
        if requests.has_read_roots() {
            self.traits.record(signature, ServerTrait::ReadsRoots);
        }
        if requests.has_asked() {
            self.traits.record(signature, ServerTrait::Asks);
        }
        self.file_again(copy);
        copy.note_new_key();
    }

    /// Files a copy under the key that follows from the traits of its server. A copy without a free place
    /// serves its clients to their end.
    fn file_again(&self, copy: &Arc<ServerCopy>) {
        let key = self.key_of(copy);
        copy.set_ends_with_session(is_of_ending_session(&key, &copy.creator));
        let mut state = self.lock_state();
        if !state.copies.contains_key(&key) {
            state.copies.retain(|_, known| !Arc::ptr_eq(known, copy));
            state.copies.insert(key, Arc::clone(copy));
        }
    }

    /// The key that follows from the traits of the server that a copy runs.
    fn key_of(&self, copy: &ServerCopy) -> SharedKey {
        copy.creator.decide_share(&self.traits_of(&copy.creator)).key
    }

    /// Whether a client may stay with its copy: it still has the same key, and the copy is not retired.
    pub(crate) fn may_keep(&self, copy: &ServerCopy, facts: &ShareFacts) -> bool {
        let traits = self.traits_of(facts);
        !copy.is_retired() && facts.decide_share(&traits).key == self.key_of(copy)
    }

    /// Learns from two copies for clients with different capabilities whether the server depends on these. Copies in
    /// different folders do not count: there, the folder may make the difference.
    fn compare_lists(&self, copy: &Arc<ServerCopy>) {
        let signature = &copy.creator.signature;
        let place = self.key_of(copy).place;
        let others: Vec<Arc<ServerCopy>> = self
            .lock_state()
            .copies
            .iter()
            .filter(|(key, other)| {
                key.signature == *signature && key.place == place && other.creator.offer != copy.creator.offer
            })
            .map(|(_, other)| Arc::clone(other))
            .collect();
        let Some(lists) = copy.lists_digest() else { return };
        for other in others {
            let observed = match other.lists_digest() {
                Some(other) if other == lists => ServerTrait::IgnoresOffer,
                Some(_) => ServerTrait::VariesByOffer,
                None => continue,
            };
            let is_new = self.traits.record(signature, observed);
            // A server that ignores capabilities is shared by all clients if it is offered all of them.
            if is_new && observed == ServerTrait::IgnoresOffer {
                let is_wide = |copy: &&Arc<ServerCopy>| copy.creator.offer == ClientOffer::ALL;
                [copy, &other].into_iter().filter(is_wide).for_each(|copy| self.file_again(copy));
            }
        }
    }

    /// Retires these copies; returns their number.
    pub(crate) fn retire_copies(&self, is_meant: impl Fn(&ServerCopy) -> bool) -> usize {
        let state = self.lock_state();
        let meant = state.copies.values().filter(|copy| is_meant(copy));
        meant.map(|copy| copy.retire()).count()
    }

    /// The state of all copies, oldest first. Several copies of one server carry the reason.
    pub(crate) fn to_status(&self) -> Vec<CopyStatus> {
        let state = self.lock_state();
        let mut keys: HashMap<Signature, Vec<SharedKey>> = HashMap::new();
        for key in state.copies.keys() {
            keys.entry(key.signature).or_default().push(key.clone());
        }
        let mut all: Vec<CopyStatus> = state
            .copies
            .iter()
            .map(|(key, copy)| CopyStatus {
                explanation: keys.get(&key.signature).and_then(explain_copies),
                ..copy.to_status()
            })
            .collect();
        all.sort_by_key(|status| status.copy);
        all
    }

    /// Ends every copy and waits until all processes are gone.
    pub(crate) async fn shut_down(&self) {
        self.stop.send_replace(true);
        let mut tasks = std::mem::take(&mut self.lock_state().tasks);
        while tasks.join_next().await.is_some() {}
    }

    fn lock_state(&self) -> MutexGuard<'_, TableState> {
        // Every change is a single step, so a panic leaves the table consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a copy with this key, started for this client, is of no use once the client has left.
fn is_of_ending_session(key: &SharedKey, creator: &ShareFacts) -> bool {
    key.session.is_some() && !creator.has_lasting_session()
}
