//! Publishes the catalog: assembles the next one from the states of the servers, and returns snapshots
//! without a lock.
//!
//! Reading a snapshot has no effect. Publishing one fixes its order: tools that were shown keep their names
//! and positions in every later catalog.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwapOption;
use mcparley_catalog::{Assembler, Catalog, CatalogDenials, ServerTools, SignIn};
use mcparley_model::tool::Tool;
use mcparley_pool::connection::ServerStatus;

use super::lock_ignoring_poison;
use super::roster::Roster;
use super::tool_trust::LazyToolTrust;

/// A catalog snapshot, with the roster it was assembled from.
#[derive(Debug)]
pub(crate) struct CatalogSnapshot {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) roster: Arc<Roster>,
    /// The change count that the snapshot reflects.
    as_of: u64,
}

/// The newest catalog snapshot, and the assembler of the next one.
#[derive(Debug)]
pub(super) struct CatalogPublisher {
    newest: ArcSwapOption<CatalogSnapshot>,
    assembly: Mutex<CatalogAssembly>,
}

/// The assembler, and the catalog whose order it must keep.
#[derive(Debug)]
struct CatalogAssembly {
    assembler: Assembler,
    /// The catalog that was published last, until the next one is assembled.
    published: Option<Arc<Catalog>>,
}

impl CatalogPublisher {
    pub(super) fn new(assembler: Assembler) -> Self {
        Self {
            newest: ArcSwapOption::empty(),
            assembly: Mutex::new(CatalogAssembly { assembler, published: None }),
        }
    }

    /// Reads the snapshot after `now` changes; assembles it from `roster` if it does not exist yet.
    pub(super) fn read_snapshot<T>(
        &self,
        now: u64,
        roster: impl FnOnce() -> Arc<Roster>,
        read: impl FnOnce(&Arc<CatalogSnapshot>) -> T,
    ) -> T {
        match &*self.newest.load() {
            Some(newest) if newest.as_of == now => read(newest),
            Some(_) | None => read(&self.assemble_snapshot(now, roster())),
        }
    }

    /// Fixes the order of a catalog for all later ones.
    pub(super) fn fix_order(&self, catalog: &Arc<Catalog>) {
        lock_ignoring_poison(&self.assembly).published = Some(Arc::clone(catalog));
    }

    fn assemble_snapshot(&self, now: u64, roster: Arc<Roster>) -> Arc<CatalogSnapshot> {
        let mut assembly = lock_ignoring_poison(&self.assembly);
        let last = self.newest.load_full();
        // Another reader may have assembled it first.
        if let Some(last) = last.as_ref().filter(|last| last.as_of == now) {
            return Arc::clone(last);
        }
        let is_new_roster = last.is_none_or(|last| !Arc::ptr_eq(&last.roster, &roster));
        let catalog = Arc::new(assembly.assemble_catalog(&roster, is_new_roster));
        let newest = Arc::new(CatalogSnapshot { catalog, roster, as_of: now });
        self.newest.store(Some(Arc::clone(&newest)));
        newest
    }
}

impl CatalogAssembly {
    fn assemble_catalog(&mut self, roster: &Roster, is_new_roster: bool) -> Catalog {
        if let Some(published) = self.published.take() {
            self.assembler.mark_shown(&published);
        }
        if is_new_roster {
            let servers = roster.connections().map(|connection| connection.name.clone());
            self.assembler.set_denials(CatalogDenials::new(&roster.loaded.settings, servers));
        }
        let states: Vec<_> =
            roster.connections().map(|connection| (connection, connection.state())).collect();
        let trust = &roster.starter().context.caches.trust;
        let judges: Vec<LazyToolTrust<'_>> =
            states.iter().map(|(connection, _)| LazyToolTrust::new(trust, &connection.config)).collect();
        let judges: Vec<_> = judges.iter().map(|judge| |tool: &Tool| judge.tool_trust(tool)).collect();
        let servers: Vec<ServerTools<'_>> = states
            .iter()
            .zip(&judges)
            .map(|((connection, state), judge)| ServerTools {
                has_resources: state.surface.has_resources(),
                sign_in: match (&state.status, connection.account()) {
                    (_, None) => SignIn::Never,
                    (ServerStatus::NeedsAuth, Some(_)) => SignIn::Wanted,
                    (_, Some(_)) => SignIn::Possible,
                },
                trust: Some(judge),
                offered: &roster.loaded.settings.offered_tools,
                ..ServerTools::new(&connection.name, &connection.config, &state.surface.tools)
            })
            .collect();
        self.assembler.assemble(&servers)
    }
}
